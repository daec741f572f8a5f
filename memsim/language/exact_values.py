"""Find the exact values of a sentence: dates, days, times, numbers with units, codes and names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from memsim.language.dates import mentions
from memsim.language.lexicon import COLOURS, FIRST_PERSON, LIGHT, STOP
from memsim.language.numbers import numbers, word_value
from memsim.language.text import fold, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterator


class Value(NamedTuple):
    """Something exact that a sentence states: its kind, its folded text, and a number's unit."""

    kind: str
    text: str
    unit: str = ""


EXACT: Final = frozenset({"date", "day", "time", "number", "ending", "code"})
"""Kinds that only a value of the same kind can replace."""

_DATES: Final = {
    "dmy": "date",
    "mdy": "date",
    "iso": "date",
    "my": "date",
    "month": "date",
    "weekday": "day",
    "weekly": "day",
    "clock": "time",
}
_DAYTIME: Final = re.compile(
    r"\b(?:noon|midnight|breakfast|lunchtime|dinner|dawn|dusk|half\spast\s\w+"
    r"|quarter\s(?:to|past)\s\w+"
    r"|(?P<hour>\w+)\s(?:o'clock|in\sthe\s(?:morning|afternoon|evening)))(?!\w)",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"(?<!\w)[^\W_]+(?:[-_/.:@#]+[^\W_]+)+(?!\w)")
_NAME: Final = re.compile(
    r"(?<=[\w,;:] )(?:(?:Dr|Mrs?|Ms)\. )?[A-Z\u00c0-\u00de][\w'\u2019-]*"
    r"(?:\s[A-Z\u00c0-\u00de][\w'\u2019-]*)*"
)
_UNIT: Final = re.compile(r"\s?([^\W\d_]+(?:-[^\W\d_]+)?)")
_ENDING: Final = re.compile(r"\bend(?:s|ing)\s(?:in|with)\s$")
_RELATIVE: Final = frozenset({"less", "fewer", "more", "later", "earlier", "extra"})
_DURATIONS: Final = frozenset(
    map(stem, ("second", "minute", "hour", "day", "night", "week", "month", "year"))
)
_LOWER: Final = re.compile(r"[a-z]+")


@lru_cache(maxsize=1 << 12)
def exact_values(sentence: str) -> tuple[Value, ...]:
    """The values of a sentence; of two that overlap, the one of the more exact kind."""
    taken = bytearray(len(sentence) + 1)
    found = []
    for start, end, kind, unit in _spans(sentence):
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            text = fold(sentence[start:end].rstrip(".")).removesuffix("'s")
            found.append(Value(kind, text, unit))
    return tuple(found)


def comparable(one: Value, other: Value, *, loose: bool = False) -> bool:
    """Whether one of two values can stand in the place of the other.

    With `loose`, a number without a unit can stand in the place of one with a unit.
    """
    if one.kind != other.kind:
        return False
    return one.unit == other.unit or (loose and not (one.unit and other.unit))


def _spans(text: str) -> Iterator[tuple[int, int, str, str]]:
    for mention in mentions(text):
        if mention.kind in _DATES:
            yield mention.start, mention.end, _DATES[mention.kind], ""
    for match in _DAYTIME.finditer(text):
        if match["hour"] is None or word_value(match["hour"]) is not None:
            yield *match.span(), "time", ""
    for match in _CODE.finditer(text):
        if any(c.isdigit() or c in "/_@" for c in match.group()):
            yield *match.span(), "code", ""
    yield from _numbers(text)
    yield from _words(text)


def _words(text: str) -> Iterator[tuple[int, int, str, str]]:
    for match in _NAME.finditer(text):
        if fold(match.group()) not in FIRST_PERSON:
            yield *match.span(), "name", ""
    for match in _LOWER.finditer(text):
        if match.group() in COLOURS:
            yield *match.span(), "colour", ""


def _numbers(text: str) -> Iterator[tuple[int, int, str, str]]:
    for number in numbers(text):
        start, end, _ = number
        after = words(text[end : end + 24])[:2]
        relative = after[:1] == ["of"] or not _RELATIVE.isdisjoint(after)
        if not relative and text[start:end].lower() != "one":
            ending = _ENDING.search(text[max(0, start - 9) : start])
            yield start, end, "ending" if ending else "number", _unit(text, end)


def _unit(text: str, end: int) -> str:
    after = _UNIT.match(text, end)
    word = fold(after[1]) if after else ""
    root = stem(word) if word else ""
    if root in _DURATIONS:
        return "duration"
    return "" if word in STOP or word in LIGHT else root
