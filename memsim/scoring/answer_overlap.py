"""Measure how much of an expected text an answer gives, and how much else it says.

Words that say little weigh little. A word counts as given when another form of it is: `went` for
`go`, `creativity` for `creative`.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from functools import cached_property, lru_cache
from typing import NamedTuple

from memsim.language.lexicon import IRREGULAR, LIGHT
from memsim.language.lexicon import STOP as FUNCTION_WORDS
from memsim.scoring.answer_text import AnswerWords, stem

LITTLE, LEAST = 0.3, 0.05
"""Weights of a common word and of a function word; every other word has weight 1."""

LIKE = 0.5
"""Share of its weight that a word gets for one that begins alike."""

BEGINNING = 5
"""Letters with which two words of one family begin alike."""


class WordPart(NamedTuple):
    """Words of a text that belong together: an item of a list, or a clause."""

    roots: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def total(self) -> float:
        """The weight of all words."""
        return sum(self.weights)


def parts_of(words: AnswerWords, places: Collection[int]) -> list[WordPart]:
    """The words at some places, split at `and` and where clauses end, each word once."""
    parts: list[dict[str, float]] = [{}]
    seen: set[str] = set()
    for place, token in enumerate(words.tokens):
        joins = token == "and"  # noqa: S105 - a word
        if parts[-1] and (joins or words.clauses[place] != words.clauses[place - 1]):
            parts.append({})
        root = root_of(token)
        if place in places and root not in seen:
            seen.add(root)
            parts[-1][root] = weight_of(token)
    return [WordPart(tuple(part), tuple(part.values())) for part in parts if part]


@lru_cache(maxsize=1 << 16)
def root_of(token: str) -> str:
    """The stem of a word, the same for its irregular forms."""
    return stem(IRREGULAR.get(token, token))


@lru_cache(maxsize=1 << 16)
def weight_of(token: str) -> float:
    """How much a word says."""
    if token in FUNCTION_WORDS and len(token) > 1:
        return LEAST
    return LITTLE if token in LIGHT or root_of(token) in _LIGHT else 1.0


_LIGHT = frozenset(map(root_of, LIGHT))


class GivenWords:
    """The words of a text, to look for words of another.

    Args:
        words: the words of the text.
        hidden: places of words that do not count.
        found: words of another that are known to be given.
        english: whether other forms of a word count, as in English.
    """

    def __init__(
        self,
        words: AnswerWords,
        hidden: Container[int] = (),
        *,
        found: Container[str] = (),
        english: bool = True,
    ) -> None:
        self._words = words
        self._hidden = hidden
        self._found = found
        self._english = english

    @cached_property
    def _roots(self) -> frozenset[str]:
        tokens = enumerate(self._words.tokens)
        return frozenset(root_of(token) for n, token in tokens if n not in self._hidden)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(w[:BEGINNING] for w in self._roots if len(w) >= BEGINNING and w.isalpha())

    def share(self, part: WordPart) -> float:
        """Share of a part that is given, by weight."""
        return self.mass(part) / part.total

    def mass(self, part: WordPart) -> float:
        """Weight of the part's words that are given."""
        pairs = zip(part.roots, part.weights, strict=True)
        return sum(self._likeness(root) * weight for root, weight in pairs)

    def telling(self, part: WordPart) -> int:
        """How many of the part's words are given that say something by themselves."""
        pairs = zip(part.roots, part.weights, strict=True)
        return sum(weight == 1.0 and self._likeness(root) > 0 for root, weight in pairs)

    def _likeness(self, root: str) -> float:
        if root in self._found:
            return 1.0
        if not self._english:
            return 0.0
        if root in self._roots:
            return 1.0
        if len(root) < BEGINNING or not root.isalpha():
            return 0.0
        return LIKE if root[:BEGINNING] in self._beginnings else 0.0


def own_words(words: AnswerWords, apart: Collection[str]) -> WordPart:
    """The telling words of a text, each once, without those that stand apart."""
    kept = {
        root: weight_of(token)
        for token in words.tokens
        if token not in FUNCTION_WORDS and (root := root_of(token)) not in apart
    }
    return WordPart(tuple(kept), tuple(kept.values()))


def roots_of(words: AnswerWords) -> frozenset[str]:
    """All words of a text, in their comparable form."""
    return frozenset(map(root_of, words.tokens))
