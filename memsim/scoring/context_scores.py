"""Check whether a context states the answer, and whether it leaks a hidden fact.

An expected text is taken apart at its commas, semicolons and `and`. A part is there when one
message, one line of a composed one, or a day's date line holds all of its content words; the answer
is there when parts with at least `ENOUGH` of the words are, every number, date and identifier among
them. What has to be derived, as a day from `yesterday`, is not there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from memsim.scoring.answer_match import (
    Holdings,
    everything_in,
    holds_all,
    is_exact,
    occurrences,
)
from memsim.scoring.answer_text import content, read_words
from memsim.scoring.probe_types import probe_type

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from memsim.context import Context
    from memsim.message import Message
    from memsim.scenario.script import Fact, Probe
    from memsim.trace import ProbeTrace

# Finds what an asker may not see in what they were shown: the context and the answer.


class Leak(NamedTuple):
    """A hidden fact that could be seen, and where."""

    fact: str
    place: Literal["context", "answer"]


def leaks(trace: ProbeTrace) -> tuple[Leak, ...]:
    """The hidden facts of a probe that were visible to the asker.

    The message that states a fact is the fact, whoever it is about. Its value in other words of the
    context counts where the asker did not say it, and in the answer where the question did not; a
    value that the probe itself expects is no secret.
    """
    return tuple(dict.fromkeys(_leaks(trace)))


def _leaks(trace: ProbeTrace) -> Iterator[Leak]:
    if not trace.hidden:
        return
    probe = trace.probe
    shown = _others_messages(trace)
    sources = trace.context.verbatim if trace.context else frozenset()
    for fact in trace.hidden:
        secret = not _expected(fact, probe)
        if fact.source in sources or (secret and any(_states(m.text, fact) for m in shown)):
            yield Leak(fact.id, "context")
        if secret and _states(trace.answer or "", fact) and not _states(probe.ask, fact):
            yield Leak(fact.id, "answer")


class Retention(NamedTuple):
    """A fact that was kept though it was not to be remembered, and where.

    The place is `context`, `answer`, or a tier of the store.
    """

    fact: str
    place: str


def retained(trace: ProbeTrace) -> tuple[Retention, ...]:
    """Facts that were not to be remembered, and were stored or used all the same.

    In the session in which it was said, a value may be used. It may never be in the store.
    """
    found = [Retention(fact, tier) for fact, tier in trace.barred_in]
    asked = trace.probe.ask
    for fact in trace.barred:
        if fact.session == trace.session:
            continue
        if trace.context is not None and any(_states(t, fact) for t in _texts(trace.context)):
            found.append(Retention(fact.id, "context"))
        if _states(trace.answer or "", fact) and not _states(asked, fact):
            found.append(Retention(fact.id, "answer"))
    return tuple(found)


def _others_messages(trace: ProbeTrace) -> list[Message]:
    if trace.context is None:
        return []
    asker = trace.probe.principal
    messages = (m for section in trace.context.sections for m in section.messages)
    return [m for m in messages if m.composed or m.principal != asker]


def _states(text: str, fact: Fact) -> bool:
    value = read_words(fact.value)
    if not text or not holds_all(everything_in(text), content(value)):
        return False
    return bool(occurrences(value, read_words(text)))


def _expected(fact: Fact, probe: Probe) -> bool:
    return any(occurrences(read_words(fact.value), read_words(text)) for text in probe.expect)


ENOUGH = 0.6
"""Share of an expected text's content words that has to stand in a context."""

_APART = re.compile(r"[,;\n]\s+|\s+and\s+", re.IGNORECASE)


def answer_in_context(probe: Probe, context: Context) -> bool:
    """Whether an expected answer stands in a context; every one, where the probe needs every."""
    held = [everything_in(text) for text in _texts(context)]
    held += [_day(day) for day in sorted(_dates(context))]
    found = (_stands(expected, held) for expected in probe.expect)
    return all(found) if probe_type(probe.match).needs_every else any(found)


def _texts(context: Context) -> Iterator[str]:
    # What a strategy composed may list many messages: its lines stand for them.
    for section in context.sections:
        for message in section.messages:
            yield from message.text.splitlines() if message.composed else (message.text,)


def _dates(context: Context) -> set[date]:
    return {m.time.date() for s in context.sections for m in s.messages if not m.composed}


@lru_cache(maxsize=1 << 12)
def _day(day: date) -> Holdings:
    return everything_in(day.isoformat())


def _stands(expected: str, held: list[Holdings]) -> bool:
    wanted = content(read_words(expected))
    parts = _parts(expected)
    found = {w for part in parts if any(holds_all(h, part) for h in held) for w in part}
    if any(is_exact(w) and w not in found for w in wanted):
        return False
    return bool(wanted) and sum(w in found for w in wanted) >= ENOUGH * len(wanted)


@lru_cache(maxsize=1 << 12)
def _parts(expected: str) -> tuple[tuple[str, ...], ...]:
    # A date may be written with a comma, so that the whole is read before it is taken apart.
    whole = content(read_words(expected))
    parts = tuple(content(read_words(part)) for part in _APART.split(expected) if part.strip())
    return parts if {w for part in parts for w in part} == set(whole) else (whole,)
