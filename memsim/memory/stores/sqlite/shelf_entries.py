"""What is known of the entries on a shelf, in columns: 36 bytes of each.

A dictionary of what they are called takes ten times as much, and the garbage collector searches it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

import numpy as np

from memsim.memory.stores.sqlite.rows import moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memsim.memory.index.forms import Numbers
    from memsim.memory.index.postings import Counts
    from memsim.memory.stores.sqlite.rows import EntryRow, ShelfList

_DIGEST: Final = 16
"""Bytes of an id."""


class ShelfEntries:
    """The entries of a shelf by number, ascending.

    Raises `ValueError` if an instant or an id of a list is damaged.
    """

    def __init__(self, listed: ShelfList) -> None:
        numbers = np.array(listed.numbers, np.int64)
        lengths = np.array(listed.lengths, np.intc)
        created = moments(listed.created)
        joined = bytes.fromhex("".join(listed.ids))
        if len(joined) != _DIGEST * len(numbers):
            raise ValueError("an id is damaged")
        digests = np.frombuffer(joined, f"V{_DIGEST}")
        if (numbers[1:] <= numbers[:-1]).any():
            order = np.argsort(numbers)
            numbers, lengths = numbers[order], lengths[order]
            created, digests = created[order], digests[order]
        self._numbers = array("q", numbers.tobytes())
        self._lengths = array("i", lengths.tobytes())
        self._created = array("q", created.tobytes())
        self._digests = bytearray(digests.tobytes())

    def append(self, row: EntryRow) -> None:
        """An entry came, whose number is greater than all others."""
        self._numbers.append(row.number)
        self._lengths.append(row.length)
        self._created.extend(moments([row.created]).tolist())
        self._digests += bytes.fromhex(row.id)

    def remove(self, number: int) -> None:
        """An entry is gone."""
        at = bisect_left(self._numbers, number)
        del self._numbers[at], self._lengths[at], self._created[at]
        del self._digests[at * _DIGEST : (at + 1) * _DIGEST]

    def lengths(self, numbers: Numbers) -> Counts | None:
        """The terms that entries have; None where one of them is not there."""
        at, there = self._at(numbers)
        return np.frombuffer(self._lengths, np.intc)[at] if there.all() else None

    def called(self, numbers: Numbers) -> dict[int, tuple[int, str]]:
        """Creation, as `moments` gives it, and id of those that are there, by number."""
        at, there = self._at(numbers)
        return {self._numbers[n]: (self._created[n], self._id(n)) for n in at[there].tolist()}

    def among(self, ids: Sequence[str]) -> set[str]:
        """Those of some ids that are there; it takes as long as the shelf."""
        asked = np.frombuffer(bytes.fromhex("".join(ids)), np.uint64)[::2]
        known = np.frombuffer(self._digests, np.uint64)[::2]
        (found,) = np.isin(known, asked).nonzero()
        return {self._id(n) for n in found.tolist()}.intersection(ids)

    def _at(self, numbers: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """Where entries would stand, and whether they stand there."""
        known = np.frombuffer(self._numbers, np.int64)
        if not len(known):
            return numbers, np.zeros(len(numbers), np.bool_)
        at = np.minimum(known.searchsorted(numbers), len(known) - 1)
        return at, known[at] == numbers

    def _id(self, at: int) -> str:
        return self._digests[at * _DIGEST : (at + 1) * _DIGEST].hex()
