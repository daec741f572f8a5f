"""Find numbers in words and digits, so that `twenty-five` and `25` are equal."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {
    **{word: n for n, word in enumerate(_SMALL)},
    **{word: 10 * n for n, word in enumerate(_TENS, start=2)},
}
_WRITTEN = {str(value): word for word, value in _VALUES.items()}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
_ONE = "|".join(sorted([*_VALUES, *_SCALES], key=len, reverse=True))
_FOUND = re.compile(
    rf"(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"|\b(?P<words>(?:{_ONE})(?:(?:[\s-]|\sand\s)(?:{_ONE})){{0,12}})\b",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"[\s-]+")
_DIGITS_LIMIT = 15


class Number(NamedTuple):
    """A number and its position in a text."""

    start: int
    end: int
    value: float


@lru_cache(maxsize=1 << 12)
def numbers(text: str) -> tuple[Number, ...]:
    """The numbers of a text, in order, without digits inside words and identifiers."""
    found = []
    for match in _FOUND.finditer(text):
        digits = match.group("digits")
        if digits is None:
            found.append(Number(match.start(), match.end(), _spoken(match.group("words"))))
        elif len(digits) <= _DIGITS_LIMIT and _stands_alone(text, match.start(), match.end()):
            found.append(Number(match.start(), match.end(), float(digits.replace(",", ""))))
    return tuple(found)


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    joined = before in "-/_:#." and start > 1 and text[start - 2].isalnum()
    runs_on = after in "-/_:" and end + 1 < len(text) and text[end + 1].isdigit()
    return not (before.isalpha() or before == "_" or joined or runs_on or after == "_")


def _spoken(text: str) -> float:
    total = part = 0
    for word in _SPLIT.split(text.lower()):
        scale = _SCALES.get(word)
        if scale is None:
            part += _VALUES.get(word, 0)
        elif scale == 100:
            part = max(part, 1) * scale
        else:
            total += max(part, 1) * scale
            part = 0
    return float(total + part)


def word_value(word: str) -> int | None:
    """The value of one number word or of digits, or None; `a`, `an` and `couple` count."""
    folded = word.lower()
    if folded.isdecimal():
        return int(folded[:9])
    loose = {"a": 1, "an": 1, "couple": 2}
    return loose.get(folded, _VALUES.get(folded))


def spelled(value: str) -> str | None:
    """A number in the other way that people write it: `1` is `one`, and `one` is `1`.

    Returns:
        None where it is no number, or has no single word.
    """
    folded = value.lower()
    if folded in _VALUES:
        return str(_VALUES[folded])
    return _WRITTEN.get(folded)
