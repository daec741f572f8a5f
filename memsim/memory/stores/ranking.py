"""Scores over several shelves at once, as if their entries were all that there is.

Statistics are summed over the shelves that were admitted, so what stands on others cannot tell.
Scores are rounded to ten digits: equal texts and equal words tie whatever order sums were taken in.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from memsim.memory.retrieval.bm25 import idf
from memsim.memory.retrieval.maxscore import Tally, best_numbers
from memsim.memory.retrieval.nearest import MemoryStore
from memsim.memory.retrieval.postings import Postings, QueryTerm
from memsim.memory.retrieval.terms import stem
from memsim.memory.stores import K1, B

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memsim.memory.retrieval.forms import Numbers, Scores
    from memsim.models import Vectors

EXACT = 131_072
"""Vectors of one shelf up to which all are compared: a hundred thousand take a few milliseconds,
and an index of them takes many seconds to make when a store is opened."""

DIGITS = 10
"""Digits after the point that a lexical score keeps."""

_NONE: Numbers = np.empty(0, np.int64)


class Found(NamedTuple):
    """Numbers of entries, each once, and their scores: the best, and all that tie with them."""

    numbers: Numbers
    scores: Scores


class Words(Protocol):
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


def lexical(text: str, shelves: Sequence[Words], k: int, tally: Tally) -> Found:
    """The entries of these shelves that speak of a text most.

    Args:
        text: a query, in words.
        shelves: what is admitted, in an order that depends on nothing else.
        k: how many are wanted.
        tally: has room for every number on these shelves.
    """
    count, total = sum(s.entries for s in shelves), sum(s.terms for s in shelves)
    if k <= 0 or not count:
        return Found(_NONE, np.empty(0))
    norm = (K1 * (1 - B), K1 * B * count / (total or 1))
    weighed: list[tuple[int, str, float, list[Postings]]] = []
    for term, times in Counter(stem(text)).items():
        lists = [p for s in shelves if (p := s.postings(term)) is not None and p.documents]
        holding = sum(p.documents for p in lists)
        if holding:
            weighed.append((holding, term, times * (K1 + 1) * idf(count, holding), lists))
    weighed.sort(key=lambda w: w[:2])
    terms = [QueryTerm(p, weight, norm) for _, _, weight, lists in weighed for p in lists]
    numbers, scores, _ = best_numbers(terms, k, tally, _NONE)
    return _best(numbers, np.round(scores, DIGITS), k)


def nearest(vector: Vectors, shelves: Iterable[MemoryStore], k: int) -> Found:
    """The vectors of these shelves that are closest to one.

    Args:
        vector: unit vector, float32, shape (dimension,).
        shelves: the vectors of each admitted shelf, by number.
        k: how many are wanted.
    """
    found = [s.search(vector, k) for s in shelves if len(s)] if k > 0 else []
    if not found:
        return Found(_NONE, np.empty(0))
    numbers, scores = zip(*found, strict=True)
    return _best(np.concatenate(numbers), np.concatenate(scores), k)


def _best(numbers: Numbers, scores: Scores, k: int) -> Found:
    if len(scores) <= k:
        return Found(numbers, scores)
    (kept,) = (scores >= np.partition(scores, len(scores) - k)[len(scores) - k]).nonzero()
    return Found(numbers[kept], scores[kept])
