"""Compare dates, however they are written, within a tolerance in days (`match: date`)."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from memsim.scoring.answer_match import MOST_VALUES, AnswerMatch
from memsim.scoring.answer_text import AnswerWords, read_words
from memsim.scoring.polarity import denied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memsim.scenario.script import Probe

_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")


def match(probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Compare as dates."""
    return match_date(expected, answer, tolerance=probe.tolerance)


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


def match_date(expected: str, answer: str, *, tolerance: float) -> AnswerMatch:
    """Compare as dates.

    An answer is right when it lies within the expected day, month or year, `tolerance` days to
    either side allowed. A year where a day is expected is not an answer; a day without its year is.
    """
    wanted = days_of(expected)
    if not wanted:
        return AnswerMatch(right=False, share=0.0, detail=f"{expected!r} is no date")
    given = read_words(answer)
    found = list(dict.fromkeys(_days(given, denied(given))))
    if len(found) > MOST_VALUES:
        return AnswerMatch(right=False, share=0.0, detail=f"offers {len(found)} dates")
    spare = timedelta(days=tolerance)
    right = any(_lies_in(f, w, spare) for f in found for w in wanted)
    return AnswerMatch(right=right, share=float(right))


def days_of(text: str) -> list[Days]:
    """The dates in a text; one that can be read two ways counts as both."""
    return list(_days(read_words(text), ()))


def _days(words: AnswerWords, hidden: frozenset[int] | tuple[()]) -> Iterator[Days]:
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
