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
``7731입니다``             ``7731``, ``입니다``
``大阪で``                 ``大``, ``阪``, ``で``
========================= ====================

Texts in other languages are brought into one form first: native digits, dates and grouped numbers
by `memsim.language.native_values`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import Stemmer

from memsim.language.lexicon import MONTHS
from memsim.language.native_values import (
    join_groups,
    part_prefixes,
    part_scripts,
    plain_dates,
    plain_values,
)
from memsim.language.scripts import (
    UNSPACED,
    has_native_letters,
    marks,
    plain_digits,
    without_points,
)
from memsim.language.word_forms import is_english, is_latin, is_surely_foreign

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
_CAPITALISED = re.compile(r"\b[A-Z][a-z]{3,}\b")
_ELIDED = re.compile(
    r"\b(?:(?:[Qq]u|[Uu]n|[Aa]ll|[Dd]all|[Dd]ell|[Nn]ell|[Ss]ull|[Qq]uell|[Gg]l|[Ll]orsqu|[Jj]usqu)['\u2019](?=[^\W\d_]{2})"
    r"|[ldLD]['\u2019](?=[a-z]{2}))"
)
"""Articles and prepositions that lose their vowel, as no English name does: `all'Aquila`."""
_ELIDED_SHORT = re.compile(r"\b[cdjlmst]'(?=[^\W\d_]{2})")
"""The same in texts that are surely in another language: `L'Aquila`."""
_ELIDED_NE = re.compile(r"\b[nN]['\u2019](?=[^\W\d_]{2})")
"""The French `ne` before a vowel."""

LONGEST_NAME = 12
"""Characters of a script without spaces that are compared as one name."""

_UNSPACED = re.compile(f"[{UNSPACED}]")
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
    # sentence. Signs on a character belong to it.
    if part.isascii():
        yield part
    else:
        yield from _units().findall(part)


@lru_cache(maxsize=1)
def _units() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}][{marks()}]*|[^{UNSPACED}]+")


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
_SPOKEN = (
    r"\b(?P<article>(?:the|an?)(?=\s+[\"'(]?[^\W_])"
    r"(?!\s+(?:and|are|as|at|by|for|from|has|in|is|of|on|or|to|was|will|with)\b))"
    r"|(?P<word>{word}(?:[-._/:@&'+]{word})*)"
    r"|(?P<break>[.;!?,:()\[\]\"\n\u2014\u2013{stops}]|\s-\s)"
)
_PLAIN = _SPOKEN.replace("{word}", r"[^\W_]+").replace("{stops}", "")
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
_STOPS = "\u3002\u3001\u060c\u061b\u061f\u0964\u0965\u0589\u055d\u06d4"
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_QUOTES = str.maketrans(
    {"\u0131": "i", "\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2011": "-", "\u2010": "-"}
)
_stemmer = Stemmer.Stemmer("porter")
_stemmer.maxCacheSize = 0


class AnswerWords(NamedTuple):
    """A text as its comparable words.

    `tokens` are words, numbers, dates and identifiers without articles; `stems` are the same with
    word endings off; `clauses` numbers the clause that each stands in. `inflected` are the places
    of words that may have an ending or particle which `stems` keeps: none in English. `unsure`
    says that the text may be English, so that only the endings of other languages count. `foreign`
    says that nothing in it is English, so that words of other languages may deny something.
    """

    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    clauses: tuple[int, ...]
    inflected: frozenset[int] = frozenset()
    unsure: bool = False
    foreign: bool = False


