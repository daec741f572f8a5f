"""pgvector's IVFFlat index, as it behaves: the lists nearest to a query, and no others.

Centres come from the rows that are there when the index is made. Where these are too few, the
missing centres are random; on an empty table, which is where AEGIS makes its index, all of them
are. A search reads `probes` lists and leaves the filtering to whoever asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from memsim.memory.index.forms import Scores
    from memsim.models import Vectors

LISTS = 100
"""Lists of AEGIS's index."""
PROBES = 1
"""Lists that pgvector searches unless told otherwise."""

ROWS_PER_LIST = 50
"""Rows for each list up to which pgvector takes all of them as samples."""

_TOGETHER = 256
_AHEAD = 1e-9
_ROUNDS = 12
_STILL = 1e-4


class Ivfflat:
    """Index unit vectors by the nearest of `lists` centres.

    `rows`, of shape (n, dimension), are those that there are when the index is made.
    """

    def __init__(
        self, dimension: int, *, lists: int = LISTS, seed: int = 0, rows: Vectors | None = None
    ) -> None:
        self.lists = lists
        self._random = np.random.default_rng(seed)
        given = np.empty((0, dimension), np.float32) if rows is None else rows
        if len(given) > lists:
            self.centres = self._settled(given)
        else:
            self.centres = np.concatenate((given, self._made_up(lists - len(given), dimension)))
        self._wide = self.centres.astype(np.float64)
        self._members: dict[int, dict[int, None]] = {}
        self._list: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._list)

    def add(self, number: int, vector: Vectors) -> None:
        """Take a unit vector in, shape (dimension,); one of zeros is in no list, as in pgvector."""
        if vector.any():
            self._put(number, int(np.argmax(self._products(vector))))

    def add_all(self, rows: Vectors) -> None:
        """Take unit vectors in, shape (n, dimension), numbered from 0, as `add` does one by one."""
        for start in range(0, len(rows), _TOGETHER):
            block = rows[start : start + _TOGETHER]
            products = block.astype(np.float64) @ self._wide.T
            best = np.partition(products, -2, axis=1)[:, -2:]
            # However they are summed, what is so far ahead is ahead.
            clear = best[:, 1] - best[:, 0] > _AHEAD
            for place, nearest in enumerate(products.argmax(axis=1)):
                if clear[place]:
                    self._put(start + place, int(nearest))
                else:
                    self.add(start + place, block[place])

    def _put(self, number: int, nearest: int) -> None:
        self._members.setdefault(nearest, {})[number] = None
        self._list[number] = nearest

    def remove(self, number: int) -> None:
        """Take a vector out, if it is there."""
        held = self._list.pop(number, None)
        if held is not None:
            del self._members[held][number]

    def near(self, query: Vectors, probes: int = PROBES) -> list[int]:
        """The numbers in the lists nearest to a unit vector, list by list."""
        order = np.argsort(-self._products(query), kind="stable")[:probes]
        return [number for place in order for number in self._members.get(int(place), ())]

    def _products(self, vector: Vectors) -> Scores:
        # Summed in one fixed order, so that it is the same on every machine.
        found: Scores = (self._wide * vector).sum(axis=1)
        return found

    def _made_up(self, count: int, dimension: int) -> Vectors:
        made = self._random.random((count, dimension)).astype(np.float32)
        return _units(made)

    def _settled(self, rows: Vectors) -> Vectors:
        """Centres of the rows by k-means on the sphere, begun by k-means++."""
        sample = rows
        most = self.lists * max(ROWS_PER_LIST, 10_000 // self.lists)
        if len(rows) > most:
            sample = rows[np.sort(self._random.choice(len(rows), most, replace=False))]
        centres = sample[self._spread(sample)]
        for _ in range(_ROUNDS):
            nearest = np.argmax(sample @ centres.T, axis=1)
            belongs = np.zeros((len(centres), len(sample)), np.float32)
            belongs[nearest, np.arange(len(sample))] = 1
            moved = np.where(belongs.any(axis=1, keepdims=True), _units(belongs @ sample), centres)
            still = float(np.abs(moved - centres).max()) < _STILL
            centres = moved
            if still:
                break
        return centres

    def _spread(self, sample: Vectors) -> list[int]:
        chosen = [int(self._random.integers(len(sample)))]
        distance = np.full(len(sample), np.inf)
        while len(chosen) < self.lists:
            angle = np.arccos(np.clip(sample @ sample[chosen[-1]], -1.0, 1.0))
            distance = np.minimum(distance, angle)
            weights = distance**2
            total = float(weights.sum())
            if total <= 0:
                chosen.append(int(self._random.integers(len(sample))))
                continue
            chosen.append(int(self._random.choice(len(sample), p=weights / total)))
        return chosen


def notices(rows: int, lists: int = LISTS) -> list[str]:
    """What pgvector remarks when an index is made on a table of so many rows."""
    return ["ivfflat index created with little data"] if rows < lists else []


def planned(probes: int, lists: int = LISTS) -> str:
    """What PostgreSQL does with a search: `index`, or `exact` where it would read every list."""
    return "exact" if probes >= lists else "index"


def _units(rows: Vectors) -> Vectors:
    lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    found: Vectors = (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return found
