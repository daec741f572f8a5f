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
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from memsim.language.lexicon import MONTHS

# Reads what is written without a space: plain words, contractions, compounds and identifiers.

_SHORT = {
    **{month[:3]: month for month in MONTHS if month not in {"march", "may"}},
    "sept": "september",
    "tue": "tuesday",
    "tues": "tuesday",
    "thu": "thursday",
    "thur": "thursday",
    "thurs": "thursday",
    "fri": "friday",
}
_ANY_DIGIT = re.compile(r"\d")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_CONTRACTED = re.compile(r"n't$|'(?:s|re|ve|ll|d|m)?$")


def read_word(chunk: str) -> Sequence[str]:
    """The comparable words of a run of letters, digits and the marks between them."""
    if chunk.isalpha() and chunk.isascii():
        return _whole(chunk)
    if "@" in chunk:
        return (chunk,)
    if _ANY_DIGIT.search(chunk) or any(c.isdigit() for c in chunk):
        return tuple(_identifiers(chunk))
    if "'" in chunk:
        chunk, negated = _expand(chunk)
    else:
        negated = ()
    if re.fullmatch(r"[^\W_](?:\.[^\W_])+", chunk):
        return (chunk.replace(".", ""),)
    parts = (word for part in re.split(r"[-._/:&+]", chunk) for word in _narrow(part))
    return (*(w for part in parts for w in _whole(part)), *negated)


def _whole(word: str) -> Sequence[str]:
    if word == "cannot":
        return ("can", "not")
    return (_SHORT.get(word, word),)


def _expand(chunk: str) -> tuple[str, tuple[str, ...]]:
    if chunk.endswith("n't"):
        stump = {"wo": "will", "ca": "can", "sha": "shall"}.get(chunk[:-3], chunk[:-3])
        return stump, ("not",)
    return _CONTRACTED.sub("", chunk).replace("'", ""), ()


def _narrow(part: str) -> Iterator[str]:
    # Scripts without spaces are read character by character, so that a name is found in its
    # sentence.
    run = ""
    for character in part:
        if _WIDE.match(character):
            if run:
                yield run
            yield character
            run = ""
        else:
            run += character
    if run:
        yield run


_PIECE = re.compile(r"[-_/:&+'.@]|[^-_/:&+'.@]+")


def _identifiers(chunk: str) -> Iterator[str]:
    """Parts what only stands side by side (`24-hour`, `3-4`), keeps names (`A-17`) together."""
    pieces = _PIECE.findall(chunk)
    current = pieces[0]
    for joiner, piece in zip(pieces[1::2], pieces[2::2], strict=False):
        glue = _glue(current, joiner, piece, alone=len(pieces) == 3)
        if glue is None:
            yield from _piece(current)
            current = piece
        else:
            current += glue + piece
    yield from _piece(current)


def _glue(left: str, joiner: str, right: str, *, alone: bool) -> str | None:
    digits = left[-1].isdigit(), right[0].isdigit()
    if joiner == "." or (joiner in "/:" and all(digits)):
        return joiner
    if joiner == "'":
        return None if right == "s" else ""
    if joiner not in "-_" or not any(digits):
        return None
    if all(digits):
        return None if alone and _is_range(left, right) else ""
    word, longest = (left, 5) if digits[1] else (right, 2)
    return "" if len(word) <= longest or any(c.isdigit() for c in word) else None


def _is_range(left: str, right: str) -> bool:
    numeric = left.isdecimal() and right.isdecimal()
    return numeric and (len(left) == len(right) or max(len(left), len(right)) <= 2)


_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


def _piece(piece: str) -> Iterator[str]:
    if ordinal := _ORDINAL.fullmatch(piece):
        yield ordinal.group(1)
    elif re.fullmatch(r"\d+\.\d+", piece):
        yield shorten(piece)
    elif re.fullmatch(r"\d:\d\d", piece):
        yield f"0{piece}"
    elif piece != "s":
        yield from _narrow(piece)


