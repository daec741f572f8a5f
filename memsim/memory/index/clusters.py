"""Vectors in lists of near ones, so that a search looks at few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from memsim.memory.index.growing_columns import grown, lengthen
from memsim.memory.index.leanings import (
    PARTS,
    differing,
    fewest,
    leanings,
    likeliest,
    rounded,
    signs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.index.forms import Numbers
    from memsim.memory.index.leanings import Codes
    from memsim.models import Vectors

    Places = NDArray[np.int32]

ROUNDS = 6
"""How often a division in two moves its centres."""

LEAST = 8
"""The smaller of two halves has at least this part of all."""


def centre(vectors: Vectors) -> Vectors:
    """The direction of a sum of rounded vectors, shape (n, dimension), rounded; zeros for none."""
    total = vectors.sum(axis=0, dtype=np.float64)
    length = np.sqrt((total * total).sum())
    found: Vectors = (np.rint(total * (PARTS / length if length else 0.0)) / PARTS).astype(
        np.float32
    )
    return found


def halves(vectors: Vectors) -> tuple[Numbers, Numbers]:
    """Where two groups of rounded vectors are that are near each other; two at least are needed.

    It begins with the vector that is farthest from the centre and the one farthest from that, and
    moves the centre of each to the middle of what is nearer to it than to the other. Ties go to the
    first group, and there to the earlier; alike vectors are so divided in their order.
    """
    first = vectors[np.vecdot(vectors, centre(vectors)).argmin()]
    second = vectors[np.vecdot(vectors, first).argmin()]
    least = -(-len(vectors) // LEAST)
    order, cut = np.arange(len(vectors)), least
    for _ in range(ROUNDS):
        nearer = np.vecdot(vectors, first) - np.vecdot(vectors, second)
        order = np.argsort(-nearer, kind="stable")
        cut = min(max(int((nearer >= 0).sum()), least), len(vectors) - least)
        first, second = centre(vectors[order[:cut]]), centre(vectors[order[cut:]])
    return order[:cut], order[cut:]


class VectorRows(Protocol):
    """Vectors by the numbers of their rows: an array, or what reads them when they are needed."""

    def __len__(self) -> int:
        """How many rows there may be."""
        ...

    def __getitem__(self, rows: Numbers, /) -> Vectors:
        """The vectors of rows, shape (len(rows), dimension)."""
        ...


LIMIT = 64
"""Vectors in a list at most."""

CENTRES = 8192
"""Lists whose centres are all compared; more are kept in lists."""

ROOM = 8
"""A search compares the centres of so many times the lists that it would need if all were full."""

_LISTS_TO_ADD = 64
"""Lists that are compared at least when a vector is added, where there are more than `CENTRES`."""

_AT_ONCE = 512
"""Centres that all new vectors are compared with before the next ones: they stay at hand."""


class Clusters:
    """Which rows of an array of unit vectors are near each other.

    What is found depends on the order in which rows came and went, and on the vectors, alone. A row
    that is taken out is in no list; the centre of its list stays where it was until that is divided
    or empty.
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

    def add(self, rows: Numbers, vectors: VectorRows) -> None:
        """Take rows in; `vectors` has those of all rows, and `rows` are numbers in it."""
        if len(vectors) > len(self._list):
            self._list = grown(self._list, (len(vectors),))
            self._slot = grown(self._slot, (len(vectors),))
        if self._count:
            new = vectors[rows]
            targets = self._targets(new)
            for target in np.unique(targets).tolist():
                here = targets == target
                self._join(target, rows[here], new[here], vectors)
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

    def near(self, query: Vectors, *, probed: int, closer: int, wanted: int) -> Numbers:
        """Rows that are near a query.

        Args:
            query: a unit vector, shape (dimension,).
            probed: rows whose signs are looked at, at least, where there are so many.
            closer: of these, the rows that share most signs with the query: so many, and all that
                tie with them.
            wanted: of these, the `likeliest`.
        """
        chosen = self._chosen(query, probed)
        sizes = self._sizes[chosen]
        held = self._codes[chosen].swapaxes(0, 1)
        if int(sizes.sum()) <= closer:
            found = (np.arange(self._limit) < sizes[:, None]).ravel().nonzero()[0]
        else:
            found = self._fewest(held, sizes, query, closer)
        lists, slots = np.divmod(found, self._limit)
        best = likeliest(query, held[:, lists, slots], wanted)
        return self._rows[chosen[lists[best]], slots[best]].astype(np.int64)

    def _fewest(self, held: Codes, sizes: Numbers, query: Vectors, wanted: int) -> Numbers:
        """Where in lists the rows are that lean most as a query."""
        counts = differing(held, signs(query[None])[:, 0]).ravel()
        found = fewest(counts, wanted)
        if not (found % self._limit < sizes[found // self._limit]).all():
            # Where nothing is, it looks like a vector without a number above zero.
            counts[(np.arange(self._limit) >= sizes[:, None]).ravel()] = np.iinfo(counts.dtype).max
            found = fewest(counts, wanted)
        return found

    def _chosen(self, query: Vectors, probed: int) -> Numbers:
        """The nearest lists, nearest first, until they have so many rows."""
        lists = self._lists(query, -(-probed // self._limit) * ROOM)
        held = self._leanings[:, : self._count] if lists is None else self._leanings[:, lists]
        counts = differing(held, leanings(rounded(query)[None])[:, 0])
        order = np.argsort(counts, kind="stable")
        if lists is not None:
            order = lists[order]
        enough = np.searchsorted(np.cumsum(self._sizes[order]), probed)
        return order[: int(enough) + 1]

    def _lists(self, query: Vectors, wanted: int) -> Numbers | None:
        """Lists that may be near, at least so many; None for all."""
        if self._upper is None or self._count <= max(wanted, self._compared):
            return None
        return self._upper.near(query, probed=2 * wanted, closer=wanted, wanted=wanted)

    def _targets(self, vectors: Vectors) -> Numbers:
        """The lists that vectors belong to; of two that are as near, the earlier."""
        if self._upper is not None:
            return np.array([self._target(vector) for vector in vectors])
        # A product of matrices has threads, which take a processor for long after it. Products of
        # rounded vectors are exact, so that it makes no difference who sums them.
        whole, centres = rounded(vectors)[:, None], self._centres[: self._count]
        parts = [centres[start : start + _AT_ONCE] for start in range(0, len(centres), _AT_ONCE)]
        products = [np.vecdot(whole, part) for part in parts]
        best: Numbers = np.concatenate(products, axis=1).argmax(axis=1)
        return best

    def _target(self, vector: Vectors) -> int:
        lists = self._lists(vector, _LISTS_TO_ADD)
        if lists is None:
            lists = np.arange(self._count)
        return int(lists[int(np.vecdot(self._centres[lists], rounded(vector)).argmax())])

    def _join(self, place: int, rows: Numbers, new: Vectors, vectors: VectorRows) -> None:
        size = int(self._sizes[place])
        if size + len(rows) <= self._limit:
            self._put(place, size, rows, new)
            return
        if self._upper is not None:
            self._upper.remove(place)
        held = self._rows[place, :size].astype(np.int64)
        self._divide(np.concatenate((held, rows)), vectors, place)

    def _divide(self, rows: Numbers, vectors: VectorRows, place: int | None = None) -> None:
        """Put rows into as many lists as they need, the first of which may have a place."""
        raw = vectors[rows]
        whole = rounded(raw)
        parts, places = [np.arange(len(rows))], []
        while parts:
            part = parts.pop()
            if len(part) > self._limit:
                first, second = halves(whole[part])
                parts += (part[second], part[first])
                continue
            place = self._opened(raw.shape[1]) if place is None else place
            self._centres[place] = middle = centre(whole[part])
            self._leanings[:, place] = leanings(middle[None])[:, 0]
            self._put(place, 0, rows[part], raw[part])
            places.append(place)
            place = None
        if self._upper is not None:
            self._upper.add(np.array(places), self._centres)

    def _put(self, place: int, size: int, rows: Numbers, new: Vectors) -> None:
        """Have a list's first rows followed by these and no others, whose vectors are `new`."""
        end = size + len(rows)
        self._rows[place, size:end] = rows
        self._rows[place, end:] = 0
        self._codes[place, :, size:end] = signs(new)
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
            room, words = 16 + self._count + self._count // 16, -(-dimension // 64)
            lengthen(self._sizes, (room,))
            lengthen(self._centres, (room, dimension))
            lengthen(self._rows, (room, self._limit))
            lengthen(self._codes, (room, words, self._limit))
            self._leanings = grown(self._leanings.T, (room, 2 * words)).T.copy()
        self._count += 1
        return self._count - 1
