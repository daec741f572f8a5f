"""Vectors in cells of near ones, so that a search reads thousands of them, never all.

Up to `READ` vectors the search is exact. Beyond, it reads the cells nearest to the query until it
has read so many. What it finds depends on nothing but the order in which the vectors came: the same
conversation gives the same ranking in every process, which graph indexes that insert in parallel
cannot promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memsim.memory.retrieval.forms import Numbers, Scores
    from memsim.models import Vectors

READ = 8192
"""Vectors that a search reads at least, where there are so many."""

FULL = 256
"""Vectors at which a cell is split in two."""

_ROUNDS = 6
_ROUNDING = 1e-5
"""More than the error of a float32 product of unit vectors."""


class Cell:
    """Some vectors that lie near each other, in order of arrival.

    Args:
        dimension: length of each vector.
    """

    def __init__(self, dimension: int) -> None:
        self._forms = np.empty(64, np.int64)
        self._vectors = np.empty((64, dimension), np.float32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def forms(self) -> Numbers:
        """What its vectors are called."""
        return self._forms[: self._count]

    @property
    def vectors(self) -> Vectors:
        """Its vectors, shape (n, dimension)."""
        return self._vectors[: self._count]

    def append(self, form: int, vector: Vectors) -> None:
        """Take a vector in."""
        if self._count == len(self._forms):
            self._forms = np.concatenate((self._forms, np.empty_like(self._forms)))
            self._vectors = np.concatenate((self._vectors, np.empty_like(self._vectors)))
        self._forms[self._count] = form
        self._vectors[self._count] = vector
        self._count += 1

    def part(self, chosen: NDArray[np.bool_]) -> Cell:
        """A cell of the chosen vectors alone."""
        cell = Cell(self._vectors.shape[1])
        for form, vector in zip(self.forms[chosen], self.vectors[chosen], strict=True):
            cell.append(form, vector)
        return cell


class CellStore:
    """Vectors in memory, by cells.

    Args:
        read: vectors that a search reads at least, where there are so many.
        full: vectors at which a cell is split in two.
    """

    def __init__(self, *, read: int = READ, full: int = FULL) -> None:
        self._read = read
        self._full = full
        self._cells: list[Cell] = []
        self._centres: Vectors = np.empty((0, 0), np.float32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, forms: Sequence[int], vectors: Vectors) -> None:
        """Take unit vectors in, one for each form, shape (len(forms), dimension)."""
        for form, vector in zip(forms, vectors, strict=True):
            self._put(form, vector)

    def remove(self, form: int) -> None:
        """Take a vector out.

        The cells are then made anew, as if it had never come: a conversation that was saved and
        loaded must find the same as one that was not.
        """
        forms, vectors = self.all()
        (kept,) = (forms != form).nonzero()
        kept = kept[np.argsort(forms[kept])]
        self._cells, self._count = [], 0
        self.add(forms[kept].tolist(), vectors[kept])

    def search(self, query: Vectors, k: int) -> tuple[Numbers, Scores]:
        """Candidates for the best `k`, with their scores."""
        return closest(query, self._near(query), k)

    def all(self) -> tuple[Numbers, Vectors]:
        """Every form, with its vector."""
        if not self._cells:
            return np.empty(0, np.int64), np.empty((0, 0), np.float32)
        forms = np.concatenate([c.forms for c in self._cells])
        return forms, np.concatenate([c.vectors for c in self._cells])

    def close(self) -> None:
        """There is nothing to release."""

    def _near(self, query: Vectors) -> list[Cell]:
        if self._count <= self._read:
            return self._cells
        near, read = [], 0
        for at in np.argsort(-(self._centres @ query), kind="stable").tolist():
            near.append(self._cells[at])
            read += len(near[-1])
            if read >= self._read:
                break
        return near

    def _put(self, form: int, vector: Vectors) -> None:
        if not self._cells:
            self._cells = [Cell(len(vector))]
            self._centres = vector[None, :].copy()
        at = int((self._centres @ vector).argmax()) if len(self._cells) > 1 else 0
        self._cells[at].append(form, vector)
        self._count += 1
        if len(self._cells[at]) >= self._full:
            self._split(at)

    def _split(self, at: int) -> None:
        left, centres = halves(self._cells[at].vectors)
        self._cells[at : at + 1] = [self._cells[at].part(left), self._cells[at].part(~left)]
        self._centres = np.concatenate((self._centres[:at], centres, self._centres[at + 1 :]))


def closest(query: Vectors, cells: Sequence[Cell], k: int) -> tuple[Numbers, Scores]:
    """The vectors with the largest products with a query: the best `k`, and what comes near them.

    The fast product only chooses; the scores are summed in one fixed order, row by row, so that
    they do not depend on what else was read.

    Args:
        query: shape (dimension,).
        cells: where to look.
        k: how many are wanted, at least one.
    """
    if not cells:
        return np.empty(0, np.int64), np.empty(0)
    products = np.concatenate([c.vectors @ query for c in cells])
    least = -np.inf
    if len(products) > k:
        least = np.partition(products, len(products) - k)[len(products) - k] - _ROUNDING
    (chosen,) = (products >= least).nonzero()
    bounds = np.cumsum([0, *map(len, cells)])
    owners = np.searchsorted(bounds, chosen, "right") - 1
    rows = (chosen - bounds[owners]).tolist()
    places = list(zip(owners.tolist(), rows, strict=True))
    forms = np.fromiter((cells[c].forms[row] for c, row in places), np.int64, len(places))
    return forms, exact(query, np.stack([cells[c].vectors[row] for c, row in places]))


def exact(query: Vectors, vectors: Vectors) -> Scores:
    """Products with a query, each the same whatever other vectors there are."""
    products = vectors.astype(np.float64) * query.astype(np.float64)
    return products.sum(axis=1)  # type: ignore[no-any-return]


def halves(vectors: Vectors) -> tuple[NDArray[np.bool_], Vectors]:
    """Two groups of near vectors: which rows are in the first, and the centres of both.

    Two-means from the two vectors that lie farthest from the rest and from each other; where that
    parts nothing, the earlier and the later half.
    """
    first = vectors[(vectors @ vectors.mean(axis=0)).argmin()]
    centres = np.stack((first, vectors[(vectors @ first).argmin()]))
    left = np.zeros(len(vectors), np.bool_)
    for _ in range(_ROUNDS):
        products = vectors @ centres.T
        left = products[:, 0] >= products[:, 1]
        if left.all() or not left.any():
            left = np.arange(len(vectors)) < len(vectors) // 2
        centres = np.stack((_centre(vectors[left]), _centre(vectors[~left])))
    return left, centres


def _centre(vectors: Vectors) -> Vectors:
    mean = vectors.mean(axis=0)
    length = np.float32(np.linalg.norm(mean))
    return mean / length if length else mean  # type: ignore[no-any-return]