def fold(text: str) -> str:
    """The text without case, accents and invisible characters, its compatibility forms resolved."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_QUOTES).casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", plain))
    return plain_digits(without_points(unicodedata.normalize("NFC", bare)))


@lru_cache(maxsize=1 << 14)
def read_words(text: str) -> AnswerWords:
    """The comparable words of a text, in order."""
    tokens: list[str] = []
    clauses: list[int] = []
    english = is_english(text)
    for place, clause in enumerate(_clauses(_plain_text(text, english=english))):
        found = spell_out(clause)
        tokens.extend(found)
        clauses.extend([place] * len(found))
    stems = tuple(stem(t) for t in tokens)
    unsure = not (has_native_letters(text) or is_surely_foreign(text))
    inflected = _inflected(text, tokens, english=english, unsure=unsure)
    return AnswerWords(
        tuple(tokens), stems, tuple(clauses), inflected, unsure=unsure, foreign=not english
    )


def _plain_text(text: str, *, english: bool) -> str:
    if english:
        return fold(text) if text.isascii() else part_scripts(fold(text))
    text = part_prefixes(_ELIDED_NE.sub("ne ", _ELIDED.sub("", text)))
    if not has_native_letters(text):
        return plain_dates(fold(text))
    return plain_values(_ELIDED_SHORT.sub("", fold(join_groups(text))))


def _inflected(text: str, tokens: Sequence[str], *, english: bool, unsure: bool) -> frozenset[int]:
    """The places of words with endings.

    Of a text that may be English, these are its names; of an English one, words of another script.
    """
    if english:
        endings = () if unsure else (not is_latin(token) for token in tokens)
    elif unsure:
        names = frozenset(map(str.lower, _CAPITALISED.findall(text)))
        endings = (token in names for token in tokens)
    else:
        endings = (not any(c.isdigit() for c in token) for token in tokens)
    return frozenset(place for place, ends in enumerate(endings) if ends)


@lru_cache(maxsize=1 << 16)
def stem(token: str) -> str:
    """A word without its ending, after Porter; numbers, dates and identifiers stay as they are."""
    return str(_stemmer.stemWord(token)) or token if token.isalpha() else token


def content(words: AnswerWords) -> tuple[str, ...]:
    """The different stems that carry meaning; all of them when none does.

    Characters of a script without spaces that stand in a row are one stem, or pairs of characters
    where the row is long.
    """
    kept = dict.fromkeys(s for t, s in zip(words.tokens, words.stems, strict=True) if t not in STOP)
    runs = unspaced_runs(words) if words.inflected else ()
    if runs:
        kept = dict.fromkeys(s for s in kept if not is_unspaced(s))
        kept |= dict.fromkeys(piece for run in runs for piece in _pieces(run))
    return tuple(kept or dict.fromkeys(words.stems))


def unspaced_runs(words: AnswerWords, hidden: Container[int] = ()) -> tuple[str, ...]:
    """The rows of characters of a script without spaces, without hidden places."""
    runs: list[str] = []
    last = -2
    for place in sorted(words.inflected):
        if place in hidden or not is_unspaced(words.tokens[place]):
            continue
        if place == last + 1 and words.clauses[place] == words.clauses[last]:
            runs[-1] += words.tokens[place]
        else:
            runs.append(words.tokens[place])
        last = place
    return tuple(runs)


def is_unspaced(stem: str) -> bool:
    """Whether a word is of a script without spaces."""
    return not stem.isascii() and _UNSPACED.match(stem) is not None


def _pieces(run: str) -> Sequence[str]:
    units = _units().findall(run)
    if len(units) <= LONGEST_NAME:
        return (run,)
    return [f"{one}{other}" for one, other in pairwise(units)]


def holds_run(written: str, run: str) -> bool:
    """Whether a row of characters holds another, ending where a character ends with its signs."""
    place = written.find(run)
    while place >= 0:
        end = place + len(run)
        if end == len(written) or unicodedata.category(written[end]) not in {"Mn", "Mc"}:
            return True
        place = written.find(run, place + 1)
    return False


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


@lru_cache(maxsize=2)
def _native(*, numbered: bool) -> re.Pattern[str]:
    word = f"(?:[^\\W_]|[{marks()}])+"
    spoken = _SPOKEN.replace("{word}", word).replace("{stops}", _STOPS)
    return re.compile(f"{_NUMERIC}|{_MONTHLY}|(?P<percent>%)|{spoken}" if numbered else spoken)


def _clauses(folded: str) -> Iterator[list[str]]:
    clause: list[str] = []
    numbered = _DIGIT.search(folded) is not None
    pattern = (
        _native(numbered=numbered) if not folded.isascii() else _TOKEN if numbered else _WORDS_ONLY
    )
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
