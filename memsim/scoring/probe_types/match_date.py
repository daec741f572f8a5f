"""Compare dates, however they are written, within a tolerance in days (`match: date`)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from memsim.scoring.answer_dates import Days, days_of_token, in_year
from memsim.scoring.answer_match import MOST_VALUES, AnswerMatch
from memsim.scoring.answer_text import AnswerWords, read_words
from memsim.scoring.polarity import denied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memsim.scenario.script import Probe


def match(probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Compare as dates."""
    return match_date(expected, answer, tolerance=probe.tolerance)


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
        yield from days_of_token(token)


def _lies_in(given: Days, wanted: Days, spare: timedelta) -> bool:
    if wanted.any_year or given.any_year:
        if not (given.length == wanted.length == 1):
            return False
        years = range(-1, 2)
        base = given.first.replace(year=2000)
        return any(abs(base - in_year(wanted.first, 2000 + y)) <= spare for y in years)
    if given.length > wanted.length:
        return False
    return wanted.first - spare <= given.first and given.last <= wanted.last + spare
