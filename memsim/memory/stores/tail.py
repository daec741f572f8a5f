"""The latest entries of a SQLite store, whose words go into its index together.

An index that takes in one entry at a time writes several pages for it, and merges them later. So
an entry's words are first only in its own row, and `state.indexed` tells which rows those are: all
with a greater number. Whoever looks for a term looks through them as well.
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
        self._whole = False

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
            Damaged: the index holds what is not in it yet.
        """
        numbers, times = rows.places(connection, shelf, term)
        if len(numbers) and numbers[-1] > self.indexed:
            raise Damaged("the index of words names entries that are not indexed")
        late = [row for row in self._read(connection) if row.shelf == shelf and term in row.counts]
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
        if gone:
            self.indexed = min(self.indexed, rows.last(connection))

    def add(self, connection: sqlite3.Connection, come: Sequence[Row]) -> None:
        """Note entries that were written, and index all together where there are many.

        Raises:
            Damaged: one of them counts as indexed already.
        """
        self.check(come[0].number - 1)
        self._rows.update((row.number, row) for row in come)
        if come[-1].number - self.indexed >= TOGETHER:
            rows.index(connection, self._read(connection))
            self.indexed = come[-1].number
            self._rows.clear()
            self._whole = True

    def _read(self, connection: sqlite3.Connection) -> Sequence[Row]:
        """All of them, by number."""
        if not self._whole:
            self._rows = {row.number: row for row in rows.after(connection, self.indexed)}
            self._whole = True
        return [*self._rows.values()]
