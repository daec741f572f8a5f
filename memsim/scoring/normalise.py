"""Brings texts into the one form in which answers are compared.

It shares nothing with the offline reader on purpose: a mistake in one must not be excused by the
other.

========================= ====================
written                   read as
========================= ====================
``8th of May, 2023``      ``2023-05-08``
``May 2023`` / ``May 8``  ``2023-05`` / ``--05-08``
``3 pm``, ``15:00``       ``15:00``
``twenty-five``, ``25``   ``25``
``1,250.00``              ``1250``
``A-17``, ``a17``         ``a17``
``isn't``                 ``is not``
========================= ====================
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import Stemmer

from memsim.models.lexicon import MONTHS
from memsim.scoring.identifiers import read_word, shorten
from memsim.scoring.numerals import spell_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STOP = frozenset(
    """
    the an am and are as at be been but by did do does for from had has have he her here him his i
    in is it its me my of on or our she so than that their them then there these they this those to
    was we were with you your
    """.split()  # noqa: SIM905 - words read best as words
)
"""Words that say nothing in an answer. Yes, no and not are none of them."""

_MONTH = "|".join([*MONTHS, "sept", *(month[:3] for month in MONTHS if month != "may")])
_TH = r"(?:st|nd|rd|th)?"
_VERB = r"(?!\s+(?:be|have|not|need|take|want|also|or|come|get|go|still|well)\b)"
_PLAIN = (
    r"\b(?P<article>(?:the|an?)(?=\s+[\"'(]?[^\W_])"
    r"(?!\s+(?:and|are|as|at|by|for|from|has|in|is|of|on|or|to|was|will|with)\b))"
    r"|(?P<word>[^\W_]+(?:[-._/:@&'+][^\W_]+)*)"
    r"|(?P<break>[.;!?,:()\[\]\"\n\u2014\u2013]|\s-\s)"
)
# What begins with a digit, and what begins with a month: at any other word neither is tried.
_NUMERIC = (
    r"(?=-?\d)(?:"
    r"(?<![\w.-])(?P<iso>(?P<y1>\d{4})-(?P<m1>\d\d?)-(?P<d1>\d\d?))(?![\d-])"
    r"|(?<![\w/.])(?P<ymd>(?P<y2>\d{4})/(?P<m2>\d\d?)/(?P<d2>\d\d?))(?![\w/])"
    r"|(?<![\w/.])(?P<slash>(?P<a3>\d\d?)[/.](?P<b3>\d\d?)[/.](?P<y3>\d{4}))(?![\w/])"
    rf"|(?<![\w.])(?P<dmy>(?P<d4>\d\d?){_TH}\s+(?:of\s+)?(?P<m4>{_MONTH})\b\.?"
    rf"(?:,?\s+(?P<y4>\d{{4}})\b|{_VERB}))"
    r"|(?<![\w:.])(?P<clock>(?P<hour>\d\d?)(?::(?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b)"
    r"|(?<![\w,.])(?P<grouped>-?\d{1,3}(?:,\d{3})+(?:\.\d+)?)(?![\d,]*\d)"
    r"|(?<![\w-])(?P<below>-\d+(?:\.\d+)?)(?![\w-])"
    r")"
)
_MONTHLY = (
    rf"\b(?P<mdy>(?P<m5>{_MONTH})\b\.?\s+(?:the\s+)?(?P<d5>\d\d?){_TH}\b"
    rf"(?:,?\s+(?P<y5>\d{{4}})\b)?)(?![:.,]\d)"
    rf"|\b(?P<my>(?P<m6>{_MONTH})\b\.?,?\s+(?:of\s+)?(?P<y6>\d{{4}})\b)"
)
_TOKEN = re.compile(rf"{_NUMERIC}|{_MONTHLY}|(?P<percent>%)|{_PLAIN}")
_WORDS_ONLY = re.compile(_PLAIN)
_DIGIT = re.compile(r"\d")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2011": "-", "\u2010": "-"})
_stemmer = Stemmer.Stemmer("porter")
_stemmer.maxCacheSize = 0


class Words(NamedTuple):
    """A text as its comparable words.

    `tokens` are words, numbers, dates and identifiers without articles; `stems` are the same with
    word endings off; `clauses` numbers the clause that each stands in.
    """

    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    clauses: tuple[int, ...]


def fold(text: str) -> str:
    """The text without case, accents and invisible characters, its compatibility forms resolved."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_QUOTES).casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", plain))
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=1 << 14)
def read(text: str) -> Words:
    """The comparable words of a text, in order."""
    tokens: list[str] = []
    clauses: list[int] = []
    for place, clause in enumerate(_clauses(fold(text))):
        found = spell_out(clause)
        tokens.extend(found)
        clauses.extend([place] * len(found))
    return Words(tuple(tokens), tuple(stem(t) for t in tokens), tuple(clauses))


