"""Scores over several shelves at once, as if their entries were all that there is.

Statistics are summed over the shelves that were admitted, so what stands on others cannot tell.
Scores are rounded to ten digits: equal texts and equal words tie whatever order sums were taken in.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from memsim.errors import StoreError
from memsim.language.text import index_terms
from memsim.memory.index.nearest_vectors import NearestVectors
from memsim.memory.index.postings import Postings, QueryTerm, ScoreTally, best_numbers, idf
from memsim.memory.stores import K1, B, EmbedderInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.index.forms import Numbers, Scores
    from memsim.models import Vectors


# What a call of `write` brings, checked before a store changes anything.


class WriteItem(NamedTuple):
    """An entry to write, with its id and its vector, float32, shape (dimension,), or None."""

    id: str
    entry: Entry
    vector: Vectors | None


def write_items(
    entries: Sequence[Entry], vectors: Vectors | None, embedded: EmbedderInfo | None
) -> list[WriteItem]:
    """What is to be written: of two entries with one id the later, in the order they came.

    Args:
        entries: as `Store.write` takes them.
        vectors: as `Store.write` takes them.
        embedded: what the vectors that the store holds were made with.

    Raises:
        StoreError: vectors that are not one row for each entry, of another dimension than the
            store's, or not finite.
    """
    rows: Sequence[Vectors | None] = [None] * len(entries)
    if vectors is not None and len(entries):
        rows = _rows(vectors, len(entries), embedded)
    latest: dict[str, WriteItem] = {}
    for entry, row in zip(entries, rows, strict=True):
        source = entry.id  # worked out anew whenever it is asked for
        latest[source] = WriteItem(source, entry, row)
    return list(latest.values())


def embedder_of(written: Sequence[WriteItem], embedded: EmbedderInfo | None) -> EmbedderInfo | None:
    """What the vectors of a store are made with, once these are written; unnamed if unsaid."""
    if embedded is not None:
        return embedded
    found = next((item.vector for item in written if item.vector is not None), None)
    return None if found is None else EmbedderInfo("", len(found))


def check_query(vector: Vectors, embedded: EmbedderInfo) -> None:
    """Refuse a vector that cannot be compared with those there are.

    Raises:
        StoreError: it is of another dimension, or not finite.
    """
    if vector.shape != (embedded.dimension,):
        raise StoreError(
            f"a vector of shape {vector.shape} was asked for, and those of the store have dimension"
            f" {embedded.dimension}"
        )
    if not np.isfinite(vector).all():
        raise StoreError("a vector that was asked for is not finite")


def _rows(vectors: Vectors, count: int, embedded: EmbedderInfo | None) -> list[Vectors | None]:
    if vectors.ndim != 2 or len(vectors) != count:
        raise StoreError(f"vectors of shape {vectors.shape} were given for {count} entries")
    if embedded is not None and vectors.shape[1] != embedded.dimension:
        raise StoreError(
            f"vectors have dimension {vectors.shape[1]}, and those of the store have"
            f" {embedded.dimension}: they were made with another embedder"
        )
    if not np.isfinite(vectors).all():
        raise StoreError("a vector is not finite")
    return [row if row.any() else None for row in vectors.astype(np.float32, copy=False)]


EXACT = 131_072
"""Vectors of one shelf up to which all are compared: a hundred thousand take a few milliseconds,
and an index of them takes many seconds to make when a store is opened."""

DIGITS = 10
"""Digits after the point that a lexical score keeps."""

_NONE: Numbers = np.empty(0, np.int64)


class ScoredNumbers(NamedTuple):
    """Numbers of entries, each once, and their scores: the best, and all that tie with them."""

    numbers: Numbers
    scores: Scores


class ShelfWords(Protocol):
    """What stands on one shelf, by its words.

    Attributes:
        entries: how many there are.
        terms: how many terms their texts have in all.
    """

    @property
    def entries(self) -> int: ...

    @property
    def terms(self) -> int: ...

    def postings(self, term: str) -> Postings | None:
        """Where a term stands, by number; None for nowhere."""
        ...


def lexical(text: str, shelves: Sequence[ShelfWords], k: int, tally: ScoreTally) -> ScoredNumbers:
    """The entries of these shelves that speak of a text most.

    Args:
        text: a query, in words.
        shelves: what is admitted, in an order that depends on nothing else.
        k: how many are wanted.
        tally: has room for every number on these shelves.
    """
    count, total = sum(s.entries for s in shelves), sum(s.terms for s in shelves)
    if k <= 0 or not count:
        return ScoredNumbers(_NONE, np.empty(0))
    norm = (K1 * (1 - B), K1 * B * count / (total or 1))
    weighed: list[tuple[int, str, float, list[Postings]]] = []
    for term, times in Counter(index_terms(text)).items():
        lists = [p for s in shelves if (p := s.postings(term)) is not None and p.documents]
        holding = sum(p.documents for p in lists)
        if holding:
            weighed.append((holding, term, times * (K1 + 1) * idf(count, holding), lists))
    weighed.sort(key=lambda w: w[:2])
    terms = [QueryTerm(p, weight, norm) for _, _, weight, lists in weighed for p in lists]
    numbers, scores, _ = best_numbers(terms, k, tally, _NONE)
    return _best(numbers, np.round(scores, DIGITS), k)


def nearest(vector: Vectors, shelves: Iterable[NearestVectors], k: int) -> ScoredNumbers:
    """The vectors of these shelves that are closest to one.

    Args:
        vector: unit vector, float32, shape (dimension,).
        shelves: the vectors of each admitted shelf, by number.
        k: how many are wanted.
    """
    found = [s.search(vector, k) for s in shelves if len(s)] if k > 0 else []
    if not found:
        return ScoredNumbers(_NONE, np.empty(0))
    numbers, scores = zip(*found, strict=True)
    return _best(np.concatenate(numbers), np.concatenate(scores), k)


def _best(numbers: Numbers, scores: Scores, k: int) -> ScoredNumbers:
    if len(scores) <= k:
        return ScoredNumbers(numbers, scores)
    (kept,) = (scores >= np.partition(scores, len(scores) - k)[len(scores) - k]).nonzero()
    return ScoredNumbers(numbers[kept], scores[kept])
