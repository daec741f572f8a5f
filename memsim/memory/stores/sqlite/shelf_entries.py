"""What is known of the entries on a shelf, in columns: 36 bytes of each.

A long shelf has 5 more for where they stand, and 13 for their ids once it was asked for them.

A dictionary of what they are called takes ten times as much, and the garbage collector searches it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from memsim.memory.index.id_halves import IdHalves
from memsim.memory.index.number_ranks import NumberRanks
from memsim.memory.stores.sqlite.rows import moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memsim.memory.index.forms import Numbers
    from memsim.memory.index.postings import Counts
    from memsim.memory.stores.sqlite.rows import EntryRow, ShelfList

_DIGEST: Final = 16
"""Bytes of an id."""

_GONE: Final = -1
"""The length of an entry that is gone, whose row is still there."""

_RANKED: Final = 4096
"""Entries from which on they have ranks."""

_SPREAD: Final = 16
"""A shelf with ranks has one of so many numbers at least. Ranks take 4 bytes of an entry then."""

_SCANNED: Final = 8192
"""Entries that are all looked through for some ids; more are found by halves of these."""

_LATEST: Final = 20_000
"""Entries that may come before the halves of ids are put in order anew."""

_KEPT: Final = 4
"""One row in so many may be of an entry that is gone: to close a gap costs as much as all rows."""


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
        self._gone = 0
        self._ranks: NumberRanks | None = None
        self._halves: IdHalves | None = None
        self._latest: dict[str, int] = {}
        """Where those stand whose halves are not among these."""

    def append(self, row: EntryRow) -> None:
        """An entry came, whose number is greater than those of all that are there."""
        while self._numbers and self._numbers[-1] >= row.number:
            self._drop_last()
        self._numbers.append(row.number)
        if self._ranks is not None:
            if self._is_dense(_SPREAD):
                self._ranks.append(row.number)
            else:
                self._ranks = None
        self._lengths.append(row.length)
        self._created.extend(moments([row.created]).tolist())
        self._digests += bytes.fromhex(row.id)
        if self._halves is not None:
            self._latest[row.id] = len(self._numbers) - 1
            if len(self._latest) > _LATEST:
                self._forget_halves()

    def remove(self, number: int) -> None:
        """An entry is gone."""
        self._lengths[bisect_left(self._numbers, number)] = _GONE
        self._gone += 1
        if self._gone * _KEPT > len(self._numbers):
            self._close_gaps()

    def lengths(self, numbers: Numbers) -> Counts | None:
        """The terms that entries have; None where one of them is not there."""
        at, there = self._at(numbers)
        return np.frombuffer(self._lengths, np.intc)[at] if there.all() else None

    def called(self, numbers: Numbers) -> dict[int, tuple[int, str]]:
        """Creation, as `moments` gives it, and id of those that are there, by number."""
        at, there = self._at(numbers)
        at = at[there]
        created = np.frombuffer(self._created, np.int64)[at].tolist()
        ids = np.frombuffer(self._digests, f"V{_DIGEST}")[at].tobytes().hex()
        named = zip(numbers[there].tolist(), created, count(0, 2 * _DIGEST), strict=False)
        return {number: (moment, ids[n : n + 2 * _DIGEST]) for number, moment, n in named}

    def holds(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of these are there."""
        return self._at(numbers)[1]

    def date(self, numbers: Numbers, created: Numbers) -> None:
        """Put down the creation, as `moments` gives it, of those that are there."""
        at, there = self._at(numbers)
        created[there] = np.frombuffer(self._created, np.int64)[at[there]]

    def among(self, ids: Sequence[str]) -> set[str]:
        """Those of some ids that are there."""
        if len(self._numbers) <= _SCANNED:
            return self._scan(ids)
        asked = np.frombuffer(bytes.fromhex("".join(ids)), ">u8").reshape(-1, 2)
        there, at = self._halved().find(asked[:, 1].astype(np.uint64))
        # What was last there may be gone, and others have come.
        at = np.minimum(at, len(self._numbers) - 1)
        same = np.frombuffer(self._digests, ">u8").reshape(-1, 2)[at] == asked
        if (there & same[:, 1] & ~same[:, 0]).any():  # two have the same half
            return self._scan(ids)
        there = same.all(axis=1) & (np.frombuffer(self._lengths, np.intc)[at] != _GONE)
        found = {ids[place] for place in there.nonzero()[0].tolist()}
        late = ((source, self._latest.get(source)) for source in ids)
        return found.union(source for source, place in late if self._is_at(source, place))

    def _scan(self, ids: Sequence[str]) -> set[str]:
        """As `among`; it takes as long as the shelf."""
        asked = np.frombuffer(bytes.fromhex("".join(ids)), np.uint64)[::2]
        known = np.frombuffer(self._digests, np.uint64)[::2]
        there = np.frombuffer(self._lengths, np.intc) != _GONE
        (found,) = (np.isin(known, asked) & there).nonzero()
        return {self._id(n) for n in found.tolist()}.intersection(ids)

    def _is_at(self, source: str, place: int | None) -> bool:
        """Whether an entry stands at a place, and is not gone."""
        if place is None or place >= len(self._lengths):
            return False
        return self._lengths[place] != _GONE and self._id(place) == source

    def _halved(self) -> IdHalves:
        """The halves of all ids, but for the latest."""
        if self._halves is None:
            (there,) = (np.frombuffer(self._lengths, np.intc) != _GONE).nonzero()
            halves = np.frombuffer(self._digests, ">u8").reshape(-1, 2)[there, 1]
            self._halves = IdHalves()
            self._halves.merge(halves.astype(np.uint64), there.astype(np.intc))
        return self._halves

    def _forget_halves(self) -> None:
        self._halves = None
        self._latest.clear()

    def _at(self, numbers: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """Where entries would stand, and whether they stand there."""
        if not self._numbers:
            return numbers, np.zeros(len(numbers), np.bool_)
        known = np.frombuffer(self._numbers, np.int64)
        ranks = self._ranked(known)
        if ranks is None:
            at = np.minimum(known.searchsorted(numbers), len(known) - 1)
            there = known[at] == numbers
        else:
            at, there = ranks.find(numbers)
        return at, there & (np.frombuffer(self._lengths, np.intc)[at] != _GONE)

    def _ranked(self, known: Numbers) -> NumberRanks | None:
        """The ranks of a shelf that has many entries, which are not far apart."""
        # Half as far apart, so that they are not made time and again.
        if self._ranks is None and self._is_dense(_SPREAD // 2):
            self._ranks = NumberRanks(known)
        return self._ranks

    def _is_dense(self, spread: int) -> bool:
        """Whether there are many entries, and no fewer than one of so many numbers."""
        numbers = self._numbers
        return len(numbers) >= _RANKED and numbers[0] >= 0 and numbers[-1] < spread * len(numbers)

    def _drop_last(self) -> None:
        """Drop the last row, whose entry is gone: its number is given again."""
        del self._numbers[-1], self._created[-1], self._lengths[-1], self._digests[-_DIGEST:]
        if self._ranks is not None:
            self._ranks.drop_last()
        self._gone -= 1

    def _close_gaps(self) -> None:
        there = np.frombuffer(self._lengths, np.intc) != _GONE
        digests = np.frombuffer(self._digests, f"V{_DIGEST}")[there]
        self._numbers = array("q", np.frombuffer(self._numbers, np.int64)[there].tobytes())
        self._created = array("q", np.frombuffer(self._created, np.int64)[there].tobytes())
        self._lengths = array("i", np.frombuffer(self._lengths, np.intc)[there].tobytes())
        self._digests = bytearray(digests.tobytes())
        self._ranks = None
        self._forget_halves()
        self._gone = 0

    def _id(self, at: int) -> str:
        return self._digests[at * _DIGEST : (at + 1) * _DIGEST].hex()
