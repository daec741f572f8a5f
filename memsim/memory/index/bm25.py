"""Okapi BM25 over a conversation as it grows.

Adding costs the same in a long one, and the best are found exactly. A document scores, for each of
the query's terms::

    idf * (k1 + 1) * tf / (tf + k1 * (1 - b + b * length / mean length))
    idf = ln(1 + (N - n + 0.5) / (n + 0.5))

and a term that stands twice in the query counts twice (Robertson and Zaragoza, The Probabilistic
Relevance Framework, 2009, with the idf that cannot fall below zero).

Messages differ mostly in rare words: names, numbers. So documents of one length with the same
*common* terms are one form, scored once, and only what holds a rare term of the query is scored by
itself.
"""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np

from memsim.language.text import Analyser, index_terms
from memsim.memory.index import Hit
from memsim.memory.index.forms import DocumentForms, FormChange
from memsim.memory.index.postings import (
    K1,
    B,
    Postings,
    QueryTerm,
    ScoreTally,
    all_sums,
    best_numbers,
    idf,
    query_terms,
)

COMMON = 256
"""Documents in which a term is common for good."""

Key = bytes
"""A document's length and the numbers of its common terms, sorted, each as often as it stands."""


class RareTerm(Postings):
    """Where a rare term stands; a number of its own is kept in place of the term."""

    __slots__ = ("number",)

    def __init__(self, term: str, number: int) -> None:
        super().__init__(term)
        self.number = number


