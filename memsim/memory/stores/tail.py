"""The latest entries of a SQLite store, whose words go into its index together.

An index that takes in one entry at a time writes several pages for it, and merges them later. So
an entry's words are first only in its own row, and `status.indexed` tells which rows those are: all
with a greater number. Whoever looks for a term looks through them as well, and reads only those
on the shelves that it may see: what others wrote last takes none of its time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from memsim.memory.stores import rows
from memsim.memory.stores.codec import Damaged
from memsim.memory.stores.rows import Columns

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from memsim.memory.stores.rows import Row

TOGETHER: Final = 64
"""Numbers from which on the words of the latest entries are indexed."""


class Misindexed(Exception):  # noqa: N818 - as Damaged
    """The index of words holds what is not in it yet; it can be made anew."""


class Tail:
    """The entries whose words are not in the index, as this process knows them.

    Attributes:
        indexed: the greatest number whose words may be there.
    """

    def __init__(self) -> None:
        self.indexed = 0
        self.forget()

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        self._rows: dict[int, Row] = {}
        self._unread: dict[int, int] = {}
        self._tried = 0
        self.doubt()

    def doubt(self) -> None:
        """Look again which there are when they are next asked for: others have written."""
        self._listed = False

    def check(self, last: int) -> None:
        """Refuse to go on where more is told to be indexed than there is.

        Raises:
            Damaged: the greatest number of an entry is smaller.
        """
        if self.indexed > last:
            raise Damaged("more is told to be indexed than is there")

    def places(self, connection: sqlite3.Connection, shelf: int, term: str) -> Columns:
        """Where a term stands on a shelf, in the index and after it.

        Raises:
            Damaged: an entry on the shelf is.
            Misindexed: the index holds what is not in it yet.
        """
        numbers, times = rows.places(connection, shelf, term)
        if len(numbers) and numbers[-1] > self.indexed:
            raise Misindexed("the index of words names entries that are not indexed")
        late = [row for row in self._on(connection, shelf) if term in row.counts]
        if not late:
            return Columns(numbers, times)
        return Columns(
            np.concatenate((numbers, np.array([row.number for row in late], np.int64))),
            np.concatenate((times, np.array([row.counts[term] for row in late], np.intc))),
        )

    def remove(self, connection: sqlite3.Connection, gone: Sequence[Row]) -> None:
        """Note entries that are gone, before others come: these may be given their numbers."""
        for row in gone:
            self._rows.pop(row.number, None)
            self._unread.pop(row.number, None)
        if gone:
            self.indexed = min(self.indexed, rows.last(connection))
            self._tried = 0

    def add(self, connection: sqlite3.Connection, come: Sequence[Row]) -> None:
        """Note entries that were written, and index all together where there are many.

        Raises:
            Damaged: one of them counts as indexed already.
        """
        self.check(come[0].number - 1)
        self._rows.update((row.number, row) for row in come)
        last = come[-1].number
        if last - max(self.indexed, self._tried) >= TOGETHER:
            self._index(connection, last)

    def _index(self, connection: sqlite3.Connection, last: int) -> None:
        """Index all, or those before a damaged one: an error for whoever may see it alone."""
        self._list(connection)
        up_to = last
        for number in [*self._unread]:
            try:
                self._read(connection, number)
            except Damaged:
                up_to, self._tried = number - 1, last
                break
        rows.index(connection, [self._rows.pop(n) for n in sorted(self._rows) if n <= up_to])
        self.indexed = up_to

    def _on(self, connection: sqlite3.Connection, shelf: int) -> list[Row]:
        """Those on a shelf, by number."""
        self._list(connection)
        for number in [n for n, where in self._unread.items() if where == shelf]:
            self._read(connection, number)
        return sorted(row for row in self._rows.values() if row.shelf == shelf)

    def _list(self, connection: sqlite3.Connection) -> None:
        """See which there are, and keep what is known of them."""
        if self._listed:
            return
        there = rows.after(connection, self.indexed)
        self._rows = {
            number: row
            for number, row in self._rows.items()
            if there.get(number) == (row.shelf, row.check_sum)
        }
        self._unread = {n: shelf for n, (shelf, _) in there.items() if n not in self._rows}
        self._listed = True

    def _read(self, connection: sqlite3.Connection, number: int) -> None:
        self._rows[number] = rows.at(connection, number)
        del self._unread[number]
