"""Vectors in memory, and the nearest of them.

Among few vectors the search is exact. Among more, it first compares a few bytes of each, and is
exact among those that agree most with the query. Up to `SCANNED_ON_SHELF` these bytes say how all
vectors of a shelf lean. Otherwise they are the signs of those in the lists of near ones that are
nearest to the query. What it finds depends on the vectors and on the order in which they came and
went, and on nothing else: not on the process, nor on when it was asked.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from memsim.errors import StoreError
from memsim.memory.index.clusters import Clusters, VectorRows
from memsim.memory.index.form_rows import FormRows
from memsim.memory.index.growing_columns import grown, room_for
from memsim.memory.index.leanings import LeaningRows
from memsim.memory.index.postings import ScoredNumbers, keep_best

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memsim.memory.index.forms import Numbers, Scores
    from memsim.models import Vectors

    ReadVectors = Callable[[Sequence[int]], Vectors]
    """Gives the vectors of forms, shape (len(forms), dimension)."""

EXACT = 4096
"""Vectors up to which all are compared."""

EXACT_ON_SHELF = 16_384
"""Vectors of one shelf up to which all are compared."""

SCANNED_ON_SHELF = 131_072
"""Vectors of one shelf up to which how all lean is compared. It takes a millisecond; lists of them
take many seconds to make when a store is opened."""

PROBED = 6144
"""Vectors of lists whose signs are compared at least."""

COMPARED = 256
"""Vectors that are compared at least, where there are so many."""

COMPARED_FOR_EACH = 3
"""Vectors that are compared at least, for each that is looked for. Of 70,000 sentences of real
conversations, 97 in a hundred of the best 128 are found where all are scanned, and the best ten."""

CLOSER = 5
"""Vectors that are looked at closer, for each that is compared."""

_TOGETHER = 64
"""Vectors that are put into lists together; until then they wait, and are compared always."""

_SHELF = 64
"""Vectors from which on the first ones that come get no room for others."""

KEPT = 1 << 16
"""Vectors that are kept of those that are read; 64 MB at 256 numbers each."""

_ROUNDING = 1e-5
"""More than the error of a float32 product of unit vectors."""


class NearestVectors:
    """Vectors in arrays that grow.

    Args:
        exact: vectors up to which all are compared.
        scanned: vectors up to which how all lean is compared; above, they are in lists.
        probed: vectors of lists whose signs are compared at least.
        compared: vectors that are compared at least, of those.
        read: gives vectors again that were added. Where they are in lists, `KEPT` at most stay in
            memory then, and the others are read when they are compared.
    """

    def __init__(
        self,
        *,
        exact: int = EXACT,
        scanned: int = 0,
        probed: int = PROBED,
        compared: int = COMPARED,
        read: ReadVectors | None = None,
    ) -> None:
        self._exact, self._probed, self._compared = max(1, exact), probed, compared
        self._unlisted = max(self._exact, scanned)
        self._read = read
        self._known: _KnownVectors | None = None
        self._row = FormRows()
        self._forms: Numbers = np.empty(0, np.int64)
        self._vectors: Vectors = np.empty((0, 0), np.float32)
        self._scanned = LeaningRows()
        self._clusters = Clusters()
        self._waiting: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._row)

    def __contains__(self, form: object) -> bool:
        return form in self._row

    def add(self, forms: Sequence[int], vectors: Vectors) -> None:
        """Take unit vectors in, one for each form, shape (len(forms), dimension)."""
        start, end = len(self), len(self) + len(forms)
        if not start and len(forms) >= _SHELF and self._known is None:
            # A shelf that is read whole seldom grows soon.
            self._forms, self._vectors = np.array(forms, np.int64), vectors.copy()
        else:
            if end > len(self._forms):
                self._grow(end, vectors.shape[1])
            self._forms[start:end] = forms
            if self._known is None:
                self._vectors[start:end] = vectors
        self._row.update(zip(forms, range(start, end), strict=True))
        self._waiting.update(dict.fromkeys(forms))
        # So many each time, however many come at once: searching between changes nothing.
        while len(self._waiting) >= (many := _TOGETHER if len(self._clusters) else self._unlisted):
            settled = list(islice(self._waiting, many))
            self._clusters.add(self._rows(settled), self._held)
            for form in settled:
                del self._waiting[form]
        if self._read is not None and len(self._clusters) and len(self) > self._unlisted:
            self._known = self._known or _KnownVectors(self._read)
            # A part of the array, even one without rows, would keep all of it.
            self._vectors = np.empty((0, 0), np.float32)
            self._scanned = LeaningRows()

    def remove(self, form: int) -> None:
        """Take a vector out."""
        row, last = self._row.pop(form), len(self._row)
        if form in self._waiting:
            del self._waiting[form]
        else:
            self._clusters.remove(row)
        if row != last:
            self._move(last, row)
        self._scanned.cut(last)
        if self._known is None:
            self._vectors[last] = 0
        else:
            self._known.forget(form)

    def search(self, query: Vectors, k: int) -> tuple[Numbers, Scores]:
        """Candidates for the best `k`, with their scores."""
        count = len(self)
        wanted = max(self._compared, COMPARED_FOR_EACH * k)
        closer = CLOSER * wanted
        if count > max(self._unlisted, k):
            probed = max(self._probed, 2 * k)
            near = self._clusters.near(query, probed=probed, closer=closer, wanted=wanted)
            rows = np.concatenate((near, self._rows(self._waiting)))
            if len(rows) >= k:
                return closest(query, self._forms[rows], self._held[rows], k)
        forms, vectors = self.all()
        if max(self._exact, closer) < count <= self._unlisted:
            rows = self._scanned.near(query, vectors, closer=closer, wanted=wanted)
            forms, vectors = forms[rows], vectors[rows]
        return closest(query, forms, vectors, k)

    def all(self) -> tuple[Numbers, Vectors]:
        """Every form, with its vector."""
        count = len(self)
        if self._known is None:
            return self._forms[:count], self._vectors[:count]
        vectors = self._held[np.arange(count)]
        if count <= self._unlisted:
            self._vectors = grown(vectors, (len(self._forms), vectors.shape[1]))
            self._known = None
        return self._forms[:count], vectors

    def close(self) -> None:
        """There is nothing to release."""

    @property
    def _held(self) -> VectorRows:
        """All vectors by their rows."""
        if self._known is None:
            return self._vectors
        return _ReadRows(self._forms, self._known)

    def _rows(self, forms: Iterable[int]) -> Numbers:
        return np.array([self._row[form] for form in forms], np.int64)

    def _move(self, last: int, row: int) -> None:
        form = int(self._forms[last])
        self._forms[row], self._row[form] = form, row
        if self._known is None:
            self._vectors[row] = self._vectors[last]
            self._scanned.replace(row, self._vectors[row])
        if form not in self._waiting:
            self._clusters.rename(last, row)

    def _grow(self, count: int, dimension: int) -> None:
        room, held = max(64, room_for(count)), len(self)
        self._forms = grown(self._forms[:held], (room,))
        if self._known is None:
            self._vectors = grown(self._vectors[:held], (room, dimension))


class _KnownVectors:
    """Vectors that are read when they are asked for; of some, what was read last is kept.

    Each form has one place that it may be kept in.
    """

    def __init__(self, read: ReadVectors) -> None:
        self._read = read
        self._form: Numbers = np.full(KEPT, -1, np.int64)
        self._vectors: Vectors = np.empty((0, 0), np.float32)

    def get(self, forms: Numbers) -> Vectors:
        """The vectors of forms, shape (len(forms), dimension)."""
        places = forms % KEPT
        (missed,) = (self._form[places] != forms).nonzero()
        if not len(missed):
            return self._vectors[places]
        new = self._read(forms[missed].tolist())
        if not len(self._vectors):
            self._vectors = np.zeros((KEPT, new.shape[1]), np.float32)
        found: Vectors = self._vectors[places]
        found[missed] = new
        # Of two that want one place, the last has it.
        self._form[places[missed]] = forms[missed]
        self._vectors[places[missed]] = new
        return found

    def forget(self, form: int) -> None:
        """Read a form anew: it may become that of another vector."""
        if self._form[form % KEPT] == form:
            self._form[form % KEPT] = -1


class _ReadRows:
    """Vectors that are read, by the numbers of their rows."""

    def __init__(self, forms: Numbers, known: _KnownVectors) -> None:
        self._forms, self._known = forms, known

    def __len__(self) -> int:
        return len(self._forms)

    def __getitem__(self, rows: Numbers) -> Vectors:
        return self._known.get(self._forms[rows])


def closest(query: Vectors, forms: Numbers, vectors: Vectors, k: int) -> tuple[Numbers, Scores]:
    """The vectors with the largest products with a query: the best `k`, and what comes near them.

    The fast product only chooses; the scores are summed in one fixed order, row by row, so that
    they do not depend on what else was compared. `query` has shape (dimension,), `vectors` (n,
    dimension); `forms` is what its rows are called.
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


def best_by_vector(vector: Vectors, shelves: Iterable[NearestVectors], k: int) -> ScoredNumbers:
    """The vectors of these shelves that are closest to one.

    `vector` is a unit vector, float32, shape (dimension,); `shelves` has the vectors of each
    admitted shelf, by number.
    """
    found = [s.search(vector, k) for s in shelves if len(s)] if k > 0 else []
    if not found:
        return ScoredNumbers(np.empty(0, np.int64), np.empty(0))
    numbers, scores = zip(*found, strict=True)
    return keep_best(np.concatenate(numbers), np.concatenate(scores), k)


def check_query(vector: Vectors, dimension: int) -> None:
    """Refuse a vector that cannot be compared with those there are.

    Raises `StoreError` if it is of another dimension, or not finite.
    """
    if vector.shape != (dimension,):
        raise StoreError(
            f"a vector of shape {vector.shape} was asked for, and those of the store have dimension"
            f" {dimension}"
        )
    if not np.isfinite(vector).all():
        raise StoreError("a vector that was asked for is not finite")
