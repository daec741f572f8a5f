"""Read the dates of an answer as days, those told in words among them.

================================= ==========================
told                              read as
================================= ==========================
``2023-06``, ``June 2023``        1 to 30 June 2023
``the week before 9 June 2023``   2 to 8 June 2023
``the Friday before 15 July``     14 July
``two weekends before 17 July``   8 to 9 July
``first week of August 2023``     1 to 7 August 2023
``early June 2023``               1 to 10 June 2023
``summer of 2022``                June to August 2022
``between 5 and 9 June 2023``     5 to 9 June 2023
================================= ==========================
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from memsim.language.lexicon import MONTHS, WEEKDAYS
from memsim.scoring.answer_text import AnswerWords

_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_NAMES = "|".join(MONTHS)
_GLUED = re.compile(
    rf"(?P<day>\d{{1,2}})(?P<month>{_NAMES})|(?P<name>{_NAMES})\.(?P<year>(?:1[5-9]|20|21)\d\d)"
)


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

    def within(self, wanted: Days) -> bool:
        """Whether it is as exact as the wanted days, and lies in them for the greater part."""
        if self.any_year or wanted.any_year:
            return self._in_any_year(wanted)
        if self.length > max(1, wanted.length + (wanted.length > 5)):
            return False
        shared = min(self.last, wanted.last) - max(self.first, wanted.first)
        return 2 * (shared.days + 1) > self.length

    def _in_any_year(self, wanted: Days) -> bool:
        if self.any_year and wanted.any_year:
            return Days(self.first, self.last).within(Days(wanted.first, wanted.last))
        known = wanted if self.any_year else self
        years = {known.first.year, known.last.year}
        if self.any_year:
            return any(_moved(self, year).within(wanted) for year in years)
        return any(self.within(_moved(wanted, year)) for year in years)


class ToldDate(NamedTuple):
    """A date in a text: the places of its words, and the days that it may mean."""

    start: int
    end: int
    readings: tuple[Days, ...]


def days_of_token(token: str) -> Iterator[Days]:
    """The days of one comparable word; one that can be read two ways gives both."""
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


def _moved(days: Days, year: int) -> Days:
    return Days(in_year(days.first, year), in_year(days.last, year))


def in_year(day: date, year: int) -> date:
    """The same day of another year; 28 February for the 29th."""
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)


# Words around a date, nearest first, say which days are meant.

_BEFORE = (("before",), ("prior", "to"), ("preceding",), ("leading", "up", "to"), ("ahead", "of"))
_AFTER = (("after",), ("following",))
_PARTS = {
    **dict.fromkeys(("early", "beginning", "start"), (0, 1)),
    **dict.fromkeys(("mid", "middle"), (1, 2)),
    **dict.fromkeys(("late", "end"), (2, 3)),
}
_ORDER = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_UNITS = frozenset({"day", "week", "weekend", "month", "year", *WEEKDAYS})
_ONE_DAY = timedelta(days=1)


@lru_cache(maxsize=1 << 13)
def told_dates(words: AnswerWords) -> tuple[ToldDate, ...]:
    """The dates of a text, in order, with the words that say which days are meant."""
    tokens = words.tokens
    found: list[ToldDate] = []
    place = 0
    while place < len(tokens):
        told = _base(tokens, place)
        if told is None:
            place += 1
            continue
        told = _told(tokens, told)
        place = told.end
        if found and (joined := _range(tokens, found[-1], told)):
            found[-1] = joined
        else:
            found.append(told)
    return tuple(found)


def _base(tokens: Sequence[str], place: int) -> ToldDate | None:
    token = tokens[place]
    if glued := _GLUED.fullmatch(token):
        return _glued_base(tokens, place, glued)
    if token[0].isdigit() or token.startswith("--"):
        days = tuple(days_of_token(token))
        return ToldDate(place, place + 1, days) if days else None
    if token in _SEASONS or token in MONTHS:
        after = place + 1 + (tokens[place + 1 : place + 2] == ("of",))
        year = tokens[after] if after < len(tokens) else ""
        if _YEAR.fullmatch(year):
            first = _SEASONS.get(token) or MONTHS.index(token) + 1
            month = _months(int(year), first, 3 if token in _SEASONS else 1)
            return ToldDate(place, after + 1, (month,))
    return None


def _glued_base(tokens: Sequence[str], place: int, glued: re.Match[str]) -> ToldDate | None:
    """`24June, 2022` and `April.2023`: a month that is written without a space."""
    after = "".join(tokens[place + 1 : place + 2])
    year = glued["year"] or (after if _YEAR.fullmatch(after) else "")
    month = MONTHS.index(glued["month"] or glued["name"]) + 1
    end = place + 1 + (year != "" and not glued["year"])
    try:
        days = _spanned(int(year or 0), month, int(glued["day"] or 0))
    except ValueError:
        return None
    return ToldDate(place, end, (days,))


def _months(year: int, first: int, count: int) -> Days:
    end = year * 12 + first - 1 + count
    return Days(date(year, first, 1), date(end // 12, end % 12 + 1, 1) - _ONE_DAY)


def _told(tokens: Sequence[str], told: ToldDate) -> ToldDate:
    told = _from_day(tokens, told)
    at = told.start
    before = tokens[max(0, at - 6) : at]
    for phrases, sign in ((_BEFORE, -1), (_AFTER, 1)):
        for phrase in phrases:
            if tuple(before[-len(phrase) :]) == phrase:
                return _beside(tokens, told, at - len(phrase), sign)
    of = bool(before) and before[-1] in {"of", "in"}
    place = at - 1 - of
    if place < 0:
        return told
    word = tokens[place]
    if word in _PARTS:
        return _with(told, place, lambda day: _third(day, *_PARTS[word]))
    if of and _unit(word) in {"week", "weekend"} | set(WEEKDAYS):
        order = _order(tokens[place - 1]) if place else 0
        if order and told.readings[0].length > 7:
            return _with(told, place - 1, lambda day: _nth(day, _unit(word), order))
        return _with(told, place, lambda day: _week_of(day, _unit(word)))
    return told


def _from_day(tokens: Sequence[str], told: ToldDate) -> ToldDate:
    """`9 to 10 June`, `9-10 June 2023` and `June 9-10, 2023`: days stand without their month."""
    at, days = told.start, told.readings[0]
    if 28 <= days.length <= 31:
        if at > 1 and _is_day(tokens[at - 2]) and _is_day(tokens[at - 1]):
            return _with(told, at - 2, lambda base: _stretch(base, *tokens[at - 2 : at]))
        return told
    if days.length > 1:
        return told
    if days.any_year and len(tokens) > told.end and _is_day(tokens[told.end]):
        year = "".join(tokens[told.end + 1 : told.end + 2])
        known = _moved(days, int(year)) if _YEAR.fullmatch(year) else days
        told = ToldDate(at, told.end + 1 + (known is not days), (known,))
        return _with(told, at, lambda base: _stretch(base, str(base.first.day), tokens[at + 1]))
    at -= 1 + (at > 1 and tokens[at - 1] in {"to", "and", "or", "through"})
    if at < 0 or not _is_day(tokens[at]):
        return told
    return _with(told, at, lambda base: _stretch(base, tokens[at], str(base.last.day)))


def _is_day(token: str) -> bool:
    return token.isdecimal() and 0 < int(token[:4]) <= 31


def _stretch(base: Days, first: str, last: str) -> Days:
    if int(first) > int(last):
        return base
    days = [base.first.replace(day=int(day)) for day in (first, last)]
    return Days(days[0], days[1], base.any_year)


def _beside(tokens: Sequence[str], told: ToldDate, stop: int, sign: int) -> ToldDate:
    """The days so many weeks, weekends or other units before or after a date."""
    if not stop or (unit := _unit(tokens[stop - 1])) not in _UNITS:
        return told
    place = stop - 1
    if place and tokens[place - 1] == "of":
        place -= 1
    count = tokens[place - 1] if place else ""
    if count.isdecimal() or count in _VAGUE:
        place -= 1
    number = int(count[:4]) if count.isdecimal() else _VAGUE.get(count, 1)
    if count in {"few", "several"} and unit == "day":
        return _with(told, place, lambda day: _between(day, sign, 1, 6))
    return _with(told, place, lambda day: _units_from(day, unit, sign * number))


_VAGUE = {"couple": 2, "few": 3, "several": 4}


def _with(told: ToldDate, start: int, change: Callable[[Days], Days]) -> ToldDate:
    readings = []
    for days in told.readings:
        try:
            readings.append(change(days))
        except (ValueError, OverflowError):
            continue
    return ToldDate(start, told.end, tuple(readings) or told.readings)


def _between(base: Days, sign: int, nearest: int, farthest: int) -> Days:
    ends = [base.first + sign * n * _ONE_DAY for n in (nearest, farthest)]
    return Days(min(ends), max(ends), base.any_year)


def _units_from(base: Days, unit: str, count: int) -> Days:
    day = base.first
    sign = 1 if count > 0 else -1
    if unit == "day":
        return Days(day + count * _ONE_DAY, day + count * _ONE_DAY, base.any_year)
    if unit == "week":
        if abs(count) == 1:
            return _between(base, sign, 1, 7)
        return _between(base, sign, 7 * abs(count) - 3, 7 * abs(count) + 3)
    if unit == "month":
        month = day.year * 12 + day.month - 1 + count
        return _months(month // 12, month % 12 + 1, 1)
    if unit == "year":
        return _months(day.year + count, 1, 12)
    return _weekday_from(base, unit, count)


def _weekday_from(base: Days, unit: str, count: int) -> Days:
    wanted, length = (5, 2) if unit == "weekend" else (WEEKDAYS.index(unit), 1)
    if count < 0:
        back = (base.first.weekday() - wanted) % 7
        first = base.first - (back if back >= length else back + 7) * _ONE_DAY
        first += 7 * (count + 1) * _ONE_DAY
    else:
        first = base.first + ((wanted - base.first.weekday()) % 7 or 7) * _ONE_DAY
        first += 7 * (count - 1) * _ONE_DAY
    return Days(first, first + (length - 1) * _ONE_DAY, base.any_year)


def _third(base: Days, low: int, high: int) -> Days:
    if base.length == 1:
        return base
    cuts = [base.first + round(base.length * n / 3) * _ONE_DAY for n in (low, high)]
    return Days(cuts[0], min(cuts[1] - _ONE_DAY, base.last), base.any_year)


def _order(word: str) -> int:
    return int(word) if word.isdecimal() and len(word) == 1 else _ORDER.get(word, 0)


def _nth(base: Days, unit: str, order: int) -> Days:
    if unit == "week":
        first = base.first + 7 * (order - 1) * _ONE_DAY if order > 0 else base.last - 6 * _ONE_DAY
        return Days(first, min(first + 6 * _ONE_DAY, base.last), base.any_year)
    if order > 0:
        eve = base.first - _ONE_DAY
        return _weekday_from(Days(eve, eve, base.any_year), unit, order)
    end = base.last + _ONE_DAY
    return _weekday_from(Days(end, end, base.any_year), unit, -1)


def _week_of(base: Days, unit: str) -> Days:
    if base.length > 7:
        return base
    if unit in WEEKDAYS:
        return base
    monday = base.first - base.first.weekday() * _ONE_DAY
    first = monday + (5 if unit == "weekend" else 0) * _ONE_DAY
    return Days(first, monday + 6 * _ONE_DAY, base.any_year)


def _unit(word: str) -> str:
    return word.removesuffix("s") if word.removesuffix("s") in _UNITS else word


def _range(tokens: Sequence[str], one: ToldDate, other: ToldDate) -> ToldDate | None:
    """Both dates as one stretch, where the words say `from one to the other`."""
    between = tokens[one.end : other.start]
    linked = between in {("to",), ("through",), ("until",), ("and",)}
    opened = one.start > 0 and tokens[one.start - 1] == "between"
    if not linked or (between == ("and",) and not opened):
        return None
    plain = _base(tokens, one.end - 1)
    first, last = (plain or one).readings[0], other.readings[0]
    if first.any_year != last.any_year:
        year = (last if first.any_year else first).first.year
        first, last = _moved(first, year), _moved(last, year)
    if not first.first <= last.first or (last.last - first.first).days > 31:
        return None
    return ToldDate(
        one.start, other.end, (Days(first.first, last.last, first.any_year and last.any_year),)
    )
