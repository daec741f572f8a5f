"""Vectors in memory, and the nearest of them.

Among up to `EXACT` vectors the search is exact. Among more, it looks through the lists of near ones
that are nearest to the query, first by the vectors' signs, a few bytes each, and is exact among
those that agree most. What it finds depends on the vectors and on the order in which they came and
went, and on nothing else: not on the process, nor on when it was asked.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from memsim.memory.retrieval.clusters import Clusters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memsim.memory.retrieval.forms import Numbers, Scores
    from memsim.models import Vectors

EXACT = 4096
"""Vectors up to which all are compared."""

PROBED = 6144
"""Vectors whose signs are compared at least, where there are more than `EXACT`."""

COMPARED = 256
"""Vectors that are compared at least, of those."""

COMPARED_FOR_EACH = 10
"""Vectors that are compared at least, for each that is looked for."""

_TOGETHER = 64
"""Vectors that are put into lists together; until then they wait, and are compared always."""

_ROUNDING = 1e-5
"""More than the error of a float32 product of unit vectors."""


class MemoryStore:
    """Vectors in arrays that grow.

    Args:
        exact: vectors up to which all are compared.
        probed: vectors whose signs are compared at least, where there are more.
        compared: vectors that are compared at least, of those.
    """

    def __init__(
        self, *, exact: int = EXACT, probed: int = PROBED, compared: int = COMPARED
    ) -> None:
        self._exact, self._probed, self._compared = max(1, exact), probed, compared
        self._row: dict[int, int] = {}
        self._forms: Numbers = np.empty(0, np.int64)
        self._vectors: Vectors = np.empty((0, 0), np.float32)
        self._clusters = Clusters()
        self._waiting: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._row)

    def add(self, forms: Sequence[int], vectors: Vectors) -> None:
        """Take unit vectors in, one for each form, shape (len(forms), dimension)."""
        start, end = len(self), len(self) + len(forms)
        if end > len(self._forms):
            self._grow(end, vectors.shape[1])
        self._forms[start:end] = forms
        self._vectors[start:end] = vectors
        self._row.update(zip(forms, range(start, end), strict=True))
        self._waiting.update(dict.fromkeys(forms))
        # So many each time, however many come at once: searching between changes nothing.
        while len(self._waiting) >= (many := _TOGETHER if len(self._clusters) else self._exact):
            settled = list(islice(self._waiting, many))
            self._clusters.add(self._rows(settled), self._vectors)
            for form in settled:
                del self._waiting[form]

    def remove(self, form: int) -> None:
        """Take a vector out."""
        row, last = self._row.pop(form), len(self._row)
        if form in self._waiting:
            del self._waiting[form]
        else:
            self._clusters.remove(row)
        if row != last:
            self._move(last, row)
        self._vectors[last] = 0

    def search(self, query: Vectors, k: int) -> tuple[Numbers, Scores]:
        """Candidates for the best `k`, with their scores."""
        count = len(self)
        if count > max(self._exact, k):
            wanted = max(self._compared, COMPARED_FOR_EACH * k)
            near = self._clusters.near(query, probed=max(self._probed, 2 * k), wanted=wanted)
            rows = np.concatenate((near, self._rows(self._waiting)))
            if len(rows) >= k:
                return closest(query, self._forms[rows], self._vectors[rows], k)
        return closest(query, self._forms[:count], self._vectors[:count], k)

    def all(self) -> tuple[Numbers, Vectors]:
        """Every form, with its vector."""
        return self._forms[: len(self)], self._vectors[: len(self)]

    def close(self) -> None:
        """There is nothing to release."""

    def _rows(self, forms: Iterable[int]) -> Numbers:
        return np.array([self._row[form] for form in forms], np.int64)

    def _move(self, last: int, row: int) -> None:
        form = int(self._forms[last])
        self._forms[row], self._row[form] = form, row
        self._vectors[row] = self._vectors[last]
        if form not in self._waiting:
            self._clusters.rename(last, row)

    def _grow(self, count: int, dimension: int) -> None:
        room = max(64, 2 * count)
        held = len(self)
        forms, vectors = self._forms, self._vectors
        self._forms = np.zeros(room, np.int64)
        self._vectors = np.zeros((room, dimension), np.float32)
        if held:
            self._forms[:held] = forms[:held]
            self._vectors[:held] = vectors[:held]


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
