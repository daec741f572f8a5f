"""Find dates in a text, and resolve relative dates with the day on which they were said.

`last Friday`, said on 15 July 2023, becomes `the Friday before 15 July 2023 (14 July 2023)`: the
answer shows the words and the computed day.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.language.lexicon import MONTHS, SEASONS, WEEKDAYS
from memsim.language.numbers import word_value

if TYPE_CHECKING:
    from collections.abc import Callable

_COUNT = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a\s)?couple(?:\sof)?|(?:a\s)?few|several)"
)
_MONTH = "|".join([*MONTHS, *(m[:3] for m in MONTHS if m != "may"), "sept"])
_DAY = "|".join(WEEKDAYS)
_SHORT_DAY = r"mon|tues?|thurs?|thu|fri|(?-i:Wed|Sat|Sun)"
_YEAR = r"[12]\d{3}"
_TH = r"(?:st|nd|rd|th)?"
_PATTERNS: dict[str, str] = {
    "iso": r"\b(?P<iso>[12]\d{3}-[01]\d-[0-3]\d)(?:[T\s]\d\d:\d\d(?::\d\d)?Z?)?\b",
    "dmy": rf"\b(?P<d1>[0-3]?\d){_TH}(?:\sof)?\s(?P<m1>{_MONTH})\b\.?(?:,?\s(?P<y1>{_YEAR})\b)?",
    "mdy": rf"\b(?P<m2>{_MONTH})\.?\s(?P<d2>[0-3]?\d){_TH}\b(?:,?\s(?P<y2>{_YEAR})\b)?",
    "my": rf"\b(?P<m3>{_MONTH})\.?,?\s(?:of\s)?(?P<y3>{_YEAR})\b",
    "ago": rf"\b(?P<n1>{_COUNT})\s(?P<u1>day|week|weekend|month|year|night)s?"
    r"\s(?:ago|back|earlier)\b",
    "in": rf"\bin\s(?:about\s)?(?P<n2>{_COUNT})\s(?P<u2>day|week|month|year)s?(?:'\stime)?\b",
    "side": r"\b(?P<side>last|past|previous|next|this|coming|upcoming)\s"
    rf"(?P<what>week(?:end)?|month|year|night|{'|'.join(SEASONS)}|{_MONTH}|{_DAY}|{_SHORT_DAY}"
    r"|morning|afternoon|evening)\b",
    "near": r"\b(?P<near>the\sday\sbefore\syesterday|the\sday\safter\stomorrow|yesterday|today"
    r"|tonight|tomorrow|this\smorning|right\snow)\b",
    "weekday": rf"\b(?P<day>{_DAY})\b",
    "weekly": rf"\b(?P<days>(?:{_DAY})s)\b",
    "month": r"\b(?:in|since|until|by|of|around|during|early|late|mid)[\s-]"
    # `in May 2023` is matched from the name of the month on.
    rf"(?P<m4>{'|'.join(MONTHS)})\b(?!\.?,?\s(?:of\s)?[12]\d{{3}}\b)",
    "year": r"\b(?:in|since|until|by|of|around|during|from|year)\s(?P<y5>(?:19|20)\d\d)\b",
    "clock": r"\b(?P<clock>[01]?\d(?::[0-5]\d)?\s?(?:am|pm)|[0-2]?\d:[0-5]\d)\b",
}
_ANY = re.compile("|".join(f"(?P<{kind}_>{p})" for kind, p in _PATTERNS.items()), re.IGNORECASE)
DATE_HINT = re.compile(
    rf"\d|{_DAY}|{_MONTH}|\b(?:{_SHORT_DAY})\b|day|morrow|night|week|month|year|morning|season|{'|'.join(SEASONS)}|now",
    re.IGNORECASE,
)
"""Found in every text that names a date, and in some others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DateMention:
    """A date in a text.

    Attributes:
        kind: the pattern that it matches.
        parts: the parts of the pattern by name.
    """

    start: int
    end: int
    text: str
    kind: str
    parts: tuple[tuple[str, str], ...]

    @property
    def relative(self) -> bool:
        """Whether its day depends on the day on which it was said."""
        return self.kind in {"ago", "in", "side", "near", "weekday"}

    def part(self, name: str) -> str:
        """A part of the pattern, or empty."""
        return dict(self.parts).get(name, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The days of a mention, and their text in an answer."""

    first: date
    last: date
    label: str


@lru_cache(maxsize=1 << 13)
def mentions(text: str) -> tuple[DateMention, ...]:
    """The dates in a text, in order."""
    if not DATE_HINT.search(text):
        return ()
    return tuple(_mention(match) for match in _ANY.finditer(text))


def _mention(match: re.Match[str]) -> DateMention:
    groups = match.groupdict()
    kind = next(name[:-1] for name, value in groups.items() if value and name.endswith("_"))
    parts = tuple((k, v.lower()) for k, v in groups.items() if v and not k.endswith("_"))
    return DateMention(
        start=match.start(), end=match.end(), text=match.group(), kind=kind, parts=parts
    )


def resolve(mention: DateMention, said: date | None) -> Period | None:
    """The days of a mention; None if unknown, as for a relative date without a day of speech."""
    if mention.relative and said is None:
        return None
    try:
        return _RESOLVERS[mention.kind](mention, said or date.min)
    except (ValueError, OverflowError, KeyError):
        return None


def day_text(day: date) -> str:
    """A day as text: `7 May 2023`."""
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def month_text(day: date) -> str:
    """A month as text: `May 2023`."""
    return f"{MONTHS[day.month - 1].capitalize()} {day.year}"


def elapsed(since: date, now: date, unit: str = "") -> str:
    """The time between two days as text, such as `4 weeks`.

    Args:
        since: the earlier day.
        now: the later day.
        unit: `day`, `week`, `month` or `year`; empty for the most suitable one.
    """
    days = (now - since).days
    months = (now.year - since.year) * 12 + now.month - since.month - (now.day < since.day)
    suits = "day" if days < 14 else "week" if days < 60 else "month" if months < 24 else "year"
    counts = {"day": days, "week": round(days / 7), "month": months, "year": now.year - since.year}
    count = counts[unit or suits]
    return f"{count} {unit or suits}{'' if count == 1 else 's'}"


def _month(name: str) -> int:
    return next(n for n, month in enumerate(MONTHS, start=1) if month.startswith(name[:3]))


def _on(day: date, label: str | None = None) -> Period:
    return Period(first=day, last=day, label=label or day_text(day))


def _month_of(day: date) -> Period:
    last = day.replace(day=monthrange(day.year, day.month)[1])
    return Period(first=day.replace(day=1), last=last, label=month_text(day))


def _year_of(year: int) -> Period:
    return Period(first=date(year, 1, 1), last=date(year, 12, 31), label=str(year))


def _later(day: date, months: int) -> date:
    count = day.year * 12 + day.month - 1 + months
    year, month = divmod(count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _iso(mention: DateMention, _said: date) -> Period:
    return _on(date.fromisoformat(mention.part("iso")), mention.part("iso"))


def _full(mention: DateMention, said: date) -> Period:
    n = "1" if mention.kind == "dmy" else "2"
    year, month, day = mention.part("y" + n), _month(mention.part("m" + n)), mention.part("d" + n)
    label = None if year else mention.text
    return _on(date(int(year or max(said.year, 1)), month, int(day)), label)


def _month_year(mention: DateMention, _said: date) -> Period:
    return _month_of(date(int(mention.part("y3")), _month(mention.part("m3")), 1))


def _bare_month(mention: DateMention, said: date) -> Period:
    found = _month_of(date(max(said.year, 1), _month(mention.part("m4")), 1))
    return Period(first=found.first, last=found.last, label=mention.part("m4").capitalize())


def _bare_year(mention: DateMention, _said: date) -> Period:
    return _year_of(int(mention.part("y5")))


def _ago(mention: DateMention, said: date) -> Period | None:
    return _shifted(mention, said, mention.part("n1"), mention.part("u1"), -1)


def _ahead(mention: DateMention, said: date) -> Period | None:
    return _shifted(mention, said, mention.part("n2"), mention.part("u2"), +1)


def _shifted(mention: DateMention, said: date, count: str, unit: str, sign: int) -> Period | None:
    n = _counted(count)
    side = "before" if sign < 0 else "after"
    if n is None:
        words = " ".join(mention.text.split()[:-1]) if sign < 0 else mention.text.split(None, 1)[1]
        return _on(said, f"{words} {side} {day_text(said)}")
    if unit in {"day", "night"}:
        return _on(said + timedelta(days=sign * n))
    if unit == "week":
        day = said + timedelta(weeks=sign * n)
        many = "a week" if n == 1 else f"{n} weeks"
        return _on(day, f"{day_text(day)} ({many} {side} {day_text(said)})")
    if unit == "weekend":
        many = "the weekend" if n == 1 else f"{_word(count, n)} weekends"
        return _on(said - timedelta(weeks=n), f"{many} before {day_text(said)}")
    if unit == "month":
        return _month_of(_later(said, sign * n))
    return _year_of(said.year + sign * n)


def _word(count: str, n: int) -> str:
    return count if count.isalpha() else str(n)


def _counted(count: str) -> int | None:
    first = count.split()
    if first[-1] in {"few", "several"}:
        return None
    return 2 if "couple" in first else word_value(first[0])


def _near(mention: DateMention, said: date) -> Period:
    words = " ".join(mention.part("near").split())
    days = {
        "the day before yesterday": -2,
        "yesterday": -1,
        "tomorrow": 1,
        "the day after tomorrow": 2,
    }.get(words, 0)
    return _on(said + timedelta(days=days))


def _weekday(mention: DateMention, said: date) -> Period:
    name = mention.part("day")
    ahead = (WEEKDAYS.index(name) - said.weekday()) % 7
    day = said + timedelta(days=ahead)
    return _on(day, f"{mention.text} ({day_text(day)})")


def _side(mention: DateMention, said: date) -> Period | None:
    side, what = mention.part("side"), mention.part("what")
    sign = {"last": -1, "past": -1, "previous": -1, "this": 0}.get(side, 1)
    if weekday := _full_weekday(what):
        return _side_day(weekday, said, sign)
    if what in SEASONS:
        return _season(what, said, sign)
    by_unit = {
        "week": _side_week,
        "weekend": _side_week,
        "month": _next_month,
        "year": _next_year,
        "night": _next_day,
    }
    if what in by_unit:
        return by_unit[what](what, said, sign)
    if what in {"morning", "afternoon", "evening"}:
        return _on(said)
    return _side_month(_month(what), said, sign)


def _full_weekday(what: str) -> str:
    return next((day for day in WEEKDAYS if day.startswith(what)), "")


def _next_month(_what: str, said: date, sign: int) -> Period:
    return _month_of(_later(said.replace(day=1), sign))


def _next_year(_what: str, said: date, sign: int) -> Period:
    return _year_of(said.year + sign)


def _next_day(_what: str, said: date, sign: int) -> Period:
    return _on(said + timedelta(days=sign))


def _side_day(name: str, said: date, sign: int) -> Period:
    ahead = (WEEKDAYS.index(name) - said.weekday()) % 7
    if sign == 0:
        day = said + timedelta(days=ahead)
        return _on(day, f"{name.capitalize()} ({day_text(day)})")
    days = (ahead - 7) if sign < 0 else (ahead or 7)
    side = "before" if sign < 0 else "after"
    day = said + timedelta(days=days)
    return _on(day, f"the {name.capitalize()} {side} {day_text(said)} ({day_text(day)})")


def _side_week(what: str, said: date, sign: int) -> Period:
    monday = said - timedelta(days=said.weekday()) + timedelta(weeks=sign)
    side = {-1: "before", 0: "of", 1: "after"}[sign]
    first = monday + timedelta(days=5 if what == "weekend" else 0)
    return Period(
        first=first,
        last=monday + timedelta(days=6),
        label=f"the {what} {side} {day_text(said)}",
    )


def _season(what: str, said: date, sign: int) -> Period:
    start = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[what]
    year = said.year
    if sign < 0 and start + 2 >= said.month:
        year -= 1
    if sign > 0 and start <= said.month:
        year += 1
    first = date(year, start, 1)
    return Period(first=first, last=_later(first, 3) - timedelta(days=1), label=f"{what} {year}")


def _side_month(month: int, said: date, sign: int) -> Period:
    year = said.year
    if sign < 0 and month >= said.month:
        year -= 1
    if sign > 0 and month <= said.month:
        year += 1
    return _month_of(date(year, month, 1))


def _unmeant(_mention: DateMention, _said: date) -> None:
    return None


_RESOLVERS: dict[str, Callable[[DateMention, date], Period | None]] = {
    "iso": _iso,
    "dmy": _full,
    "mdy": _full,
    "my": _month_year,
    "ago": _ago,
    "in": _ahead,
    "side": _side,
    "near": _near,
    "weekday": _weekday,
    "month": _bare_month,
    "year": _bare_year,
    "clock": _unmeant,
    "weekly": _unmeant,
}