@lru_cache(maxsize=1 << 16)
def stem(token: str) -> str:
    """A word without its ending, after Porter; numbers, dates and identifiers stay as they are."""
    return str(_stemmer.stemWord(token)) or token if token.isalpha() else token


def content(words: Words) -> tuple[str, ...]:
    """The different stems that carry meaning; all of them when none does."""
    kept = dict.fromkeys(s for t, s in zip(words.tokens, words.stems, strict=True) if t not in STOP)
    return tuple(kept or dict.fromkeys(words.stems))


def places(needle: Sequence[str], haystack: Sequence[str]) -> list[int]:
    """Where one sequence of words begins in another."""
    size = len(needle)
    if not size:
        return []
    first, rest = needle[0], tuple(needle)
    return [
        i
        for i, token in enumerate(haystack[: len(haystack) - size + 1])
        if token == first and tuple(haystack[i : i + size]) == rest
    ]


def _clauses(folded: str) -> Iterator[list[str]]:
    clause: list[str] = []
    pattern = _TOKEN if _DIGIT.search(folded) else _WORDS_ONLY
    for match in pattern.finditer(folded):
        kind = match.lastgroup
        if kind == "break" or match.group() in {"but", "however", "although", "though"}:
            yield clause
            clause = []
        elif kind == "word":
            clause.extend(read_word(match.group()))
        elif kind != "article":
            clause.extend(_read_value(match))
    yield clause


def _read_value(match: re.Match[str]) -> Sequence[str]:
    groups = match.groupdict()
    if groups["percent"]:
        return ("percent",)
    if groups["clock"]:
        return _read_clock(groups)
    if groups["grouped"] or groups["below"]:
        return (shorten(match.group().replace(",", "")),)
    return _read_date(groups) or read_word(match.group())


def _read_clock(groups: dict[str, str | None]) -> Sequence[str]:
    hour = int(groups["hour"] or 0)
    if hour > 12:
        return (f"{hour}:{groups['minute'] or '00'}",)
    hour = hour % 12 + (12 if groups["half"] == "p" else 0)
    return (f"{hour:02}:{groups['minute'] or '00'}",)


def _read_date(groups: dict[str, str | None]) -> Sequence[str]:
    if groups["slash"]:
        first, second = int(groups["a3"] or 0), int(groups["b3"] or 0)
        if first <= 12 and second <= 12 and first != second:
            return (groups["slash"].replace(".", "/"),)
        return _date_token(groups["y3"], min(first, second), max(first, second))
    for n in "12456":
        if name := groups[f"m{n}"]:
            month = int(name) if name.isdecimal() else _month(name)
            day = groups.get(f"d{n}")
            return _date_token(groups[f"y{n}"], month, int(day) if day else None)
    return ()


def _month(name: str) -> int:
    return next(n for n, month in enumerate(MONTHS, start=1) if month.startswith(name[:3]))


def _date_token(year: str | None, month: int, day: int | None) -> Sequence[str]:
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return ()
    if day is None:
        return (f"{year}-{month:02}",)
    return (f"{year or '-'}-{month:02}-{day:02}",)
