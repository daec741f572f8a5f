"""Vectors, and the nearest of them.

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
    from memsim.memory.index.vector_file import VectorFile
    from memsim.models import Vectors

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

_ROUNDING = 1e-5
"""More than the error of a float32 product of unit vectors."""


class NearestVectors:
    """Vectors in arrays that grow.

    Args:
        exact: vectors up to which all are compared.
        scanned: vectors up to which how all lean is compared; above, they are in lists.
        probed: vectors of lists whose signs are compared at least.
        compared: vectors that are compared at least, of those.
        new_file: makes a file for vectors of so many numbers. Where they are in lists, they are
            kept in it, and are read when they are compared. Without it, or where it cannot be
            written, they stay in memory.
    """

    def __init__(
        self,
        *,
        exact: int = EXACT,
        scanned: int = 0,
        probed: int = PROBED,
        compared: int = COMPARED,
        new_file: Callable[[int], VectorFile] | None = None,
    ) -> None:
        self._exact, self._probed, self._compared = max(1, exact), probed, compared
        self._unlisted = max(self._exact, scanned)
        self._new_file = new_file
        self._file: VectorFile | None = None
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
        if not start and len(forms) >= _SHELF and self._file is None:
            # A shelf that is read whole seldom grows soon.
            self._forms, self._vectors = np.array(forms, np.int64), vectors.copy()
        else:
            if end > len(self._forms):
                self._grow(end, vectors.shape[1])
            self._forms[start:end] = forms
            self._put(start, vectors)
        self._row.update(zip(forms, range(start, end), strict=True))
        self._waiting.update(dict.fromkeys(forms))
        # So many each time, however many come at once: searching between changes nothing.
        while len(self._waiting) >= (many := _TOGETHER if len(self._clusters) else self._unlisted):
            settled = list(islice(self._waiting, many))
            self._clusters.add(self._rows(settled), self._held)
            for form in settled:
                del self._waiting[form]
        if self._new_file is not None and len(self._clusters) and len(self) > self._unlisted:
            self._move_out(self._new_file)

    def remove(self, form: int) -> None:
        """Take a vector out; nothing is left of it."""
        row, last = self._row.pop(form), len(self._row)
        if form in self._waiting:
            del self._waiting[form]
        else:
            self._clusters.remove(row)
        if row != last:
            self._move(last, row)
        self._scanned.cut(last)
        self._put(last, np.zeros_like(self._held[np.array([last])]))

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
        if self._file is None:
            return self._forms[:count], self._vectors[:count]
        if count <= self._unlisted:
            self._move_in(count)
            return self._forms[:count], self._vectors[:count]
        return self._forms[:count], self._file[np.arange(count)]

    def close(self) -> None:
        """Remove the file, if there is one."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def _held(self) -> VectorRows:
        """All vectors by their rows."""
        return self._vectors if self._file is None else self._file

    def _put(self, start: int, vectors: Vectors) -> None:
        """Put vectors into the rows from one on, which is the next one at most."""
        if self._file is not None:
            try:
                self._file.write(start, vectors)
            except OSError:  # such as a full disk
                self._new_file = None
                self._move_in(max(start, len(self)))
            else:
                return
        self._vectors[start : start + len(vectors)] = vectors

    def _move_out(self, new_file: Callable[[int], VectorFile]) -> None:
        """Keep the vectors in a file from now on."""
        if self._file is not None:
            return
        try:
            file = new_file(self._vectors.shape[1])
            file.write(0, self._vectors[: len(self)])
        except OSError:
            self._new_file = None
            return
        file.reserve(len(self._forms))
        self._file = file
        # A part of the array, even one without rows, would keep all of it.
        self._vectors = np.empty((0, 0), np.float32)
        self._scanned = LeaningRows()

    def _move_in(self, count: int) -> None:
        """Keep the vectors of the first rows in memory again, and what comes."""
        if self._file is not None:
            vectors = self._file[np.arange(count)]
            self._vectors = grown(vectors, (len(self._forms), vectors.shape[1]))
            self.close()

    def _rows(self, forms: Iterable[int]) -> Numbers:
        return np.array([self._row[form] for form in forms], np.int64)

    def _move(self, last: int, row: int) -> None:
        form = int(self._forms[last])
        self._forms[row], self._row[form] = form, row
        self._put(row, self._held[np.array([last])])
        if self._file is None:
            self._scanned.replace(row, self._vectors[row])
        if form not in self._waiting:
            self._clusters.rename(last, row)

    def _grow(self, count: int, dimension: int) -> None:
        room, held = max(64, room_for(count)), len(self)
        self._forms = grown(self._forms[:held], (room,))
        if self._file is None:
            self._vectors = grown(self._vectors[:held], (room, dimension))
        else:
            self._file.reserve(room)


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
