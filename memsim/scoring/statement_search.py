"""When a text states a sentence in other words: most of its words stand close together in it.

A statement is found in two sentences of a text that follow each other if both hold:

- they have `STATED` of its words, where rare words weigh more;
- they have `OWN` of the words that it does not share with its rivals. Rivals are the statements
  that it replaces, that replace it, and false versions of it.

A message that told a statement states it in its own words, and untrue statements are told as not
so. So of messages in their own words only those count that told a true statement.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from memsim.language.text import index_terms, sentences
from memsim.scenario.script import Fact

STATED = 0.6
"""Share of a statement's words that a text which states it has at least."""

OWN = 0.5
"""Share of the words that a statement has alone among its rivals."""

_Words = frozenset[str]


class StatementSearch:
    """The statements among some facts, to be found by their places in any number of texts."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._words = {
            place: frozenset(index_terms(fact.value))
            for place, fact in enumerate(facts)
            if fact.statement
        }
        self._told: dict[str, set[int]] = {}
        for place in self._words:
            if not facts[place].contradicts:
                self._told.setdefault(facts[place].source, set()).add(place)
        holders = Counter(word for words in self._words.values() for word in words)
        self._weights = {
            word: math.log((len(self._words) + 1) / (n + 0.5)) for word, n in holders.items()
        }
        self._own = dict(_own_words(facts, self._words))
        self._holders: dict[str, list[int]] = {}
        for place, words in self._words.items():
            for word in sorted(words):
                self._holders.setdefault(word, []).append(place)

    def told_by(self, messages: Iterable[str]) -> set[int]:
        """Places of the true statements that these messages told."""
        return {place for message in messages for place in self._told.get(message, ())}

    def found(self, text: str) -> set[int]:
        """Places of the statements that a text states."""
        if not self._words:
            return set()
        return {place for words in _windows(text) for place in self._stated(words)}

    def _stated(self, words: _Words) -> Iterator[int]:
        near = Counter(place for word in words for place in self._holders.get(word, ()))
        for place in sorted(near):
            if self._share(self._words[place], words) < STATED:
                continue
            own = self._own[place]
            if not own or self._share(own, words) >= OWN:
                yield place

    def _share(self, sought: Collection[str], words: _Words) -> float:
        whole = self._weight(sought)
        return self._weight(word for word in sought if word in words) / whole if whole else 0.0

    def _weight(self, words: Iterable[str]) -> float:
        return math.fsum(self._weights[word] for word in words)


def _windows(text: str) -> Iterator[_Words]:
    found = [
        frozenset(index_terms(sentence))
        for line in text.splitlines()
        for sentence in sentences(line)
    ]
    yield from (one | two for one, two in pairwise(found))
    if len(found) == 1:
        yield found[0]


def _own_words(facts: Sequence[Fact], words: Mapping[int, _Words]) -> Iterator[tuple[int, _Words]]:
    """Of each statement, the words that no rival of it has."""
    places: dict[str, list[int]] = {}
    for place in words:
        places.setdefault(facts[place].id, []).append(place)
    rivals: dict[int, set[int]] = {place: set() for place in words}
    for place in words:
        fact = facts[place]
        for name in (fact.replaces, fact.contradicts):
            for other in places.get(name or "", ()):
                rivals[place].add(other)
                rivals[other].add(place)
    for place, others in rivals.items():
        yield place, words[place].difference(*(words[other] for other in others))
