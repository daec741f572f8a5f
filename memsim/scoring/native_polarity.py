"""Tell denials, outdated values and answers that do not know in languages besides English.

Tables of phrases tell them (`polarity_words`); no model is asked. `nicht in Berlin` denies Berlin,
`Berlin değil` does so backwards, `früher Berlin` calls it old, and `Ich weiß es nicht` abstains.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import groupby, pairwise
from typing import Final

from memsim.language.scripts import UNSPACED, marks
from memsim.scoring import polarity_words
from memsim.scoring.answer_text import AnswerWords, fold, is_unspaced
from memsim.scoring.polarity_words import NOT_WITH, ONLY_WITH

REACH, UNSPACED_REACH = 5, 12
"""Words, or characters of scripts without spaces, to which a denial reaches."""

MOST_APART = 20
"""Phrases of a clause that look like denials; a longer list is no answer."""

_SENTENCE_END: Final = re.compile(
    "[.,;:!?\n\u3001\u3002\u060c\u061b\u061f\u0964\u0589\u06d4\u1362\u104b]+"
)


# Phrases in the order of the table, as one pattern.


@lru_cache(maxsize=16)
def _phrases(table: str) -> re.Pattern[str]:
    return _pattern(str(getattr(polarity_words, table)))


@lru_cache(maxsize=64)
def _pattern(phrases: str) -> re.Pattern[str]:
    spaced, unspaced = [], []
    for phrase in phrases.split("|"):
        words = [_word(word) for word in phrase.split()]
        if re.match(f"[{UNSPACED}]", phrase):
            unspaced.append(" ?".join(words))
        else:
            spaced.append(" ".join(words).replace("... ", r"(?:\S+ ){0,3}?"))
    parts = [rf"(?<!\S)(?:{'|'.join(spaced)})(?!\S)"] * bool(spaced)
    return re.compile("|".join([*parts, *unspaced]))


def _word(word: str) -> str:
    if "/" in word:
        return f"(?:{'|'.join(map(_word, word.split('/')))})"
    return word if word == "..." else "*".join(map(_plain, word.split("*"))).replace("*", r"\S*")


def _plain(text: str) -> str:
    return _between_words().sub(" ", fold(text)).strip()


@lru_cache(maxsize=1)
def _between_words() -> re.Pattern[str]:
    return re.compile(rf"[^\w{marks()}]+")


# Answers that do not know


def abstains_natively(text: str) -> bool:
    """Whether a text in another language says that it does not know, without a guess."""
    found = filter(None, map(_plain, _SENTENCE_END.split(text)))
    clauses = list(found)
    silent = [_is_silent(clause) for clause in clauses]
    if not any(silent):
        return False
    guesses = _phrases("GUESSING").search
    return not any(guesses(c) for c, s in zip(clauses, silent, strict=True) if not s)


def _is_silent(clause: str) -> bool:
    void = _phrases("VOID").fullmatch(clause) is not None
    return void or _phrases("UNKNOWN").search(clause) is not None


# Denials and outdated values


class _Clause:
    """A clause as a text, with the places of its words."""

    def __init__(self, words: AnswerWords, places: Sequence[int]) -> None:
        self.first, self.end = places[0], places[-1] + 1
        self._tokens = words.tokens[self.first : self.end]
        parts, self._starts = [], [0]
        for token, following in pairwise((*self._tokens, "")):
            joined = is_unspaced(token) and is_unspaced(following)
            parts.append(token if joined else f"{token} ")
            self._starts.append(self._starts[-1] + len(parts[-1]))
        self.text = "".join(parts).rstrip()
        self._meant: dict[str, bool] = {}

    def word(self, place: int) -> str:
        """The word at a place."""
        return self._tokens[place - self.first]

    def reach(self, place: int) -> int:
        """How many words a denial beside a place reaches over."""
        return UNSPACED_REACH if is_unspaced(self.word(place)) else REACH

    def found(self, table: str) -> list[range]:
        """The places of the phrases of a table that mean what the table says."""
        apart = self._nothing
        matches = _phrases(table).finditer(self.text)
        spans = [m.span() for m in matches if self._is_meant(m.group())]
        if apart:
            spans = [(a, b) for a, b in spans if not any(x < b and a < y for x, y in apart)]
        return [range(self._place(a), self._place(b)) for a, b in spans]

    @cached_property
    def contrasts(self) -> list[int]:
        """Places of words at which a denial ends."""
        return [found.start for found in self.found("CONTRASTING")]

    @cached_property
    def _nothing(self) -> list[tuple[int, int]]:
        found = _phrases("DENYING_NOTHING").finditer(self.text)
        return [match.span() for match, _ in zip(found, range(MOST_APART), strict=False)]

    def _place(self, at: int) -> int:
        return self.first + bisect_left(self._starts, at, hi=len(self._tokens))

    def _is_meant(self, phrase: str) -> bool:
        if phrase not in self._meant:
            self._meant[phrase] = self._is_of_language(phrase)
        return self._meant[phrase]

    def _is_of_language(self, phrase: str) -> bool:
        """Whether the other words of the clause are of the phrase's language."""
        apart, beside = (table.get(phrase) for table in (NOT_WITH, ONLY_WITH))
        if apart and _pattern(apart).search(self.text):
            return False
        return beside is None or _pattern(beside).search(self.text) is not None


