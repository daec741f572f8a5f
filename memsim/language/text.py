"""Split a text in any script into words, stems and sentences, in linear time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import Stemmer

from memsim.language.graphemes import boundary
from memsim.language.lexicon import ABBREVIATIONS, IRREGULAR, LABELS, STOP
from memsim.language.scripts import UNSPACED, has_native_letters, marks, plain_digits
from memsim.language.word_forms import has_foreign_word, is_english, is_latin, light_stems

if TYPE_CHECKING:
    from collections.abc import Iterator


SENTENCE_LIMIT = 400
"""Maximum length of a sentence; text without punctuation is cut there."""

WORD_LIMIT = 64
"""Maximum length of a word; of longer runs, which are data, only the beginning counts."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]{1,3}(?![^\W_]))?")
_CODE = re.compile(r"[^\W_]{1,64}(?:[-./:_#@][^\W_]{1,64})+")
_JOINT = re.compile(r"[^\W_][-./:_#@][^\W_]")
_DIGIT = re.compile(r"\d")
_WIDE = re.compile(f"[{UNSPACED}]+")
_WIDE_STOP = re.compile("什么|多少|哪里|哪儿|为什么|怎么|[谁哪几吗呢了的是在我你他她它们]")
# Every repetition is bounded, so that a megabyte of full stops is not scanned from each of its
# positions.
_END = re.compile(
    r"[.!?\u2026]{1,8}[\"')\]\u201d\u2019*]{0,3}\s+"
    r"|[\u3002\uff01\uff1f]{1,8}[\"'\u300d\u300f\u201d]{0,3}\s*"
)
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"})
_stemmer = Stemmer.Stemmer("english")
_stemmer.maxCacheSize = 0


def fold(text: str) -> str:
    """Fold a text for comparison: without case and accents, with straight apostrophes."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text.translate(_QUOTES).casefold())
    bare = "".join(c for c in folded if not _is_accent(c))
    return unicodedata.normalize("NFC", bare)


def _is_accent(character: str) -> bool:
    # Other marks make other letters: Japanese voicing, Indic viramas, Thai tones.
    placed = unicodedata.combining(character)
    return placed > 0 and not (7 <= placed <= 9 or 84 <= placed <= 132)


def words(text: str) -> list[str]:
    """The words of a text, folded, in order; identifiers such as `a-17` stay whole."""
    return [*_words(text)] if len(text) <= SENTENCE_LIMIT else _found(text)


@lru_cache(maxsize=1 << 12)
def _words(text: str) -> tuple[str, ...]:
    # The same sentence is parsed for corrections, names and counts, so it is cached.
    return tuple(_found(text))


def _found(text: str) -> list[str]:
    folded = fold(text)
    if _JOINT.search(folded):
        folded, codes = _take_codes(folded)
    else:
        codes = []
    if folded.isascii():
        return codes + _WORD.findall(folded)
    return codes + [piece for word in _marked_word().findall(folded) for piece in _narrow(word)]


@lru_cache(maxsize=1)
def _marked_word() -> re.Pattern[str]:
    letter = f"(?:[^\\W_]|[{marks()}])"
    return re.compile(rf"{letter}+(?:'[^\W\d_]{{1,3}}(?!{letter}))?")


def _take_codes(folded: str) -> tuple[str, list[str]]:
    codes: list[str] = []

    def take(match: re.Match[str]) -> str:
        code = match.group()
        if not (_DIGIT.search(code) or any(c.isdigit() for c in code)):
            return code
        codes.append(code)
        return " "

    return _CODE.sub(take, folded), codes


def _narrow(word: str) -> Iterator[str]:
    # Scripts without spaces are read as pairs of characters, the usual index unit for them.
    if not _WIDE.search(word):
        yield word
        return
    for run in _WIDE_STOP.split(word):
        if run:
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))


def whole(text: str, stop: int, least: int = 0) -> int:
    """The last position from `least` to `stop` that splits no grapheme cluster."""
    place = boundary(text, stop, least=least)
    return place if place > least else max(stop, least)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a folded word, so that `moving` and `moved` are equal."""
    bare = word.removesuffix("'s").removesuffix("'")[:WORD_LIMIT]
    return str(_stemmer.stemWord(IRREGULAR.get(bare, bare)))