def shorten(number: str) -> str:
    """A number without decimals that say nothing, so that `1250.00` is `1250`."""
    whole, _, decimals = number.partition(".")
    return whole if not decimals.strip("0") else number


# Reads number words, so that `twenty-five` and `25` are one answer.

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_UNITS = {word: n for n, word in enumerate(_SMALL.split())}
_ROUND = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * n for n, word in enumerate(_ROUND.split(), start=2)}
_TIMES = {"dozen": 12, "hundred": 100}
_SCALES = {"thousand": 1000, "million": 10**6, "billion": 10**9}
_ALL = frozenset({*_UNITS, *_TENS, *_TIMES, *_SCALES})


def spell_out(words: Sequence[str]) -> list[str]:
    """The words with every number written in digits: `two hundred and five` becomes `205`."""
    if _ALL.isdisjoint(words):
        return list(words)
    return list(_spelled(words))


def _spelled(words: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(words):
        number = _Number()
        end = number.take(words, place)
        if end == place:
            yield words[place]
            place += 1
        else:
            yield number.digits
            place = end


class _Number:
    """A number while it is being read: `total` is closed, `part` still grows."""

    def __init__(self) -> None:
        self.total = 0.0
        self.part: float | None = None

    def take(self, words: Sequence[str], place: int) -> int:
        """Read as far as the words make one number, and return where they stop doing so."""
        start = place
        while place < len(words):
            word = words[place]
            linked = word == "and" and place > start and words[place - 1] in _TIMES | _SCALES
            more = words[place + 1 : place + 2]
            joins = linked and more and self._fits_small(more[0])
            if not joins and not self._grow(word, first=place == start, more=more):
                break
            place += 1
        return place

    @property
    def digits(self) -> str:
        """The number in digits."""
        value = self.total + (self.part or 0)
        return str(int(value)) if value == int(value) else repr(value)

    def _fits_small(self, word: str) -> bool:
        part = self.part or 0
        if word in _UNITS:
            tens = part % 100 >= 20 and part % 10 == 0
            return self.part is None or (tens and _UNITS[word] < 10) or self._round(part)
        return word in _TENS and (self.part is None or self._round(part))

    @staticmethod
    def _round(part: float) -> bool:
        return part > 0 and part % 100 == 0

    def _grow(self, word: str, *, first: bool, more: Sequence[str]) -> bool:
        if word in _UNITS or word in _TENS:
            if not self._fits_small(word):
                return False
            self.part = (self.part or 0) + _UNITS.get(word, 0) + _TENS.get(word, 0)
        elif word in _TIMES and (self.part is None or self.part < 100):
            self.part = (self.part or 1) * _TIMES[word]
        elif word in _SCALES and (self.part is not None or first):
            self.total += (self.part or 1) * _SCALES[word]
            self.part = None
        elif first and more and more[0] in _SCALES | _TIMES and _plain(word):
            self.part = float(word)
        else:
            return False
        return True


def _plain(word: str) -> bool:
    whole, _, decimals = word.partition(".")
    return whole.isdecimal() and len(word) <= 12 and (not decimals or decimals.isdecimal())


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


class AnswerWords(NamedTuple):
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
def read_words(text: str) -> AnswerWords:
    """The comparable words of a text, in order."""
    tokens: list[str] = []
    clauses: list[int] = []
    for place, clause in enumerate(_clauses(fold(text))):
        found = spell_out(clause)
        tokens.extend(found)
        clauses.extend([place] * len(found))
    return AnswerWords(tuple(tokens), tuple(stem(t) for t in tokens), tuple(clauses))


@lru_cache(maxsize=1 << 16)
def stem(token: str) -> str:
    """A word without its ending, after Porter; numbers, dates and identifiers stay as they are."""
    return str(_stemmer.stemWord(token)) or token if token.isalpha() else token


def content(words: AnswerWords) -> tuple[str, ...]:
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
