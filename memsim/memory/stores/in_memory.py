"""Entries in one process: listed, counted and ranked by shelf, for stores without such indexes.

Each shelf has its own lists, postings and vectors, so that a search reads admitted shelves and no
others, whoever else writes. Entries are held once, however many readers there are.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right, insort
from collections import Counter
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, Final

import numpy as np

from memsim.errors import StoreError
from memsim.language.text import index_terms
from memsim.memory.entry import check_encodable
from memsim.memory.index import as_hits
from memsim.memory.index.nearest_vectors import (
    EXACT_ON_SHELF,
    SCANNED_ON_SHELF,
    NearestVectors,
    best_by_vector,
    check_query,
)
from memsim.memory.index.postings import Postings, ScoreTally, best_by_words, holds_words
from memsim.memory.stores import PAGE, embedder_of, write_items

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from memsim.memory.entry import Entry, Shelf
    from memsim.memory.index import Hit
    from memsim.memory.index.postings import ScoredNumbers
    from memsim.memory.permissions import Where
    from memsim.memory.stores import EmbedderInfo
    from memsim.models import Vectors


_SPARE: Final = 4096
"""Numbers that may be unused before all entries are numbered anew."""

EntryPlace = tuple["datetime", str]
"""Where an entry stands in `find`: its creation and its id."""


class StoreView:
    """A set of entries, and their vectors."""

    def __init__(self, *, exact: int = EXACT_ON_SHELF, scanned: int = SCANNED_ON_SHELF) -> None:
        self._exact, self._scanned = exact, scanned
        self.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, source: object) -> bool:
        return source in self._entries

    @property
    def exact(self) -> bool:
        """Whether every search compares all admitted vectors."""
        return all(len(s.vectors) <= self._exact for s in self._shelves.values())

    def clear(self) -> None:
        """Take everything out."""
        self._entries: dict[str, Entry] = {}
        self._number: dict[str, int] = {}
        self._places: dict[int, EntryPlace] = {}
        self._shelves: dict[Shelf, _Shelf] = {}
        self._next = 0
        self._tally = ScoreTally()

    def put(self, entry: Entry, vector: Vectors | None = None) -> None:
        """Take an entry in, in place of the one with its id."""
        source = entry.id
        before = self._entries.get(source)
        words = entry.words
        terms = index_terms(words)
        if before is not None:
            self._take_out(before, terms if before.words == words else index_terms(before.words))
        number, self._next = self._next, self._next + 1
        self._entries[source] = entry
        self._number[source] = number
        self._places[number] = place = entry.created, source
        shelf = self._shelves.get(entry.shelf)
        if shelf is None:
            shelf = self._shelves[entry.shelf] = _Shelf(
                NearestVectors(exact=self._exact, scanned=self._scanned)
            )
        shelf.add(number, place, terms, vector)
        if self._next > 2 * len(self._entries) + _SPARE:
            self._renumber()

    def drop(self, source: str) -> bool:
        """Take an entry out; false when it was not there."""
        entry = self._entries.get(source)
        if entry is None:
            return False
        self._take_out(entry, index_terms(entry.words))
        return True

    def _take_out(self, entry: Entry, terms: Sequence[str]) -> None:
        del self._entries[entry.id]
        number = self._number.pop(entry.id)
        shelf = self._shelves[entry.shelf]
        shelf.remove(number, self._places.pop(number), terms)
        if not shelf.entries:
            del self._shelves[entry.shelf]

    def without_vectors(self) -> None:
        """Drop every vector."""
        for shelf in self._shelves.values():
            shelf.vectors = NearestVectors(exact=self._exact, scanned=self._scanned)
            shelf.embedded.clear()

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """As `Store.get`."""
        return [self._entries[source] for source in ids if source in self._entries]

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """As `Store.find`."""
        pages = (s.after(after, limit) for s in self._admitted(where))
        return [self._entries[source] for _, source in islice(heapq.merge(*pages), limit)]

    def count(self, where: Where) -> int:
        """As `Store.count`."""
        return sum(shelf.entries for shelf in self._admitted(where))

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """As `Store.lexical`."""
        self._tally.reserve(self._next)
        return self._hits(best_by_words(text, [*self._admitted(where)], k, self._tally), k)

    def mentions(self, text: str, where: Where) -> bool:
        """As `Store.mentions`."""
        return holds_words(text, [*self._admitted(where)])

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """As `Store.nearest`."""
        return self._hits(best_by_vector(vector, (s.vectors for s in self._admitted(where)), k), k)

    def _admitted(self, where: Where) -> Iterator[_Shelf]:
        return (held for shelf, held in self._shelves.items() if where.admits(shelf))

    def _hits(self, found: ScoredNumbers, k: int) -> list[Hit]:
        places = map(self._places.__getitem__, found.numbers.tolist())
        ranked = sorted(zip((-found.scores).tolist(), places, strict=True))[: max(k, 0)]
        return as_hits([(source, -score) for score, (_, source) in ranked])

    def _renumber(self) -> None:
        """Number all entries anew, so that a key written a million times costs no room."""
        vectors = {n: v for shelf in self._shelves.values() for n, v in shelf.each_vector()}
        held = [(e, vectors.get(self._number[source])) for source, e in self._entries.items()]
        self.clear()
        for entry, vector in held:
            self.put(entry, vector)


class _Shelf:
    """Entries that are searched together: their order, their words, their vectors."""

    def __init__(self, vectors: NearestVectors) -> None:
        self.terms = 0
        self.vectors = vectors
        self.embedded: set[int] = set()
        self._order: list[EntryPlace] = []
        self._postings: dict[str, Postings] = {}

    @property
    def entries(self) -> int:
        return len(self._order)

    def postings(self, term: str) -> Postings | None:
        return self._postings.get(term)

    def add(
        self, number: int, place: EntryPlace, terms: Sequence[str], vector: Vectors | None
    ) -> None:
        insort(self._order, place)
        self.terms += len(terms)
        for term, times in Counter(terms).items():
            held = self._postings.get(term)
            if held is None:
                held = self._postings[term] = Postings(term)
            held.documents += 1
            held.append(number, times, len(terms))
        if vector is not None:
            self.embedded.add(number)
            self.vectors.add([number], np.asarray(vector)[None, :])

    def remove(self, number: int, place: EntryPlace, terms: Sequence[str]) -> None:
        del self._order[bisect_right(self._order, place) - 1]
        self.terms -= len(terms)
        for term in set(terms):
            held = self._postings[term]
            held.documents -= 1
            held.remove(number)
            if not held.documents:
                del self._postings[term]
        if number in self.embedded:
            self.embedded.remove(number)
            self.vectors.remove(number)

    def after(self, last: Entry | None, limit: int) -> list[EntryPlace]:
        start = 0 if last is None else bisect_right(self._order, (last.created, last.id))
        return self._order[start : start + limit]

    def each_vector(self) -> Iterator[tuple[int, Vectors]]:
        numbers, vectors = self.vectors.all()
        return zip(numbers.tolist(), vectors, strict=True)


# Entries in memory alone: the fastest store, gone with the process.


class InMemory:
    """Entries that live as long as the process; see `Store` for what every method promises."""

    name = "memory"

    def __init__(self) -> None:
        self._view: StoreView | None = StoreView()
        self._embedded: EmbedderInfo | None = None
        self._lock = RLock()

    @property
    def exact(self) -> bool:
        """Whether `nearest` compares all admitted vectors."""
        return self._open.exact

    @property
    def embedded(self) -> EmbedderInfo | None:
        """What its vectors were made with."""
        with self._lock:
            return self._embedded

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in; see `Store`."""
        with self._lock:
            view = self._open
            written = write_items(entries, vectors, self._embedded)
            for item in written:
                check_encodable(item.entry)  # what no other store could keep is refused here, too
            self._embedded = embedder_of(written, self._embedded)
            for item in written:
                view.put(item.entry, item.vector)

    def embedded_by(self, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with; see `Store`."""
        with self._lock:
            view = self._open
            if made != self._embedded:
                view.without_vectors()
            self._embedded = made

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good; see `Store`."""
        with self._lock:
            view = self._open
            return sum(view.drop(source) for source in dict.fromkeys(ids))

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids; see `Store`."""
        with self._lock:
            return self._open.get(ids)

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries, a page at a time; see `Store`."""
        with self._lock:
            return self._open.find(where, after=after, limit=limit)

    def count(self, where: Where) -> int:
        """How many entries are admitted; see `Store`."""
        with self._lock:
            return self._open.count(where)

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best by words; see `Store`."""
        with self._lock:
            return self._open.lexical(text, where, k)

    def mentions(self, text: str, where: Where) -> bool:
        """Whether an entry holds a word of a text; see `Store`."""
        with self._lock:
            return self._open.mentions(text, where)

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The best by vectors; see `Store`."""
        with self._lock:
            if self._embedded is not None:
                check_query(vector, self._embedded.dimension)
            return self._open.nearest(vector, where, k)

    def close(self) -> None:
        """Forget everything; see `Store`."""
        self._view = None

    @property
    def _open(self) -> StoreView:
        if self._view is None:
            raise StoreError("the store is closed")
        return self._view