def content(text: str) -> list[str]:
    """The stems of a text's words that are not stop words, in order."""
    return [stem(word) for word in words(text) if word not in STOP]


def sentences(line: str) -> list[str]:
    """The sentences of one line, each a substring of it, without surrounding blanks."""
    found = (line[start:end].strip() for start, end in _spans(line))
    return [sentence for sentence in found if sentence]


def _spans(line: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(line):
        if not _abbreviates(line, start, match.start()):
            yield from _cut(line, start, match.end())
            start = match.end()
    yield from _cut(line, start, len(line))


def _abbreviates(line: str, start: int, dot: int) -> bool:
    if line[dot] != ".":
        return False
    tail = line[max(start, dot - 8) : dot]
    last = tail.rsplit(None, 1)[-1] if tail.strip() else ""
    initial = len(last) == 1 and last.isupper() and last != "I"
    return initial or last.lower() in ABBREVIATIONS


def _cut(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > SENTENCE_LIMIT:
        stop = start + SENTENCE_LIMIT
        gaps = (line.rfind(gap, start + SENTENCE_LIMIT // 2, stop) for gap in (";", ",", " "))
        cut = next((gap + 1 for gap in gaps if gap >= 0), None) or whole(line, stop, start + 1)
        yield start, cut
        start = cut
    yield start, end


# Heads of remembered lines: `- [2023-05-08] Caroline: text`, each part optional. What an assistant
# or a tool said names its role: `[2023-05-08] assistant to Caroline: text`.


ROLES: Final = frozenset({"user", "assistant", "system", "tool", "memory", "human", "ai", "agent"})
"""Speakers that are no persons."""

_CAPITAL: Final = "A-Z" + "".join(chr(c) for c in range(0xC0, 0x557) if chr(c).isupper())
_NAME: Final = r"[^\W\d_][\w'.\-]{0,30}"
_HEAD: Final = re.compile(
    r"\s{0,40}(?:[-*\u2022>]\s{1,4}|#{1,6}\s|\d{1,3}[.)]\s)?"
    r"(?:[\[(]?(?P<date>[12]\d{3}-[01]\d-[0-3]\d)"
    r"(?:[T ,]{1,2}\d\d:\d\d(?::\d\d)?(?:\s?UTC|Z)?)?"
    r"(?:,\s(?:partly\s)?replaced\s(?P<replaced>[12]\d{3}-[01]\d-[0-3]\d))?[\])]?[:,]?\s{0,4})?"
    r"(?:(?:(?P<role>assistant|tool|summary)\s(?:to|for)\s[^:\n]{1,120}?"
    rf"|(?P<who>{_NAME}(?:\s[{_CAPITAL}][\w'.\-]{{0,30}}){{0,2}})):(?:\s{{1,4}}|$))?"
)


class LineHead(NamedTuple):
    """The beginning of a line: a date and a speaker, and where they end.

    Attributes:
        who: the name or the role before a colon, as written, or empty.
        day: the date, or None.
        after_day: where the text begins if the name is part of it.
        after_who: where the text begins if the name is the speaker's.
        replaced: the day since which the line does not hold, at least in part, or None.
    """

    who: str
    day: date | None
    after_day: int
    after_who: int
    replaced: date | None = None


def read_head(line: str) -> LineHead:
    """Parse the beginning of a line."""
    head = _HEAD.match(line)
    if head is None:
        return LineHead("", None, 0, 0)
    name = "role" if head["role"] else "who"
    # A summary is no label here: it is what the memory says.
    who = "memory" if head["role"] == "summary" else head[name] or ""
    day = _day(head["date"])
    if not (head["date"] or who):
        return LineHead("", None, 0, 0)
    start = head.start(name) if who else head.end()
    return LineHead(who, day, start if head["date"] else 0, head.end(), _day(head["replaced"]))


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def split_head(line: str) -> tuple[str, str, date | None]:
    """A remembered line without its date and speaker, then these two, or empty and None."""
    head = read_head(line)
    if head.who and is_label(head.who):
        return line[head.after_day :], "", head.day
    return line[head.after_who :], head.who, head.day


def speaker_label(role: str, principal: str) -> str:
    """The speaker of a message as a remembered line names it, with the role of who is no user.

    A user's label is their name. An assistant's and a tool's also say whom they answered:
    `assistant to ana`, `tool for ana`. Without a name, which is the principal `user`, the role
    stands alone.
    """
    if role == "system":
        return role
    if role in _ADDRESSED:
        return role if principal == "user" else f"{role} {_ADDRESSED[role]} {principal}"
    first, *more = fold(principal).split(None, 1) or [""]
    # A user's name may not look like the label of an assistant or a tool.
    return f"user {principal}" if first in ROLES and (more or first != "user") else principal


_ADDRESSED: Final = {"assistant": "to", "tool": "for"}


def is_label(who: str) -> bool:
    """Whether the text before a colon is a label and no speaker."""
    return fold(who) in LABELS


# Terms that lexical rankers index and search.


Analyser = Callable[[str], list[str]]
"""Turns a text into its terms, in order, with repetitions."""

# Scripts that write words without spaces between them, and Korean, are indexed by pairs of
# characters.
_PAIRS = f"\uac00-\ud7af{UNSPACED}"
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[a-z]+)?")
_PAIRED = re.compile(rf"[{_PAIRS}]")
_ELIDED = re.compile(r"(?:all|dall|dell|nell|sull|quell)'[a-z]{3}")
_IDENTIFIER = re.compile(r"(?<![^\W_])[^\W_]++(?:[-_/.:@#][^\W_]++)+")
_HAS_DIGIT = re.compile(r"\d")
_STEMMED_LENGTH: Final = 64


def plain_terms(text: str) -> list[str]:
    """Words without case: runs of letters and digits, with an apostrophe and what follows it.

    Accents are dropped outside ASCII. Korean and scripts without spaces give pairs of characters.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    found: list[str] = []
    for word in _marked_term().findall(plain_digits(fold(text))):
        if _PAIRED.match(word):
            found += (word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.append(word)
    return found


@lru_cache(maxsize=1)
def _marked_term() -> re.Pattern[str]:
    letter = f"(?:[^\\W_{_PAIRS}]|[{marks()}])"
    return re.compile(rf"[{_PAIRS}]+|{letter}+(?:'[^\W\d_]+)?")


def index_terms(text: str) -> list[str]:
    """Porter stems of the words that are not English stop words, and whole identifiers.

    So `moving` finds `moved`, and `A-17` finds only itself, not every 17. In other languages, a
    word is also a term without its endings: `Ankara'da` finds `Ankara`.
    """
    plain = plain_terms(text)
    found = [*filter(None, map(_root, plain))]
    native = not text.isascii() and has_native_letters(text)
    if native or has_foreign_word(plain):
        found += _light_terms(plain, english=is_english(text))
    elif "'" in text:
        found += (word.partition("'")[2] for word in plain if _ELIDED.match(word))
    if _HAS_DIGIT.search(text):
        found += (code for code in _IDENTIFIER.findall(fold(text)) if _HAS_DIGIT.search(code))
    return found


def _light_terms(words: list[str], *, english: bool) -> list[str]:
    """What is left of inflected words; in an English text, of those in another script."""
    found = []
    for word in words:
        if (english and is_latin(word)) or _PAIRED.match(word):
            continue
        name, _, ending = word.partition("'")
        named = ending if len(ending) > len(name) else name
        bare = {*light_stems(named), named}
        # A question of ASCII letters alone has Porter stems only, which may be in any language.
        found += sorted({*bare, *map(_root, bare)} - {_root(word), ""})
    return found


ANALYSERS: Final[dict[str, Analyser]] = {"lower": plain_terms, "stem": index_terms}
"""Analysers by the name in a strategy's parameter."""

_porter = Stemmer.Stemmer("porter")
_porter.maxCacheSize = 0


@lru_cache(maxsize=1 << 16)
def _root(word: str) -> str:
    bare = word.removesuffix("'s")
    if bare in STOP or word in STOP:
        return ""
    return str(_porter.stemWord(bare)) if len(bare) <= _STEMMED_LENGTH else bare
