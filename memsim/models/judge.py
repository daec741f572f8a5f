"""Judges by rule whether an answer states what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.models import IDK
from memsim.models.dates import mentions, resolve
from memsim.models.lexicon import NEGATIVE, STOP
from memsim.models.numbers import numbers
from memsim.models.text import fold, sentences, stem, words

if TYPE_CHECKING:
    from datetime import date

    from memsim.models import Request

ENOUGH = 0.6
"""Share of the expected content words that an answer must hold."""

_NO_ANSWER = (
    "don't know",
    "do not know",
    "not mentioned",
    "no information",
    "not available",
    "cannot say",
)


def judge(request: Request) -> str:
    """`yes` when the given answer states the expected one, else `no`."""
    return "yes" if states(request.given, request.expected) else "no"


def states(given: str, expected: str) -> bool:
    """Whether an answer states what was expected: its words, numbers and dates, and no denial."""
    if abstains(expected) or abstains(given):
        return abstains(expected) == abstains(given)
    if not _numbers(expected) <= _numbers(given) or not _dates(expected) <= _dates(given):
        return False
    wanted = _content(expected)
    if not wanted:
        return fold(expected).strip(" .!") in fold(given)
    held = wanted & _content(given)
    return len(held) >= ENOUGH * len(wanted) and _denied(given, wanted) == _denied(expected, wanted)


def abstains(answer: str) -> bool:
    """Whether an answer says that it does not know."""
    folded = fold(answer)
    return not folded.strip() or answer.strip() == IDK or any(said in folded for said in _NO_ANSWER)


def _content(text: str) -> frozenset[str]:
    spoken = [w for w in words(text) if w not in STOP or w in {"yes", "no"}]
    dated = {w for m in mentions(text) for w in words(m.text)}
    counted = {w for n in numbers(text) for w in words(text[n.start : n.end])}
    return frozenset(stem(w) for w in spoken if w not in dated and w not in counted)


def _numbers(text: str) -> frozenset[float]:
    dated = [(m.start, m.end) for m in mentions(text)]
    found = (n for n in numbers(text) if not any(s <= n.start < e for s, e in dated))
    return frozenset(n.value for n in found)


def _dates(text: str) -> frozenset[tuple[date, date] | str]:
    found: set[tuple[date, date] | str] = set()
    for mention in mentions(text):
        meant = resolve(mention, None)
        found.add((meant.first, meant.last) if meant else fold(mention.text))
    return frozenset(found)


def _denied(text: str, wanted: frozenset[str]) -> bool:
    # Only the clause that speaks of the matter counts: `not Bergen, Oslo` does not deny Oslo.
    for sentence in sentences(text):
        for clause in sentence.replace(";", ",").split(","):
            spoken = words(clause)
            about = not wanted.isdisjoint(map(stem, spoken))
            if about and not NEGATIVE.isdisjoint(spoken):
                return True
    return False
