"""Write dates, times and grouped numbers of many languages in one plain form.

=========================== ==============
written                     read as
=========================== ==============
``2026年3月5日``             ``2026-03-05``
``5. März 2026``            ``2026-03-05``
``5 марта 2026 г.``         ``2026-03-05``
``2026. március 5-én``      ``2026-03-05``
``5 มีนาคม 2569``            ``2026-03-05``
``2026-yil 5-mart``          ``2026-03-05``
``Marso 5, 2026``            ``2026-03-05``
``2026 оны 3 сарын 5``       ``2026-03-05``
``15時30分``                 ``15:30``
``1.250.000,50``            ``1250000.50``
``12,5``                    ``12.5``
=========================== ==============
"""

# ruff: noqa: RUF001, RUF002 - letters of other scripts stand where they are meant

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memsim.language.lexicon import MONTHS
from memsim.language.month_names import MONTH_NAMES
from memsim.language.scripts import CASELESS
from memsim.language.word_forms import bare

LONGEST_ENDING: Final = 4
"""Letters after the beginning of a month's name: `maaliskuussa`, `martında`."""

BUDDHIST: Final = 543
"""Years that the Thai calendar is ahead."""

_NUMBER_AT: Final = re.compile(r"\d")
_EAST: Final = re.compile(
    r"(?:(?P<year>\d{4})\s?[年년]\s?)?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日日号號일]"
    r"|(?P<years>\d{4})\s?[年년]\s?(?P<months>\d{1,2})\s?[月월]"
)
_VIETNAMESE: Final = re.compile(
    r"(?:\bngay\s)?(?<!\d)(?P<day>\d{1,2})\sthang\s(?P<month>\d{1,2})(?:,?\s(?:nam\s)?(?P<year>\d{4}))?"
)
_MONGOLIAN: Final = re.compile(
    r"(?<!\d)(?P<year>\d{4})\sоны?\s(?P<month>\d{1,2})(?:[\s-]?(?:дугаар|дүгээр|р))?\sсарын\s(?P<day>\d{1,2})"
)
_WORD: Final = r"[^\W\d_][^\s\d.,;:!?()]{1,17}"
_DAY_FIRST: Final = re.compile(
    rf"(?<![\w.,:])(?<!\d-)(?P<day>\d{{1,2}})(?:\.|-?(?:er|re|го|е|a|η|ა))?\s?(?:de\s|d'|of\s|ng\s)?"
    rf"(?P<name>{_WORD})\.?(?:,?\s(?:del?\s)?(?P<year>\d{{4}})(?![\d.,:-]*\d))?"
)
_YEAR_FIRST: Final = re.compile(
    rf"(?<![\w.,:-])(?P<year>\d{{4}})(?:\.|\s(?:m|г|р|თ|թ|gada|წლის|ж)\b\.?)?\s"
    rf"(?P<name>{_WORD})\.?\s(?P<day>\d{{1,2}})(?!\d)"
)
_TURKIC: Final = re.compile(
    rf"(?<![\w.,:-])(?P<year>\d{{4}})(?:-?c[iu])?[\s-]?(?:[yi]il|il|жыл)[^\W\d_]{{0,4}}\s"
    rf"(?P<day>\d{{1,2}})[\s-](?P<name>{_WORD})"
)
_MONTH_FIRST: Final = re.compile(
    rf"(?<![\w])(?P<name>{_WORD})\s(?P<day>\d{{1,2}}),?\s(?P<year>\d{{4}})(?![\d.,:-]*\d)"
)
_NO_DAY: Final = re.compile(
    rf"(?<![\w])(?P<name>{_WORD})\.?\s(?:del?\s)?(?P<year>\d{{4}})(?![\d.,:-]*\d)"
)
_NAMING: Final = (_TURKIC, _YEAR_FIRST, _DAY_FIRST, _MONTH_FIRST, _NO_DAY)
_CLOCK_SIGNS: Final = "時时点點시"
_CLOCK: Final = re.compile(
    r"(?<!\d)(?P<hour>\d{1,2})\s?[時时点點시]\s?(?:(?P<minute>\d{1,2})\s?[分분])?"
)
_GROUP: Final = re.compile(r"\d[.,]\d")
_GROUPS: Final = re.compile(
    r"(?<![\d.,])\d{1,3}(?:(?:\.\d{3}){2,}(?:,\d+)?|\.\d{3},\d+)(?!\d|[.,]\d)"
    r"|(?<![\d.,])\d{1,2}(?:,\d{2})+,\d{3}(?![\d]|,\d)"
    r"|(?<![\d.,])\d+,\d{1,2}(?![\d]|[.,]\d)"
)
_TYPOGRAPHIC: Final = re.compile("(?<=\\d)[\u00a0\u2009\u202f\u066c](?=\\d{3}(?!\\d))")
_SEAM: Final = re.compile(rf"(?<=[0-9a-z])(?=[{CASELESS}])|(?<=[{CASELESS}])-?(?=[0-9a-z])")
_NUMBER_ENDING: Final = re.compile(r"(?<=\d)[-:'](?=[^\W\d_]{1,6}\b)")

