"""What a process knows of a SQLite store's shelves: counts, and what it has read of each so far.

Nothing here is the truth: every shelf carries the version at which it was read, and is read again
once another process has written to it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import numpy as np

from memsim.memory.retrieval.nearest import MemoryStore
from memsim.memory.retrieval.postings import Postings
from memsim.memory.stores import ranking, rows
from memsim.memory.stores.codec import Damaged, decode_shelf
from memsim.memory.stores.tail import Tail

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from memsim.memory.acl import Where
    from memsim.memory.entry import Shelf
    from memsim.memory.stores.rows import Row
    from memsim.models import Vectors

KEPT: Final = 1 << 22
"""Places of terms that are kept in memory at most: 64 MB."""

ASKED: Final = 256
"""Questions of permission whose answers are kept."""


class HeldShelf:
    """One shelf, as this process knows it.

    Attributes:
        number: what the database calls it.
        shelf: what it is.
        entries: how many stand there.
        terms: how many terms their texts have in all.
    """

    def __init__(self, shelving: Shelving, number: int, shelf: Shelf) -> None:
        self._shelving = shelving
        self.number = number
        self.shelf = shelf
        self.entries = 0
        self.terms = 0
        self.vectors: MemoryStore | None = None
        self.embedded: set[int] = set()
        self._numbers: array[int] | None = None
        self._lengths: array[int] = array("i")

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        self.vectors = None
        self.embedded.clear()
        self._numbers = None
        self._lengths = array("i")

    def postings(self, term: str) -> Postings | None:
        """Where a term stands."""
        return self._shelving.postings(self, term)

    def add(self, row: Row, vector: Vectors | None) -> None:
        """Note an entry that was written."""
        if self._numbers is not None:
            self._numbers.append(row.number)
            self._lengths.append(row.length)
        if self.vectors is not None and vector is not None:
            self.vectors.add([row.number], vector[None, :])
            self.embedded.add(row.number)

    def remove(self, row: Row) -> None:
        """Note an entry that is gone."""
        if self._numbers is not None:
            at = bisect_left(self._numbers, row.number)
            del self._numbers[at], self._lengths[at]
        if self.vectors is not None and row.number in self.embedded:
            self.vectors.remove(row.number)
            self.embedded.remove(row.number)

    def read_postings(self, connection: sqlite3.Connection, term: str) -> Postings:
        """Where a term stands, from the database."""
        held = Postings(term)
        numbers, times = self._shelving.tail.places(connection, self.number, term)
        if len(numbers):
            self._read_lengths(connection)
            known = np.frombuffer(self._numbers or b"", np.int64)
            at = np.minimum(known.searchsorted(numbers), len(known) - 1)
            if not len(known) or (known[at] != numbers).any():
                raise Damaged("the index of words names entries that are not there")
            held.extend(numbers, times, np.frombuffer(self._lengths, np.intc)[at])
            held.documents = len(numbers)
        return held

    def read_vectors(self, connection: sqlite3.Connection, dimension: int) -> MemoryStore:
        """Its vectors, by number."""
        if self.vectors is None:
            found = connection.execute(
                "SELECT number, vector FROM entries WHERE shelf = ? AND vector IS NOT NULL"
                " ORDER BY number",
                (self.number,),
            ).fetchall()
            vectors = MemoryStore(exact=ranking.EXACT)
            if found:
                vectors.add([n for n, _ in found], rows.unpack([v for _, v in found], dimension))
            self.embedded = {n for n, _ in found}
            self.vectors = vectors
        return self.vectors

    def _read_lengths(self, connection: sqlite3.Connection) -> None:
        if self._numbers is None:
            found = connection.execute(
                "SELECT number, length FROM entries WHERE shelf = ?", (self.number,)
            ).fetchall()
            found.sort()
            self._numbers = array("q", [number for number, _ in found])
            self._lengths = array("i", [length for _, length in found])


class Shelving:
    """All shelves of a store, by number and by what they are.

    Attributes:
        tail: the entries of all of them whose words are not indexed yet.
    """

    def __init__(self) -> None:
        self.tail = Tail()
        self.forget()

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        self.tail.forget()
        self._changes = -1
        self._epoch = -1
        self._held: dict[int, HeldShelf] = {}
        self._number: dict[Shelf, int] = {}
        self._answers: OrderedDict[Where, list[HeldShelf]] = OrderedDict()
        self._postings: OrderedDict[tuple[int, str], Postings] = OrderedDict()
        self._size = 0

    def __iter__(self) -> Iterator[HeldShelf]:
        return iter(self._held.values())

    def __getitem__(self, number: int) -> HeldShelf:
        return self._held[number]

    def refresh(self, connection: sqlite3.Connection, changes: int, epoch: int) -> None:
        """Notice what other processes have written; within a transaction."""
        if epoch != self._epoch:
            self.forget()
            self._epoch = epoch
        if changes == self._changes:
            return
        self.tail.doubt()
        found = connection.execute(
            "SELECT number, record, check_sum, entries, terms FROM shelves WHERE version > ?",
            (self._changes,),
        )
        for number, record, told, entries, terms in found:
            if rows.check_sum(str(record)) != told:
                raise Damaged(f"shelf {number} is damaged: its check sum is wrong")
            rows.check_counts(entries, terms)
            held, shelf = self._held.get(number), decode_shelf(record, f"shelf {number}")
            if held is None:
                held = self._take(number, shelf)
            elif held.shelf != shelf:
                # By what a shelf was, its entries would be shown to whoever could see others.
                self.forget()
                self.refresh(connection, changes, epoch)
                return
            held.forget()
            held.entries, held.terms = entries, terms
            self._forget_postings(number)
        self._changes = changes

    def admitted(self, where: Where) -> list[HeldShelf]:
        """The shelves that a filter admits."""
        found = self._answers.get(where)
        if found is None:
            found = [held for held in self._held.values() if where.admits(held.shelf)]
            self._answers[where] = found
            if len(self._answers) > ASKED:
                self._answers.popitem(last=False)
        else:
            self._answers.move_to_end(where)
        return [held for held in found if held.entries]

    def number(self, connection: sqlite3.Connection, shelf: Shelf) -> int:
        """The number of a shelf, which is put up where there is none."""
        number = self._number.get(shelf)
        if number is None:
            number = rows.add_shelf(connection, shelf)
            self._take(number, shelf)
        return number

    def written(
        self, changes: int, gone: Iterable[Row], come: Iterable[tuple[Row, Vectors | None]]
    ) -> None:
        """Note what this process has written, now that it is there."""
        self._changes = changes
        for row in gone:
            held = self._held[row.shelf]
            held.entries -= 1
            held.terms -= row.length
            held.remove(row)
            for term in row.counts:
                known = self._postings.get((row.shelf, term))
                if known is not None:
                    known.documents -= 1
                    known.remove(row.number)
                    self._size -= 1
        for row, vector in come:
            held = self._held[row.shelf]
            held.entries += 1
            held.terms += row.length
            held.add(row, vector)
            for term, times in row.counts.items():
                known = self._postings.get((row.shelf, term))
                if known is not None:
                    known.documents += 1
                    known.append(row.number, times, row.length)
                    self._size += 1

    def erased(self, changes: int, gone: Sequence[Row]) -> None:
        """Note what this process has erased, and the shelves that were taken down for it."""
        self.written(changes, gone, ())
        self._epoch += 1
        for number, held in [*self._held.items()]:
            if not held.entries:
                del self._held[number], self._number[held.shelf]
                self._forget_postings(number)
        self._answers.clear()

    def read_by(self, connection: sqlite3.Connection) -> None:
        """Where postings come from that are not known."""
        self._connection = connection

    def postings(self, held: HeldShelf, term: str) -> Postings:
        """Where a term stands on a shelf: known, or read."""
        at = (held.number, term)
        found = self._postings.get(at)
        if found is not None:
            self._postings.move_to_end(at)
            return found
        found = self._postings[at] = held.read_postings(self._connection, term)
        self._size += len(found) + 1
        while self._size > KEPT and len(self._postings) > 1:
            _, dropped = self._postings.popitem(last=False)
            self._size -= len(dropped) + 1
        return found

    def _take(self, number: int, shelf: Shelf) -> HeldShelf:
        held = self._held[number] = HeldShelf(self, number, shelf)
        self._number[shelf] = number
        self._answers.clear()
        return held

    def _forget_postings(self, number: int) -> None:
        for at in [at for at in self._postings if at[0] == number]:
            self._size -= len(self._postings.pop(at)) + 1
