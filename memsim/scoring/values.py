"""Compares numbers, dates and choices by what they mean and not by how they are written."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from memsim.scoring.matching import Match, occurrences
from memsim.scoring.normalise import Words, fold, read
from memsim.scoring.polarity import denied

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_VALUES = 4
"""Different numbers or dates that an answer may offer; one that offers more has named none."""

_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "bn": 1e9}
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(k|m|bn?)?")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")


def match_number(expected: str, answer: str, *, tolerance: float, asked: str = "") -> Match:
    """Compare as numbers.

    Args:
        expected: a text with one number.
        answer: may say more; numbers of the question do not count unless they are the expected one.
        tolerance: allowed difference, as a share of the expected number.
        asked: the question.
    """
    wanted = _numbers(read(expected), ())
    if not wanted:
        return Match(right=False, share=0.0, detail=f"{expected!r} is no number")
    given = read(answer)
    found = _numbers(given, denied(given))
    close = [n for n in found if abs(n - wanted[0]) <= tolerance * abs(wanted[0])]
    others = set(found) - set(_numbers(read(asked), ()))
    if len(others - set(close)) + 1 > MOST_VALUES:
        return Match(right=False, share=0.0, detail=f"offers {len(others)} numbers")
    return Match(right=bool(close), share=float(bool(close)))


def _numbers(words: Words, hidden: frozenset[int] | tuple[()]) -> list[float]:
    found = []
    for place, token in enumerate(words.tokens):
        match = _NUMBER.fullmatch(token)
        if match and place not in hidden and len(token) <= 20:
            found.append(float(match.group(1)) * _SCALES.get(match.group(2) or "", 1.0))
    return found


@dataclass(frozen=True, slots=True)
class Days:
    """The days that a date means: one, a month, a year, or one in any year."""

    first: date
    last: date
    any_year: bool = False

    @property
    def length(self) -> int:
        """How many days."""
        return (self.last - self.first).days + 1


def match_date(expected: str, answer: str, *, tolerance: float) -> Match:
    """Compare as dates.

    An answer is right when it lies within the expected day, month or year, `tolerance` days to
    either side allowed. A year where a day is expected is not an answer; a day without its year is.
    """
    wanted = days_of(expected)
    if not wanted:
        return Match(right=False, share=0.0, detail=f"{expected!r} is no date")
    given = read(answer)
    found = list(dict.fromkeys(_days(given, denied(given))))
    if len(found) > MOST_VALUES:
        return Match(right=False, share=0.0, detail=f"offers {len(found)} dates")
    spare = timedelta(days=tolerance)
    right = any(_lies_in(f, w, spare) for f in found for w in wanted)
    return Match(right=right, share=float(right))


def days_of(text: str) -> list[Days]:
    """The dates in a text; one that can be read two ways counts as both."""
    return list(_days(read(text), ()))


def _days(words: Words, hidden: frozenset[int] | tuple[()]) -> Iterator[Days]:
    for place, token in enumerate(words.tokens):
        if place in hidden:
            continue
        for reading in _readings(token):
            try:
                yield _spanned(*reading)
            except ValueError:
                continue


def _readings(token: str) -> Iterator[tuple[int, int, int]]:
    parts = token.lstrip("-").replace("/", "-").split("-")
    if not all(p.isdecimal() for p in parts):
        return
    numbers = [int(p) for p in parts]
    if "/" in token and len(numbers) == 3:
        first, second, year = numbers
        yield year, first, second
        yield year, second, first
    elif token.startswith("--") and len(numbers) == 2:
        yield 0, numbers[0], numbers[1]
    elif len(numbers) == 3 and len(parts[0]) == 4:
        yield numbers[0], numbers[1], numbers[2]
    elif len(numbers) == 2 and len(parts[0]) == 4:
        yield numbers[0], numbers[1], 0
    elif _YEAR.fullmatch(token):
        yield numbers[0], 0, 0


def _spanned(year: int, month: int, day: int) -> Days:
    if not month:
        return Days(date(year, 1, 1), date(year, 12, 31))
    if not day:
        return Days(date(year, month, 1), date(year, month, monthrange(year, month)[1]))
    # A leap year stands for any year, so that 29 February exists in it.
    one = date(year or 2000, month, day)
    return Days(one, one, any_year=not year)


def _lies_in(given: Days, wanted: Days, spare: timedelta) -> bool:
    if wanted.any_year or given.any_year:
        if not (given.length == wanted.length == 1):
            return False
        years = range(-1, 2)
        base = given.first.replace(year=2000)
        return any(abs(base - _in_year(wanted.first, 2000 + y)) <= spare for y in years)
    if given.length > wanted.length:
        return False
    return wanted.first - spare <= given.first and given.last <= wanted.last + spare


def _in_year(day: date, year: int) -> date:
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)


def match_choice(expected: str, answer: str, choices: Sequence[str]) -> Match:
    """Compare as one of several options, given by its words, its letter or its number."""
    picked = _picked(answer, choices)
    wanted = read(expected).stems
    right = len(picked) == 1 and read(choices[picked[0]]).stems == wanted
    detail = f"picks {len(picked)} options" if len(picked) > 1 else ""
    return Match(right=right, share=float(right), detail=detail)


_LETTER = re.compile(r"\W*(?:(?:the\s+)?(?:option|answer|choice)(?:\s+is)?\W*)?([a-z]|\d{1,2})\W*")


def _picked(answer: str, choices: Sequence[str]) -> list[int]:
    given = read(answer)
    gone = denied(given)
    spans = {
        n: [s for s in occurrences(read(choice), given) if s[0] not in gone]
        for n, choice in enumerate(choices)
    }
    everything = [span for found in spans.values() for span in found]
    picked = [n for n, found in spans.items() if any(not _inside(s, everything) for s in found)]
    if picked:
        return picked
    letter = _LETTER.fullmatch(fold(answer)) or re.match(
        r"\W*([a-z]|\d{1,2})\s*[).:]\s", fold(answer)
    )
    if letter:
        name = letter.group(1)
        place = int(name) - 1 if name.isdecimal() else ord(name) - ord("a")
        return [place] if 0 <= place < len(choices) else []
    return []


def _inside(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(s[0] <= span[0] and span[1] <= s[1] and s != span for s in spans)
