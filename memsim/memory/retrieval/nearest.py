"""Vectors in memory, and the nearest of them.

Among up to `EXACT` vectors the search is exact. Among more, it first takes those whose signs agree
most with the query's, a few bytes each, and is exact among these. What it finds depends on nothing
but the vectors: not on the process, and not on the order in which they came, as with graph indexes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memsim.memory.retrieval.forms import Numbers, Scores
    from memsim.models import Vectors

    Codes = NDArray[np.uint64]

EXACT = 8192
"""Vectors up to which all are compared."""

COMPARED = 1024
"""Vectors that are compared at least, where there are more."""

_ROUNDING = 1e-5
"""More than the error of a float32 product of unit vectors."""


class MemoryStore:
    """Vectors in arrays that grow.

    Args:
        exact: vectors up to which all are compared.
        compared: vectors that are compared at least, where there are more.
    """

    def __init__(self, *, exact: int = EXACT, compared: int = COMPARED) -> None:
        self._exact = exact
        self._compared = compared
        self._row: dict[int, int] = {}
        self._forms: Numbers = np.empty(0, np.int64)
        self._vectors: Vectors = np.empty((0, 0), np.float32)
        self._codes: Codes = np.empty((0, 0), np.uint64)

    def __len__(self) -> int:
        return len(self._row)

    def add(self, forms: Sequence[int], vectors: Vectors) -> None:
        """Take unit vectors in, one for each form, shape (len(forms), dimension)."""
        start, end = len(self), len(self) + len(forms)
        if end > len(self._forms):
            self._grow(end, vectors.shape[1])
        self._forms[start:end] = forms
        self._vectors[start:end] = vectors
        self._codes[:, start:end] = codes(vectors)
        self._row.update(zip(forms, range(start, end), strict=True))

    def remove(self, form: int) -> None:
        """Take a vector out."""
        row, last = self._row.pop(form), len(self._row)
        if row != last:
            self._forms[row] = self._forms[last]
            self._vectors[row] = self._vectors[last]
            self._codes[:, row] = self._codes[:, last]
            self._row[int(self._forms[row])] = row
        self._vectors[last] = 0
        self._codes[:, last] = 0

    def search(self, query: Vectors, k: int) -> tuple[Numbers, Scores]:
        """Candidates for the best `k`, with their scores."""
        count = len(self)
        if count <= max(self._exact, k):
            return closest(query, self._forms[:count], self._vectors[:count], k)
        rows = self._agreeing(query, max(self._compared, k))
        return closest(query, self._forms[rows], self._vectors[rows], k)

    def all(self) -> tuple[Numbers, Vectors]:
        """Every form, with its vector."""
        return self._forms[: len(self)], self._vectors[: len(self)]

    def close(self) -> None:
        """There is nothing to release."""

    def _agreeing(self, query: Vectors, wanted: int) -> Numbers:
        """The rows with the fewest differing signs: so many, and all that tie with these."""
        count = len(self)
        differing = np.zeros(count, np.uint16)
        for column, own in zip(self._codes, codes(query[None, :])[:, 0], strict=True):
            differing += np.bitwise_count(column[:count] ^ own)
        reached = np.cumsum(np.bincount(differing))
        (rows,) = (differing <= np.searchsorted(reached, wanted)).nonzero()
        return rows

    def _grow(self, count: int, dimension: int) -> None:
        room = max(64, 2 * count)
        held = len(self)
        forms, vectors, signs = self._forms, self._vectors, self._codes
        self._forms = np.zeros(room, np.int64)
        self._vectors = np.zeros((room, dimension), np.float32)
        self._codes = np.zeros((-(-dimension // 64), room), np.uint64)
        if held:
            self._forms[:held] = forms[:held]
            self._vectors[:held] = vectors[:held]
            self._codes[:, :held] = signs[:, :held]


def codes(vectors: Vectors) -> Codes:
    """The signs of vectors as bits, shape (words of 64 bits, n)."""
    rows, dimension = vectors.shape
    signs = np.zeros((rows, -(-dimension // 64) * 64), np.bool_)
    signs[:, :dimension] = vectors > 0
    return np.packbits(signs, axis=1).view(np.uint64).T


def closest(query: Vectors, forms: Numbers, vectors: Vectors, k: int) -> tuple[Numbers, Scores]:
    """The vectors with the largest products with a query: the best `k`, and what comes near them.

    The fast product only chooses; the scores are summed in one fixed order, row by row, so that
    they do not depend on what else was compared.

    Args:
        query: shape (dimension,).
        forms: what the rows of `vectors` are called.
        vectors: shape (n, dimension).
        k: how many are wanted, at least one.
    """
    if len(forms) > k:
        rough = np.vecdot(vectors, query)  # never in threads, which would fight other processes
        least = np.partition(rough, len(rough) - k)[len(rough) - k] - _ROUNDING
        (near,) = (rough >= least).nonzero()
        forms, vectors = forms[near], vectors[near]
    return forms, products(query, vectors)


def products(query: Vectors, vectors: Vectors) -> Scores:
    """Products with a query, each the same whatever other vectors there are."""
    found: Scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return found
