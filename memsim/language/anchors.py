"""Find what a message can be recognised by: identifiers, numbers, names and words with content.

A value counts as a whole: `A-17` is not said by `A-170`, and `17` is not said by `1,700`.
Scripts without spaces have identifiers, numbers, quoted names and words in katakana or Latin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from memsim.language.common_words import COMMON_WORDS
from memsim.language.lexicon import LIGHT, STOP
from memsim.language.month_names import MONTH_NAMES
from memsim.language.text import fold, stem

AnchorKind = Literal["identifier", "number", "name", "word"]
ANCHOR_KINDS: Final[tuple[AnchorKind, ...]] = ("identifier", "number", "name", "word")
"""From the most exact one on."""

MOST_TEXT: Final = 20_000
"""Characters of a message that are read; of longer ones only the beginning counts."""

_SHORTEST_WORD: Final = 4
_SHORTEST_NAME: Final = 3
_LONGEST: Final = 80
_NOUN_CAPITALS: Final = 0.25
"""Share of capitals among a text's words from which on they do not mark names, as in German."""

_FEWEST_WORDS: Final = 12
_READ: Final = 2_000
_DAYS: Final = frozenset(
    str.split(
        """
        monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch
        donnerstag freitag samstag sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi
        dimanche lunes martes miercoles jueves viernes sabado domingo lunedi martedi mercoledi
        giovedi venerdi sabato domenica segunda-feira terca-feira quarta-feira quinta-feira
        sexta-feira segunda terca quarta quinta sexta feira maandag dinsdag woensdag donderdag
        vrijdag zaterdag zondag понедельник вторник среда среду четверг пятница пятницу суббота
        субботу воскресенье january february march april may june july august september october
        november december mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul
        aug sep sept oct nov dec
        """
    )
)
_MONTHS: Final = frozenset(
    fold(name) for line in MONTH_NAMES for name in line.split() if len(name) > 1
)
CALENDAR_WORDS: Final = _DAYS | _MONTHS
"""Folded names of weekdays and months, which are no values."""

_WIDE: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff"
_LETTER: Final = f"[^\\W_{_WIDE}]"
_MONTH_STEMS: Final = tuple(sorted(m for m in _MONTHS if len(m) > 4 and not m.isascii()))
_TOKEN: Final = re.compile(
    r"(?P<quoted>[「『《“][^「」『』《》“”\n]{2,40}[」』》”])"
    r"|(?P<katakana>[ァ-ヴー]{3,40})"
    r"|(?P<amount>[$€£¥]\d{1,20}(?:[.,]\d{1,20}){0,8})"
    rf"|(?P<joined>{_LETTER}{{1,64}}(?:[-./:_#@,]{{1,3}}{_LETTER}{{1,64}}){{1,16}})"
    rf"|(?P<word>{_LETTER}{{1,64}}(?:['’]{_LETTER}{{1,3}}(?!{_LETTER}))?)"
)
_HAS_WIDE: Final = re.compile(f"[{_WIDE}]")
_ORDINAL: Final = re.compile(r"\d{1,4}(?:st|nd|rd|th|s|am|pm|er|e|º|ª)")
_SENTENCE_END: Final = re.compile(r"[.!?…:;\n\"“”*#>()\[\]|-]\s*\Z")


class Anchor(NamedTuple):
    """A value in a text: the same `key` is the same value; `text` is how it is written there."""

    kind: AnchorKind
    key: str
    text: str
    start: int
    end: int


def anchors(text: str) -> tuple[Anchor, ...]:
    """The values and words of a text in order, without weekdays, months and common words."""
    return _anchors(text[:MOST_TEXT])


@lru_cache(maxsize=1 << 10)
def _anchors(text: str) -> tuple[Anchor, ...]:
    found: list[Anchor] = []
    for anchor in _found(text):
        before = found[-1] if found else None
        if before and before.kind == anchor.kind == "name" and anchor.start - before.end == 1:
            joined = text[before.start : anchor.end]
            if "\n" not in joined and len(joined) <= _LONGEST:
                key = f"{before.key} {anchor.key}"
                found[-1] = Anchor("name", key, joined, before.start, anchor.end)
                continue
        found.append(anchor)
    return tuple(found)


def _found(text: str) -> Iterator[Anchor]:
    nouns = _has_noun_capitals(text)
    for match in _TOKEN.finditer(text):
        written, start, kind = match.group(), match.start(), match.lastgroup
        if kind == "quoted":
            inner = written[1:-1]
            if inner.strip() == inner and _HAS_WIDE.search(inner):
                yield Anchor("name", fold(inner), inner, start + 1, match.end() - 1)
        elif kind == "katakana":
            yield Anchor("name", fold(written), written, start, match.end())
        elif kind == "amount":
            yield Anchor("number", fold(written), written, start, match.end())
        elif kind == "joined":
            yield from _joined(written, start, lambda word, at: _word(text, word, at, nouns=nouns))
        else:
            yield from _word(text, written, start, nouns=nouns)


def _joined(
    written: str, start: int, each: Callable[[str, int], Iterator[Anchor]]
) -> Iterator[Anchor]:
    """An identifier or number as a whole; else the words that stand together."""
    whole = written if "," not in written or _is_number(written) else ""
    if whole and (any(map(str.isdigit, whole)) or any(c in "/_@" for c in whole)):
        yield from _exact(whole, start)
        return
    for part in re.finditer(r"[^\W_]+", written):
        yield from each(part.group(), start + part.start())


def _is_number(text: str) -> bool:
    return not any(map(str.isalpha, text))


def _exact(written: str, start: int) -> Iterator[Anchor]:
    if len(written) < 2 or len(written) > _LONGEST or _ORDINAL.fullmatch(written.lower()):
        return
    if any(map(str.isdigit, written)) or any(c in "/_@" for c in written):
        kind: AnchorKind = "number" if _is_number(written) else "identifier"
        yield Anchor(kind, fold(written), written, start, start + len(written))


def _word(text: str, written: str, start: int, *, nouns: bool) -> Iterator[Anchor]:
    if any(map(str.isdigit, written)):
        yield from _exact(written, start)
        return
    bare = re.sub("['’]s?$", "", written)
    key = fold(bare)
    if len(key) < _SHORTEST_NAME or _is_common(key):
        return
    capital = written[0].isupper()
    if capital and not nouns and not _begins(text, start):
        yield Anchor("name", key, bare, start, start + len(bare))
    elif len(key) >= _SHORTEST_WORD and (nouns or not capital):
        yield Anchor("word", stem(key), bare, start, start + len(bare))


@lru_cache(maxsize=1 << 14)
def _is_common(key: str) -> bool:
    if key in STOP or key in LIGHT or key in COMMON_WORDS:
        return True
    return key in _DAYS or key in _MONTHS or key.startswith(_MONTH_STEMS)


def _begins(text: str, start: int) -> bool:
    """Whether a word begins a sentence, where a capital says nothing."""
    before = text[max(0, start - 4) : start]
    return (not before.strip() and start < 4) or bool(_SENTENCE_END.search(before))


def _has_noun_capitals(text: str) -> bool:
    found = _TOKEN.finditer(text[:_READ])
    letters: list[str] = [m["word"] for m in found if m["word"] and not _begins(text, m.start())]
    lower = sum(word[0].islower() for word in letters)
    capital = sum(word[0].isupper() and not word.isupper() for word in letters)
    return lower + capital >= _FEWEST_WORDS and capital > _NOUN_CAPITALS * (lower + capital)