class Bm25:
    """An index of texts by their words.

    `k1`, above 0, says how soon repeating a word stops to count. `b`, 0 to 1, says how much long
    texts are held back. A term is common in `common` documents.
    """

    def __init__(
        self,
        analyse: Analyser = index_terms,
        *,
        k1: float = K1,
        b: float = B,
        common: int = COMMON,
    ) -> None:
        self._analyse = analyse
        self._k1 = k1
        self._b = b
        self._limit = common
        self._forms: DocumentForms[Key] = DocumentForms()
        self._common: dict[str, Postings] = {}
        self._numbered: list[Postings | None] = []
        """The common terms by number; None for one that is gone."""
        self._numbers: dict[str, int] = {}
        self._rare: dict[str, RareTerm] = {}
        self._rare_numbered: list[RareTerm | None] = []
        """The rare terms by number; None for one that is gone, or has become common."""
        self._rare_in = array("I")
        """The numbers of the rare terms of each document, one document after the other."""
        self._rare_from = array("Q")
        """Where those of each place begin."""
        self._total = 0
        self._form_sums = ScoreTally()
        self._document_sums = ScoreTally()

    def __len__(self) -> int:
        return len(self._forms)

    def __contains__(self, source: object) -> bool:
        return source in self._forms

    def add(self, source: str, text: str) -> None:
        """Take a document in. Raises `ValueError` if the id is there already."""
        terms = sorted(self._analyse(text))
        common = self._common
        numbers = self._numbers
        bag = sorted([numbers[t] for t in terms if t in numbers])
        change = self._forms.add(source, array("I", (len(terms), *bag)).tobytes())
        self._total += len(terms)
        for number in set(bag):
            self._of(number).documents += 1
        if change.turned:
            self._post(change)
        self._rare_from.append(len(self._rare_in))
        if len(bag) < len(terms):
            place = self._forms.place(source)
            self._add_rare(place, Counter(t for t in terms if t not in common), len(terms))

    def remove(self, source: str) -> bool:
        """Take a document out and leave no word of it behind; false when it was not there."""
        if source not in self._forms:
            return False
        place = self._forms.place(source)
        length, bag = _read(self._forms.key(place))
        for held in self._rare_of(place):
            held.documents -= 1
            held.remove(place)
            if not held.documents:
                del self._rare[held.term]
                self._rare_numbered[held.number] = None
        change = self._forms.remove(source)
        for number in set(bag):
            self._of(number).documents -= 1
        if change.turned:
            self._unpost(change)
        self._total -= length
        return True

    def search(self, query: str, k: int) -> list[Hit]:
        """The best `k` documents that hold a word of the query, best first, ties to the earlier."""
        if k <= 0 or not len(self._forms):
            return []
        common, rare = self._weighed(query)
        places, own = all_sums(rare, self._document_sums)
        forms, scores, theirs = best_numbers(common, k, self._form_sums, self._forms.of(places))
        return self._forms.best(forms, scores, k, (places, own + theirs))

    def ranking(self, query: str) -> list[Hit]:
        """Every document, best first, ties to the earlier; 0 without a word of the query."""
        if not len(self._forms):
            return []
        common, rare = self._weighed(query)
        by_form = np.zeros(self._forms.numbered)
        forms, scores = all_sums(common, self._form_sums)
        by_form[forms] = scores
        places, own = all_sums(rare, self._document_sums)
        return self._forms.all(by_form, (places, own + by_form[self._forms.of(places)]))

    def rank_of(self, source: str, query: str) -> int | None:
        """A document's place in the ranking, from 1; None where it holds no word of the query."""
        for rank, hit in enumerate(self.ranking(query), 1):
            if hit.id == source:
                return rank if hit.score > 0 else None
        return None

    def close(self) -> None:
        """There is nothing to release."""

    def _post(self, change: FormChange[Key]) -> None:
        length, bag = _read(change.key)
        for number, times in Counter(bag).items():
            self._of(number).append(change.form, times, length)

    def _unpost(self, change: FormChange[Key]) -> None:
        for number in set(_read(change.key)[1]):
            held = self._of(number)
            held.remove(change.form)
            if not held.documents:
                del self._common[held.term], self._numbers[held.term]
                self._numbered[number] = None

    def _add_rare(self, place: int, counts: Counter[str], length: int) -> None:
        rare = self._rare
        taken = [rare[term] if term in rare else self._new_rare(term) for term in counts]
        self._rare_in.extend([held.number for held in taken])
        for held, times in zip(taken, counts.values(), strict=True):
            held.documents += 1
            held.append(place, times, length)
            if held.documents >= self._limit:
                self._promote(held)

    def _new_rare(self, term: str) -> RareTerm:
        held = self._rare[term] = RareTerm(term, len(self._rare_numbered))
        self._rare_numbered.append(held)
        return held

    def _rare_of(self, place: int) -> list[RareTerm]:
        """The rare terms of the document at a place."""
        stops = self._rare_from[place + 1 : place + 2] or [len(self._rare_in)]
        numbers = self._rare_in[self._rare_from[place] : stops[0]]
        return [held for n in numbers if (held := self._rare_numbered[n]) is not None]

    def _promote(self, held: RareTerm) -> None:
        """A term has become common: the documents that hold it change their forms."""
        term = held.term
        common = self._common[term] = Postings(term)
        del self._rare[term]
        self._rare_numbered[held.number] = None
        number = self._numbers[term] = len(self._numbered)
        self._numbered.append(common)
        for place, times in zip(held.numbers.tolist(), held.times.tolist(), strict=True):
            # A new number is the largest, so the key stays sorted.
            more = array("I", (number,) * times).tobytes()
            left, joined = self._forms.move(place, self._forms.key(place) + more)
            common.documents += 1
            if left.turned:
                self._unpost(left)
            if joined.turned:
                self._post(joined)

    def _of(self, number: int) -> Postings:
        held = self._numbered[number]
        assert held is not None  # noqa: S101 - a document that is there holds the term
        return held

    def _weighed(self, query: str) -> tuple[list[QueryTerm], list[QueryTerm]]:
        """The query's common and rare terms, each with the rarest first."""
        self._document_sums.reserve(self._forms.placed)
        self._form_sums.reserve(self._forms.numbered)
        counts = Counter(self._analyse(query))
        norm = (
            self._k1 * (1 - self._b),
            self._k1 * self._b * len(self._forms) / (self._total or 1),
        )
        found = []
        for lists in (self._common, self._rare):
            known = [(held, n) for term, n in counts.items() if (held := lists.get(term))]
            known.sort(key=lambda pair: (pair[0].documents, pair[0].term))
            found.append(query_terms([(held, n * self._weight(held)) for held, n in known], norm))
        return found[0], found[1]

    def _weight(self, held: Postings) -> float:
        return (self._k1 + 1) * idf(len(self._forms), held.documents)


def _read(key: Key) -> tuple[int, list[int]]:
    length, *bag = array("I", key)
    return length, bag