_JOINED_PREFIX: Final = re.compile(
    r"(?<![\w-])(?:(?:ngu|nge|nga|yi|ku|ke|ika)-(?=\d)"
    r"|(?:n(?=[DG])|m(?=B)|g(?=C)|b(?=P)|d(?=T)|bh(?=F)|t(?=[SAEIOU])|h(?=[AEIOU]))"
    r"(?=[A-Z][^\W\d_A-Z]{2}))"
)
"""Zulu copulas and Malay or Tagalog ordinals before a number, Irish eclipsis before a name."""


def join_groups(text: str) -> str:
    """The text with numbers grouped by narrow or fixed spaces written as one: `1\u202f250`."""
    return text if text.isascii() else _TYPOGRAPHIC.sub("", text).replace("\u066b", ".")


def part_prefixes(text: str) -> str:
    """The text without prefixes that only case or a hyphen shows: `ngu-7731`, `nGaillimh`."""
    return _JOINED_PREFIX.sub("", text)


def plain_dates(folded: str) -> str:
    """A folded text with dates that name a month and a year in plain form."""
    if _NUMBER_AT.search(folded):
        # An English date may begin with its month, however that is misspelt.
        for pattern in (p for p in _NAMING if p is not _MONTH_FIRST):
            folded = pattern.sub(_with_year, folded)
    return folded


def plain_values(folded: str) -> str:
    """A folded text in a language besides English, with its values in plain form."""
    if not _NUMBER_AT.search(folded):
        return folded
    text = folded
    # A pattern that no text begins to match costs more than a look for what it cannot do without.
    if "月" in text or "월" in text:
        text = _EAST.sub(_eastern, text)
    if "thang" in text:
        text = _VIETNAMESE.sub(_numbered, text)
    if "сарын" in text:
        text = _MONGOLIAN.sub(_numbered, text)
    for pattern in _NAMING:
        text = pattern.sub(_named, text)
    if any(sign in text for sign in _CLOCK_SIGNS):
        text = _CLOCK.sub(lambda at: f" {int(at['hour']):02}:{int(at['minute'] or 0):02} ", text)
    if _GROUP.search(text):
        text = _GROUPS.sub(_ungrouped, text)
    return _SEAM.sub(" ", _NUMBER_ENDING.sub(" ", text))


def part_scripts(folded: str) -> str:
    """A folded text with a space between a number or Latin word and another script beside it."""
    return _SEAM.sub(" ", folded)


def _eastern(date: re.Match[str]) -> str:
    if date["months"]:
        return f" {date['years']}-{int(date['months']):02} "
    return _numbered(date)


def _numbered(date: re.Match[str]) -> str:
    return _written(date["year"], int(date["month"]), date["day"]) or date.group()


def _with_year(date: re.Match[str]) -> str:
    return _named(date) if date["year"] else date.group()


def _named(date: re.Match[str]) -> str:
    month = _month(date["name"])
    groups = date.groupdict()
    if not month:
        return date.group()
    return _written(groups["year"], month, groups.get("day")) or date.group()


def _written(year: str | None, month: int, day: str | None) -> str:
    if not 1 <= month <= 12 or not 1 <= int(day or 1) <= 31:
        return ""
    if year and int(year) >= 2400:
        year = str(int(year) - BUDDHIST)
    if year is None:
        return f" {MONTHS[month - 1]} {int(day or 1)} "
    return f" {year}-{month:02}" + (f"-{int(day):02} " if day else " ")


def _month(name: str) -> int:
    """The month that a word names, 1 to 12; 0 for none, and for English names."""
    if name in MONTHS:
        return 0
    known = _beginnings()
    least = max(2, len(name) - LONGEST_ENDING)
    found = (known.get(name[:size], 0) for size in range(len(name), least - 1, -1))
    return next(filter(None, found), 0)


@lru_cache(maxsize=1)
def _beginnings() -> dict[str, int]:
    months = {}
    for line in MONTH_NAMES:
        for number, name in enumerate(line.split(), start=1):
            if name == "-":
                continue
            months[bare(name)] = number
            if "\u0590" <= name[0] <= "\u05ff":
                months[bare(f"ב{name}")] = number
    return months


def _ungrouped(number: re.Match[str]) -> str:
    text = number.group()
    if "." in text or text.count(",") > 1:
        text = text.replace(".", "") if "." in text else text.replace(",", "")
    return text.replace(",", ".")
