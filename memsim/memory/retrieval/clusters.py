"""Vectors in lists of near ones, so that a search looks at few of them.

The lists grow by themselves: a vector goes to the list whose centre is nearest, and a list that is
full is divided in two. Nothing is ever made anew as a whole. Where there are many lists, they are
themselves kept in lists, by their centres.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from memsim.memory.retrieval.directions import centre, halves, rounded
from memsim.memory.retrieval.signs import codes, differing, fewest, leanings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.retrieval.forms import Numbers
    from memsim.memory.retrieval.signs import Codes
    from memsim.models import Vectors

    Places = NDArray[np.int32]

T = TypeVar("T", bound=np.generic)

LIMIT = 64
"""Vectors in a list at most."""

CENTRES = 8192
"""Lists whose centres are all compared; more are kept in lists."""

ROOM = 8
"""A search compares the centres of so many times the lists that it would need if all were full."""

_LISTS_TO_ADD = 64
"""Lists that are compared at least when a vector is added, where there are more than `CENTRES`."""


class Clusters:
    """Which rows of an array of unit vectors are near each other.

    What is found depends on the order in which rows came and went, and on the vectors, alone. A row
    that is taken out is in no list; the centre of its list stays where it was until that is divided
    or empty.

    Args:
        limit: rows in a list at most, two or more.
        centres: lists up to which all their centres are compared.
    """

    def __init__(self, *, limit: int = LIMIT, centres: int = CENTRES) -> None:
        self._limit, self._compared = limit, centres
        self._upper: Clusters | None = None
        self._count = 0
        self._sizes: Numbers = np.zeros(0, np.int64)
        self._centres: Vectors = np.zeros((0, 0), np.float32)
        self._leanings: Codes = np.zeros((0, 0), np.uint64)
        self._rows: Places = np.zeros((0, limit), np.int32)
        self._codes: Codes = np.zeros((0, 0, limit), np.uint64)
        self._list: Places = np.zeros(0, np.int32)
        self._slot: Places = np.zeros(0, np.int32)

    def __len__(self) -> int:
        """How many lists there are."""
        return self._count

    def add(self, rows: Numbers, vectors: Vectors) -> None:
        """Take rows in.

        Args:
            rows: their numbers in `vectors`.
            vectors: of all rows, shape (rows there may be, dimension).
        """
        if len(vectors) > len(self._list):
            self._list = _grown(self._list, (len(vectors),))
            self._slot = _grown(self._slot, (len(vectors),))
        if self._count:
            targets = self._targets(vectors[rows])
            for target in np.unique(targets).tolist():
                self._join(target, rows[targets == target], vectors)
        else:
            self._divide(rows, vectors)
        if self._upper is None and self._count > self._compared:
            self._upper = Clusters(limit=self._limit, centres=self._compared)
            self._upper.add(np.arange(self._count), self._centres)

    def remove(self, row: int) -> None:
        """Take a row out."""
        place, slot = int(self._list[row]), int(self._slot[row])
        last = int(self._sizes[place]) - 1
        moved = self._rows[place, last]
        self._rows[place, slot], self._slot[moved] = moved, slot
        self._codes[place, :, slot] = self._codes[place, :, last]
        self._rows[place, last] = 0
        self._codes[place, :, last] = 0
        self._sizes[place] = last
        if not last:
            self._drop(place)

    def rename(self, row: int, name: int) -> None:
        """Call a row by another number, which no row has."""
        place, slot = self._list[row], self._slot[row]
        self._rows[place, slot] = name
        self._list[name], self._slot[name] = place, slot

    def near(self, query: Vectors, *, probed: int, wanted: int) -> Numbers:
        """Rows that are near a query.

        Args:
            query: a unit vector, shape (dimension,).
            probed: rows that are looked at by their signs, at least, where there are so many.
            wanted: of these, the rows that share most signs with the query: so many, and all that
                tie with them.
        """
        chosen = self._chosen(query, probed)
        sizes = self._sizes[chosen]
        if int(sizes.sum()) <= wanted:
            return self._rows[chosen][np.arange(self._limit) < sizes[:, None]].astype(np.int64)
        counts = differing(self._codes[chosen], codes(query[None, :])[:, 0]).ravel()
        found = fewest(counts, wanted)
        full = found % self._limit < sizes[found // self._limit]
        if not full.all():
            # Where nothing is, it looks like a vector without a number above zero.
            counts[(np.arange(self._limit) >= sizes[:, None]).ravel()] = np.iinfo(counts.dtype).max
            found = fewest(counts, wanted)
        lists, slots = np.divmod(found, self._limit)
        return self._rows[chosen[lists], slots].astype(np.int64)

    def _chosen(self, query: Vectors, probed: int) -> Numbers:
        """The nearest lists, nearest first, until they have so many rows."""
        lists = self._lists(query, -(-probed // self._limit) * ROOM)
        held = self._leanings[:, : self._count] if lists is None else self._leanings[:, lists]
        counts = differing(held[None], leanings(rounded(query)[None])[:, 0])[0]
        order = np.argsort(counts, kind="stable")
        if lists is not None:
            order = lists[order]
        enough = np.searchsorted(np.cumsum(self._sizes[order]), probed)
        return order[: int(enough) + 1]

    def _lists(self, query: Vectors, wanted: int) -> Numbers | None:
        """Lists that may be near, at least so many; None for all."""
        if self._upper is None or self._count <= max(wanted, self._compared):
            return None
        return self._upper.near(query, probed=2 * wanted, wanted=wanted)

    def _targets(self, vectors: Vectors) -> Numbers:
        """The lists that vectors belong to; of two that are as near, the earlier."""
        if self._upper is None:
            # Products of rounded vectors are exact, so that it makes no difference who sums them.
            products = rounded(vectors) @ self._centres[: self._count].T
            best: Numbers = products.argmax(axis=1)
            return best
        return np.array([self._target(vector) for vector in vectors])

    def _target(self, vector: Vectors) -> int:
        lists = self._lists(vector, _LISTS_TO_ADD)
        if lists is None:
            lists = np.arange(self._count)
        return int(lists[int(np.vecdot(self._centres[lists], rounded(vector)).argmax())])

    def _join(self, place: int, rows: Numbers, vectors: Vectors) -> None:
        size = int(self._sizes[place])
        if size + len(rows) <= self._limit:
            self._put(place, size, rows, vectors)
            return
        if self._upper is not None:
            self._upper.remove(place)
        held = self._rows[place, :size].astype(np.int64)
        self._divide(np.concatenate((held, rows)), vectors, place)

    def _divide(self, rows: Numbers, vectors: Vectors, place: int | None = None) -> None:
        """Put rows into as many lists as they need, the first of which may have a place."""
        whole = rounded(vectors[rows])
        parts, places = [np.arange(len(rows))], []
        while parts:
            part = parts.pop()
            if len(part) > self._limit:
                first, second = halves(whole[part])
                parts += (part[second], part[first])
                continue
            place = self._opened(vectors.shape[1]) if place is None else place
            self._centres[place] = middle = centre(whole[part])
            self._leanings[:, place] = leanings(middle[None])[:, 0]
            self._put(place, 0, rows[part], vectors)
            places.append(place)
            place = None
        if self._upper is not None:
            self._upper.add(np.array(places), self._centres)

    def _put(self, place: int, size: int, rows: Numbers, vectors: Vectors) -> None:
        """Have a list's first rows followed by these and no others."""
        end = size + len(rows)
        self._rows[place, size:end] = rows
        self._rows[place, end:] = 0
        self._codes[place, :, size:end] = codes(vectors[rows])
        self._codes[place, :, end:] = 0
        self._sizes[place] = end
        self._list[rows] = place
        self._slot[rows] = np.arange(size, end)

    def _drop(self, place: int) -> None:
        """Take an empty list out; the last one moves to its place."""
        self._count -= 1
        last = self._count
        if self._upper is not None:
            self._upper.remove(place)
            if place != last:
                self._upper.rename(last, place)
        if place != last:
            for held in (self._sizes, self._centres, self._rows, self._codes):
                held[place] = held[last]
            self._leanings[:, place] = self._leanings[:, last]
            self._list[self._rows[place, : self._sizes[place]]] = place
        for held in (self._sizes, self._centres, self._rows, self._codes):
            held[last] = 0
        self._leanings[:, last] = 0

    def _opened(self, dimension: int) -> int:
        """The place of a new list."""
        if self._count == len(self._sizes):
            room, words = max(16, 2 * self._count), -(-dimension // 64)
            self._sizes = _grown(self._sizes, (room,))
            self._centres = _grown(self._centres, (room, dimension))
            self._rows = _grown(self._rows, (room, self._limit))
            self._codes = _grown(self._codes, (room, words, self._limit))
            self._leanings = _grown(self._leanings.T, (room, 2 * words)).T.copy()
        self._count += 1
        return self._count - 1


def _grown(held: NDArray[T], shape: tuple[int, ...]) -> NDArray[T]:
    found = np.zeros(shape, held.dtype)
    if len(held):
        found[: len(held)] = held
    return found