def denied_natively(words: AnswerWords) -> Iterator[int]:
    """Places of the words that a text in another language denies."""
    for clause in _clauses(words):
        for found in clause.found("DENYING"):
            yield from (_onward if _says_more(clause, found) else _back)(clause, found)
        for found in clause.found("DENYING_BACK"):
            yield from _back(clause, found)


def is_native_denial(words: AnswerWords, end: int) -> bool:
    """Whether words before a place say in another language that something is not so."""
    tables = ("DENYING", "DENYING_BACK")
    return any(
        found.start < end
        for clause in _clauses(words)
        for table in tables
        for found in clause.found(table)
    )


def says_old_natively(words: AnswerWords, start: int, end: int) -> bool:
    """Whether a word near those from `start` to `end` calls them something of the past."""
    for clause in _clauses(words):
        if not clause.first <= start < clause.end:
            continue
        now = [found.start for found in clause.found("NOW")]
        for old in clause.found("OLD"):
            low, high = (old.stop, start) if old.stop <= start else (end, old.start)
            near = high - low <= clause.reach(old.start)
            if near and not any(low <= place < high for place in now):
                return True
    return False


@lru_cache(maxsize=1 << 10)
def _clauses(words: AnswerWords) -> tuple[_Clause, ...]:
    if not words.foreign:
        return ()
    grouped = groupby(range(len(words.tokens)), key=words.clauses.__getitem__)
    return tuple(_Clause(words, list(places)) for _, places in grouped)


def _says_more(clause: _Clause, denial: range) -> bool:
    """Whether words follow that the denial may be of."""
    rest = clause.end - denial.stop
    if rest != 1:
        return rest > 0
    return _phrases("CORRECT").fullmatch(clause.word(denial.stop)) is None


def _onward(clause: _Clause, denial: range) -> range:
    at = bisect_left(clause.contrasts, denial.stop)
    ends = clause.contrasts[at : at + 1]
    return range(denial.stop, min([*ends, clause.end, denial.stop + clause.reach(denial.stop)]))


def _back(clause: _Clause, denial: range) -> range:
    if denial.start == clause.first:
        return range(0)
    at = bisect_left(clause.contrasts, denial.start)
    ends = [place + 1 for place in clause.contrasts[max(0, at - 1) : at]]
    reach = clause.reach(denial.start - 1)
    return range(max([*ends, clause.first, denial.start - reach]), denial.start)
