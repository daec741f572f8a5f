"""Speakers: what is quoted is attributed to whoever said it, by role and by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memsim.context import escaped
from memsim.message import Message
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.structure import at
from memsim.testing.worlds import Sight, Trial

TELLING = 16
"""Characters of a line that nobody says twice by chance."""

_HEAD = 80
"""Characters at most before a quoted text, on its line, that say whose it is."""

_ENDS = (":", ">", "]", ")", "|", "-", "\u2013", "\u2014")
"""What a label ends with."""

_WORD = re.compile(r"[^\W_]+")
_ROLES = {
    **dict.fromkeys(("assistant", "ai", "bot", "agent", "model"), "assistant"),
    **dict.fromkeys(("tool", "tools", "function", "result", "results", "output"), "tool"),
    **dict.fromkeys(("user", "human"), "user"),
}

_TITLES = frozenset({"summary", "notes", "noted", "memory", "memories", "about"})
"""Words by which a label is a block's, and says of nobody that they said it."""


class _Quoted(NamedTuple):
    message: Message
    head: str
    text: str


@holds(6, "for all m quoted in H': the label before m names role(m), or principal(m) if a user's")
def speakers_are_kept(trial: Trial) -> int:
    """What is quoted under a name or a role was said by whoever has that name and role.

    A label is what stands before a quoted text on its line, as up to a colon. A user's name alone
    labels what that user said; what an assistant or a tool said names its role. Fails, for example,
    where a reply to Ana is recalled as `ana: I booked the room`.

    To mend it, label what you quote by `role` as well as by `principal`, as
    `memsim.language.text.speaker_label` does.
    """
    people = {name.casefold() for name in trial.case.principals}
    seen = 0
    for sight in trial.transcript.served:
        said = trial.transcript.said[: sight.said]
        for quoted in _quoted(sight, said):
            told = _told(quoted.head, people)
            if not told:
                continue
            seen += 1
            others = [m for m in said if m is not quoted.message and quoted.text in m.text]
            if not any(_right(told, m, people) for m in (quoted.message, *others)):
                message = quoted.message
                raise Violation(
                    f"{at(sight)}: what the {message.role} of {message.principal} says in"
                    f" {message.id} stands under {quoted.head.strip()!r}"
                )
    return seen


def _quoted(sight: Sight, said: Iterable[Message]) -> Iterator[_Quoted]:
    known = {m.id: m for m in said}
    for message in sight.messages:
        if not message.composed:
            continue
        lines = message.text.splitlines()
        sources = dict.fromkeys((*message.quotes, *message.excerpts, *message.derived_from))
        for source in (known[i] for i in sources if i in known):
            text = source.text.strip().partition("\n")[0].strip()
            if len(text) >= TELLING and source.role != "system":
                yield from _labelled(source, text, lines)


def _labelled(source: Message, text: str, lines: Iterable[str]) -> Iterator[_Quoted]:
    shown = dict.fromkeys((text, escaped(text)))
    for line in lines:
        for words in shown:
            head, found, _ = line.partition(words)
            if found and len(head) <= _HEAD and head.rstrip().endswith(_ENDS):
                yield _Quoted(source, head, text)


def _told(head: str, people: Iterable[str]) -> frozenset[str]:
    """The roles and the people that a label names; empty where it names nobody."""
    words = set(_WORD.findall(head.casefold()))
    if not _TITLES.isdisjoint(words):
        return frozenset()
    named = {n for n in people if (parts := _WORD.findall(n)) and words.issuperset(parts)}
    others = words.difference(word for name in named for word in _WORD.findall(name))
    return frozenset(named | {_ROLES[word] for word in others if word in _ROLES})


def _right(told: frozenset[str], message: Message, people: Iterable[str]) -> bool:
    named = told.intersection(people)
    if named and message.principal.casefold() not in named:
        return False
    roles = told.difference(people)
    if message.role == "user":
        return not roles or "user" in roles
    return message.role in roles
