"""Find the numbers of many ids at once, by the last half of each.

The halves stand in a column, ascending. Those of digests are spread evenly, so a table of where
each part of them begins leaves a few steps of the search. To halve a column of millions takes
twenty, and most of them wait for memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Halves = NDArray[np.uint64]
    Places = NDArray[np.int64]

TABLED: Final = 4096
"""Halves from which on they have a table."""

_PART_BITS: Final = 3
"""A part has no more halves than this power of two in the mean, and at least half as many."""

_MOVED: Final = 64
"""Halves that may be taken out before the table is made anew."""


class IdHalves:
    """Halves of ids, ascending, with a number for each: 13 to 14 bytes of an id."""

    __slots__ = ("_bits", "_gone", "_halves", "_numbers", "_starts", "_widest")

    def __init__(self) -> None:
        self._halves = array("Q")
        self._numbers = array("i")
        self._starts: Places | None = None
        self._bits = 0
        self._widest = 0
        # Of those that were taken out since the table was made, the others have moved up.
        self._gone = 0

    def __len__(self) -> int:
        return len(self._halves)

    def numbers(self, half: int) -> list[tuple[int, int]]:
        """Each place of a half, and the number there."""
        halves, found = self._halves, list[tuple[int, int]]()
        at = bisect_left(halves, half)
        while at < len(halves) and halves[at] == half:
            found.append((at, self._numbers[at]))
            at += 1
        return found

    def take(self, place: int) -> int:
        """Take the half at a place out, and tell its number."""
        del self._halves[place]
        self._gone += 1
        return self._numbers.pop(place)

    def merge(self, halves: Halves, numbers: NDArray[np.intc]) -> None:
        """Take halves in, each with a number; in any order."""
        import numpy as np

        order = np.argsort(halves, kind="stable")
        halves, numbers = halves[order], numbers[order]
        known = np.frombuffer(self._halves, np.uint64)
        # Sorting all of them anew would take ten times as long where there are many.
        at = known.searchsorted(halves, side="right")
        known_numbers = np.frombuffer(self._numbers, np.intc)
        self._halves = array("Q", np.insert(known, at, halves).tobytes())
        self._numbers = array("i", np.insert(known_numbers, at, numbers).tobytes())
        self._starts = None

    def find(self, halves: Halves) -> tuple[NDArray[np.bool_], NDArray[np.intc]]:
        """Whether each of some halves is there, and the first number of it; else any number.

        There must be halves.
        """
        import numpy as np

        known = np.frombuffer(self._halves, np.uint64)
        at = np.minimum(self._sought(known, halves), len(known) - 1)
        return known[at] == halves, np.frombuffer(self._numbers, np.intc)[at]

    def _sought(self, known: Halves, halves: Halves) -> Places:
        """Where halves stand, or would stand."""
        import numpy as np

        if len(known) < TABLED:
            return known.searchsorted(halves)
        starts = self._table(known)
        part = (halves >> np.uint64(64 - self._bits)).astype(np.int64)
        at, end = np.maximum(starts[part] - self._gone, 0), starts[part + 1]
        for power in reversed(range((self._widest + self._gone).bit_length())):
            ahead = at + (1 << power)
            below = (ahead <= end) & (known[np.minimum(ahead, len(known)) - 1] < halves)
            at = np.where(below, ahead, at)
        return at

    def _table(self, known: Halves) -> Places:
        """Where each part of the halves begins, and where the last one ends."""
        import numpy as np

        if self._starts is None or self._gone > _MOVED:
            self._bits = len(known).bit_length() - _PART_BITS
            parts = np.arange(1 << self._bits).astype(np.uint64) << np.uint64(64 - self._bits)
            self._starts = np.append(known.searchsorted(parts), len(known))
            self._widest = int(np.diff(self._starts).max())
            self._gone = 0
        return self._starts
