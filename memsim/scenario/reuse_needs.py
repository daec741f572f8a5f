"""Find what a conversation needed of its memory: values that are said again after a while.

A message needs memory where it uses a value that an earlier message said, and that the latest
messages did not say. The sentence that uses it, without the value, is the question; the earlier
messages that share rare words with that sentence are the evidence. No label and no model is used.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memsim.language.anchors import ANCHOR_KINDS, Anchor, AnchorKind, anchors
from memsim.language.corrections import Correction, correction
from memsim.language.text import content, sentences, words
from memsim.message import Message
from memsim.scenario.script import UNKNOWN, Turn
from memsim.scenario.words import ValueSearch

LATEST = 12
"""Messages just before, in which the value was not said."""

LATEST_CORRECTED = 2
"""The same for a correction: it shows by itself that something was forgotten."""

MOST_MESSAGES = 8
"""Messages of a conversation that may say a value: what is said more often is common."""

SHARED = 5.0
"""How rare the words must be that a question shares with its evidence.

The sum over these words of ln(messages / messages with the word).
"""

MOST_NEEDS = 200
"""Needs of one conversation, spread over it."""

MOST_OF_MESSAGE = 3
"""Needs of one message: the most exact values first."""

_MOST_EVIDENCE = 20
_GAP_SIGN = "…"


@dataclass(frozen=True, slots=True)
class Need:
    """A value that a message uses again, and what the memory is asked for.

    Attributes:
        message: id of the message that uses it.
        turn: the last turn before that message.
        ask: the sentence that uses it, without it.
        expect: the value, as the latest evidence writes it.
        evidence: ids of the earlier messages that say it, in their order.
        corrects: the language of a correction, such as `no, I said`; empty for another message.
    """

    message: str
    turn: int
    kind: AnchorKind
    ask: str
    expect: str
    evidence: tuple[str, ...]
    principal: str
    corrects: str = ""


@dataclass(frozen=True, slots=True)
class _Spoken:
    id: str
    role: str
    principal: str
    turn: int
    text: str
    values: dict[str, Anchor]
    stems: frozenset[str]


def reuse_needs(
    turns: Iterable[Turn], *, shared: bool = False, most: int = MOST_NEEDS
) -> tuple[Need, ...]:
    """The needs of a conversation, in its order.

    Args:
        turns: the whole conversation.
        shared: whether everybody may see what the others say.
        most: needs at most, spread over the conversation; corrections come first.
    """
    spoken = [_spoken(message, turn) for turn in turns for message in (*turn.heard, *turn.reply)]
    found = list(_Finder(spoken, shared=shared).needs())
    return _spread(found, most)


def _spoken(message: Message, turn: Turn) -> _Spoken:
    text = message.text
    found = anchors(text)
    values: dict[str, Anchor] = {}
    for anchor in found:
        values.setdefault(anchor.key, anchor)
    return _Spoken(
        message.id,
        message.role,
        message.principal,
        turn.number,
        text,
        values,
        _stems(text, found),
    )


def _stems(text: str, found: Iterable[Anchor]) -> frozenset[str]:
    """What a text may share with another: stems, and identifiers and numbers as wholes."""
    exact = [anchor for anchor in found if anchor.kind in ("identifier", "number")]
    parts, at = [], 0
    # Scripts without spaces write an identifier and the words around it as one.
    for anchor in exact:
        parts.append(text[at : anchor.start])
        at = anchor.end
    rest = " ".join([*parts, text[at:]])
    return frozenset([*content(rest), *(anchor.key for anchor in exact)])


class _Finder:
    """Looks for needs in the messages of one conversation."""

    def __init__(self, spoken: Sequence[_Spoken], *, shared: bool) -> None:
        self._spoken = spoken
        self._shared = shared
        self._values = Counter(key for said in spoken for key in said.values)
        self._stems = Counter(word for said in spoken for word in said.stems)

    def needs(self) -> Iterator[Need]:
        places: dict[str, list[int]] = {}
        for place, said in enumerate(self._spoken):
            corrects = correction(said.text) if said.role == "user" else None
            made = (
                self._need(place, anchor, places[key], corrects)
                for key, anchor in sorted(said.values.items(), key=self._order)
                if key in places and self._values[key] <= MOST_MESSAGES
            )
            yield from [need for need in made if need][:MOST_OF_MESSAGE]
            for key in said.values:
                places.setdefault(key, []).append(place)

    def _order(self, item: tuple[str, Anchor]) -> tuple[int, int, int]:
        key, anchor = item
        return ANCHOR_KINDS.index(anchor.kind), self._values[key], anchor.start

    def _need(
        self, place: int, anchor: Anchor, earlier: Sequence[int], corrects: Correction | None
    ) -> Need | None:
        said = self._spoken[place]
        if corrects and anchor.kind == "word":
            return None
        if place - earlier[-1] < (LATEST_CORRECTED if corrects else LATEST):
            return None
        ask = _question(said.text, anchor)
        asked = _stems(ask, anchors(ask)) - {anchor.key, *content(anchor.text)}
        free = corrects is not None
        evidence = [
            self._spoken[before]
            for before in earlier
            if self._serves(said, self._spoken[before], asked, free=free)
        ][-_MOST_EVIDENCE:]
        if not evidence or not words(ask):
            return None
        written = evidence[-1].values[anchor.key].text
        if written == UNKNOWN or not ValueSearch([written]).found(evidence[-1].text):
            return None
        return Need(
            message=said.id,
            turn=said.turn - 1,
            kind=anchor.kind,
            ask=ask,
            expect=written,
            evidence=tuple(message.id for message in evidence),
            principal=said.principal,
            corrects=corrects.language if corrects else "",
        )

    def _serves(self, said: _Spoken, before: _Spoken, asked: frozenset[str], *, free: bool) -> bool:
        if before.turn >= said.turn or not (self._shared or before.principal == said.principal):
            return False
        return free or self._shared_rarity(asked, before) >= SHARED

    def _shared_rarity(self, asked: frozenset[str], before: _Spoken) -> float:
        every = len(self._spoken)
        return math.fsum(math.log(every / self._stems[word]) for word in asked & before.stems)


def _question(text: str, anchor: Anchor) -> str:
    """The sentence that says a value, with a gap for the value wherever it stands."""
    line_start = text.rfind("\n", 0, anchor.start) + 1
    line_end = text.find("\n", anchor.end)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    place = anchor.start - line_start
    at = 0
    for sentence in sentences(line):
        at = line.index(sentence, at)
        if at <= place < at + len(sentence):
            return _without(sentence, anchor)
        at += len(sentence)
    return ""


def _without(sentence: str, anchor: Anchor) -> str:
    made, at = [], 0
    for other in anchors(sentence):
        if other.key == anchor.key:
            made += [sentence[at : other.start], _GAP_SIGN]
            at = other.end
    left = "".join([*made, sentence[at:]])
    if anchor.kind != "word":
        whole = rf"(?<!\w){re.escape(anchor.text)}(?!\w)"
        left = re.sub(whole, _GAP_SIGN, left, flags=re.IGNORECASE)
    return " ".join(left.split())


def _spread(found: Sequence[Need], most: int) -> tuple[Need, ...]:
    """As many needs as are wanted: corrections, then others by chance that is always the same."""
    if len(found) <= most:
        return tuple(found)

    def rank(need: Need) -> tuple[bool, str]:
        said = f"{need.message} {need.kind} {need.expect}"
        return not need.corrects, hashlib.sha256(said.encode()).hexdigest()

    chosen = set(sorted(found, key=rank)[:most])
    return tuple(need for need in found if need in chosen)
