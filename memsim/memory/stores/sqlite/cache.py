"""What a process knows of a SQLite store's shelves: counts, and what it has read of each so far.

Nothing here is the truth: every shelf carries the version at which it was read, and is read again
once another process has written to it.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from functools import partial
from operator import add
from typing import TYPE_CHECKING, Final

import numpy as np

from memsim.memory.entry import DamagedRecord, decode_shelf
from memsim.memory.index.nearest_vectors import EXACT_ON_SHELF, SCANNED_ON_SHELF, NearestVectors
from memsim.memory.index.postings import Postings
from memsim.memory.index.vector_file import VectorFile
from memsim.memory.stores.sqlite import rows
from memsim.memory.stores.sqlite.rows import TermPlaces
from memsim.memory.stores.sqlite.shelf_entries import ShelfEntries
from memsim.memory.stores.sqlite.written_outlines import WrittenOutlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from memsim.memory.entry import Shelf
    from memsim.memory.index.forms import Numbers
    from memsim.memory.permissions import Where
    from memsim.memory.stores.sqlite.rows import EntryRow, ShelfList
    from memsim.models import Vectors


# The latest entries of a SQLite store, whose words go into its index together.


TOGETHER: Final = 64
"""Numbers from which on the words of the latest entries are indexed."""


class IndexMismatch(Exception):  # noqa: N818 - as Damaged
    """The index of words holds what is not in it yet; it can be made anew."""


class TailIndex:
    """The entries whose words are not in the index, as this process knows them."""

    def __init__(self) -> None:
        self.indexed = 0
        self._times_indexed = 0
        self.forget()

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        self._rows: dict[int, EntryRow] = {}
        self._unread: dict[int, int] = {}
        self._tried = 0
        self.doubt()

    def doubt(self) -> None:
        """Look again which there are when they are next asked for: others have written."""
        self._listed = False

    def check(self, last: int) -> None:
        """Refuse to go on where more is told to be indexed than there is.

        Raises `Damaged` if the greatest number of an entry is smaller.
        """
        if self.indexed > last:
            raise DamagedRecord("more is told to be indexed than is there")

    @property
    def version(self) -> tuple[int, int]:
        """What is another where words of a shelf may have come into the index."""
        return self.indexed, self._times_indexed

    def places(
        self, connection: sqlite3.Connection, shelf: int, term: str, *, indexed: bool
    ) -> TermPlaces:
        """Where a term stands on a shelf, in the index and after it.

        It is not looked for in the index unless it may be `indexed`.

        Raises `Damaged` if an entry on the shelf is. Raises `Misindexed` if the index holds what is
        not in it yet.
        """
        numbers, times = rows.places(connection, shelf, term) if indexed else rows.NOWHERE
        if len(numbers) and numbers[-1] > self.indexed:
            raise IndexMismatch("the index of words names entries that are not indexed")
        late = [row for row in self._on(connection, shelf) if term in row.counts]
        if not late:
            return TermPlaces(numbers, times)
        return TermPlaces(
            np.concatenate((numbers, np.array([row.number for row in late], np.int64))),
            np.concatenate((times, np.array([row.counts[term] for row in late], np.intc))),
        )

    def has(self, connection: sqlite3.Connection, shelf: int) -> bool:
        """Whether one of them is on a shelf."""
        self._list(connection)
        late = any(row.shelf == shelf for row in self._rows.values())
        return late or shelf in self._unread.values()

    def remove(self, connection: sqlite3.Connection, gone: Sequence[EntryRow]) -> None:
        """Note entries that are gone, before others come: these may be given their numbers."""
        for row in gone:
            self._rows.pop(row.number, None)
            self._unread.pop(row.number, None)
        if gone:
            self.indexed = min(self.indexed, rows.last(connection))
            self._tried = 0

    def add(self, connection: sqlite3.Connection, come: Sequence[EntryRow]) -> None:
        """Note entries that were written, and index all together where there are many.

        Raises `Damaged` if one of them counts as indexed already.
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
            except DamagedRecord:
                up_to, self._tried = number - 1, last
                break
        rows.index(connection, [self._rows.pop(n) for n in sorted(self._rows) if n <= up_to])
        self.indexed = up_to
        self._times_indexed += 1

    def _on(self, connection: sqlite3.Connection, shelf: int) -> list[EntryRow]:
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


MOST_PLACES: Final = 3 << 23
"""Places of terms that an open store keeps in memory: 192 MB, or half more with texts of 65,536
words. The common words of 500,000 turns take 70 MB. Where they take more than is kept, each
question reads its words again."""

LIST_SIZE: Final = 40
"""Places that the rest of a list of them takes the room of: 320 bytes."""

MOST_ABSENT: Final = 1024
"""Terms that stand nowhere on a shelf of which that is kept."""

MOST_QUESTIONS: Final = 256
"""Questions of permission whose answers are kept."""

MOST_TERMS: Final = 8
"""Shelves whose terms are kept as a table: those of a few people who ask."""

READ_AT_ONCE: Final = 8192
"""Vectors that are read together when a shelf is searched first."""

SPELT: Final = 4096
"""Entries of a shelf up to which it is known which terms it has in the index, so that the others
are not looked for: a question has a hundred that a misspelt word may be. To read which there are
takes as long as to look for 30 terms, where there are 1,000 entries."""


class CachedShelf:
    """One shelf, as this process knows it."""

    def __init__(self, shelving: ShelfCache, number: int, shelf: Shelf) -> None:
        self._shelving = shelving
        self.number = number
        self.shelf = shelf
        self.entries = 0
        self.terms = 0
        self.vectors: NearestVectors | None = None
        self._known: ShelfEntries | None = None
        self._checked = False
        self._vocabulary = ""
        self._vocabulary_of: tuple[int, int] | None = None

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        self._checked = False
        self._vocabulary_of = None
        self.vectors = None
        self._known = None

    def check(self, connection: sqlite3.Connection) -> None:
        """See once that no entry is missing, where the file was not read through on opening.

        Raises `Damaged` if one is missing, or they are not in order.
        """
        if self._checked or not self._shelving.unread:
            return
        self._list(connection)

    def outlines(self, connection: sqlite3.Connection) -> WrittenOutlines:
        """The outlines of its entries, by creation and then by id.

        Raises `Damaged` if one is missing, or they are not in order.
        """
        created, ids, listed, _ = self._list(connection)
        numbers, about = rows.outlines(connection, self.number)
        if numbers != sorted(listed):
            raise DamagedRecord(f"the entries of shelf {self.number} are not those written")
        if numbers != listed:
            written = dict(zip(numbers, about, strict=True))
            about = [written[number] for number in listed]
        return WrittenOutlines(created, ids, about, [self.shelf.owner] * len(ids))

    def _list(self, connection: sqlite3.Connection) -> ShelfList:
        """Read what its entries are called, and when they were created."""
        found = rows.shelf_list(connection, self.number)
        if self._shelving.unread and not self._checked:
            # Instants have the same length.
            places = [*map(add, found.created, found.ids)]
            if len(places) != self.entries or places != sorted(places):
                raise DamagedRecord(f"the entries of shelf {self.number} are not those written")
            self._checked = True
        if self._known is None:
            self._known = ShelfEntries(found)
        return found

    def called(
        self, connection: sqlite3.Connection, numbers: Numbers
    ) -> dict[int, tuple[int, str]]:
        """Creation in microseconds and id of those of some entries that are here, by number."""
        return self._entries_known(connection).called(numbers)

    def holds(self, connection: sqlite3.Connection, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of some entries are here, by their numbers."""
        return self._entries_known(connection).holds(numbers)

    def date(self, connection: sqlite3.Connection, numbers: Numbers, created: Numbers) -> None:
        """Put down when those of some entries were created that are here, in microseconds."""
        self._entries_known(connection).date(numbers, created)

    def among(self, connection: sqlite3.Connection, ids: Sequence[str]) -> set[str]:
        """Those of some ids that are here."""
        return self._entries_known(connection).among(ids)

    def _entries_known(self, connection: sqlite3.Connection) -> ShelfEntries:
        known = self._known
        if known is None:
            known = self._known = ShelfEntries(self._list(connection))
        return known

    def postings(self, term: str) -> Postings | None:
        """Where a term stands."""
        return self._shelving.postings(self, term)

    def add(self, row: EntryRow, vector: Vectors | None) -> None:
        """Note an entry that was written."""
        if self._known is not None:
            self._known.append(row)
        if self.vectors is not None and vector is not None:
            self.vectors.add([row.number], vector[None, :])

    def remove(self, row: EntryRow) -> None:
        """Note an entry that is gone."""
        if self._known is not None:
            self._known.remove(row.number)
        if self.vectors is not None and row.number in self.vectors:
            self.vectors.remove(row.number)

    def read_postings(self, connection: sqlite3.Connection, term: str) -> Postings:
        """Where a term stands, from the database."""
        held = Postings(term)
        numbers, times = self._shelving.tail.places(
            connection, self.number, term, indexed=self._may_hold(connection, term)
        )
        if len(numbers):
            lengths = self._entries_known(connection).lengths(numbers)
            if lengths is None:
                raise DamagedRecord("the index of words names entries that are not there")
            held.extend(numbers, times, lengths)
            held.documents = len(numbers)
        return held

    def lacks(self, connection: sqlite3.Connection, term: str) -> bool:
        """Whether a term stands nowhere, as far as that is known without looking for it."""
        has_late = self._shelving.tail.has(connection, self.number)
        return not has_late and not self._may_hold(connection, term)

    def _may_hold(self, connection: sqlite3.Connection, term: str) -> bool:
        """Whether a term may stand in the index."""
        if self.entries > SPELT:
            return True
        version = self._shelving.tail.version
        if self._vocabulary_of != version:
            # One text, since a table of the terms would take ten times as much.
            self._vocabulary = "\n".join(rows.vocabulary(connection, self.number))
            self._vocabulary_of = version
        return rows.short(term) in self._shelving.terms(self.number, self._vocabulary)

    def read_vectors(self, connection: sqlite3.Connection, dimension: int) -> NearestVectors:
        """Its vectors, by number."""
        if self.vectors is None:
            self.check(connection)
            vectors = NearestVectors(
                exact=EXACT_ON_SHELF,
                scanned=SCANNED_ON_SHELF,
                new_file=partial(VectorFile, folder=self._shelving.folder),
            )
            found = rows.shelf_vectors(connection, self.number, dimension, READ_AT_ONCE)
            for numbers, read in found:
                vectors.add(numbers, read)
            self.vectors = vectors
        return self.vectors


class ShelfCache:
    """All shelves of a store, by number and by what they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """Where files for the vectors of long shelves are made."""
        self.tail = TailIndex()
        self.unread = False
        """Whether the file is so large that it was not read through on opening."""
        self.forget()

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        self.tail.forget()
        self._changes = -1
        self._epoch = -1
        self._held: dict[int, CachedShelf] = {}
        self._number: dict[Shelf, int] = {}
        self._taken = 0
        self._place: dict[int, int] = {}
        self._of: dict[str, set[int]] = {}
        self._public: set[int] = set()
        self._answers: OrderedDict[Where, list[CachedShelf]] = OrderedDict()
        self._postings: OrderedDict[tuple[int, str], Postings] = OrderedDict()
        self._size = 0
        self._absent: dict[tuple[int, str], Postings] = {}
        self._terms: dict[int, tuple[str, dict[str, None]]] = {}

    def __iter__(self) -> Iterator[CachedShelf]:
        return iter(self._held.values())

    def __getitem__(self, number: int) -> CachedShelf:
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
                raise DamagedRecord(f"shelf {number} is damaged: its check sum is wrong")
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

    def admitted(self, where: Where) -> list[CachedShelf]:
        """The shelves that a filter admits."""
        found = self._answers.get(where)
        if found is None:
            found = [held for held in self._candidates(where) if where.admits(held.shelf)]
            self._answers[where] = found
            if len(self._answers) > MOST_QUESTIONS:
                self._answers.popitem(last=False)
        else:
            self._answers.move_to_end(where)
        return [held for held in found if held.entries]

    def _candidates(self, where: Where) -> Iterable[CachedShelf]:
        """All shelves that a filter may admit, and others, in the order of all shelves."""
        if where.owner is not None:
            names = {where.owner}
        elif where.reader is None:
            return self._held.values()
        else:
            names = {where.reader.principal, *(grant.owner for grant in where.reader.grants)}
        numbers = self._public.union(*(self._of.get(name, ()) for name in names))
        return [self._held[number] for number in sorted(numbers, key=self._place.__getitem__)]

    def number(self, connection: sqlite3.Connection, shelf: Shelf) -> int:
        """The number of a shelf, which is put up where there is none."""
        number = self._number.get(shelf)
        if number is None:
            number = rows.add_shelf(connection, shelf)
            self._take(number, shelf)
        return number

    def written(
        self,
        changes: int,
        gone: Iterable[EntryRow],
        come: Iterable[tuple[EntryRow, Vectors | None]],
    ) -> None:
        """Note what this process has written, now that it is there."""
        self._changes = changes
        self._absent.clear()
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

    def erased(self, changes: int, gone: Sequence[EntryRow]) -> None:
        """Note what this process has erased, and the shelves that were taken down for it.

        Where its terms stand is read again by who next asks, so that nothing here tells of it.
        """
        for row in gone:
            for term in row.counts:
                self._drop_postings((row.shelf, term))
        self.written(changes, gone, ())
        self._epoch += 1
        for number, held in [*self._held.items()]:
            if not held.entries:
                self._drop(held)
                self._forget_postings(number)
        self._answers.clear()

    def read_by(self, connection: sqlite3.Connection) -> None:
        """Where postings come from that are not known."""
        self._connection = connection

    def postings(self, held: CachedShelf, term: str) -> Postings | None:
        """Where a term stands on a shelf: known, or read; None where it is known to be nowhere."""
        at = (held.number, term)
        found = self._postings.get(at)
        if found is not None:
            self._postings.move_to_end(at)
            return found
        if at in self._absent:
            return self._absent[at]
        if held.lacks(self._connection, term):
            return None
        found = held.read_postings(self._connection, term)
        if not found.documents:
            # Most words that a misspelt one may be are nowhere, and are not asked for again.
            if len(self._absent) >= MOST_ABSENT:
                self._absent.clear()
            self._absent[at] = found
            return found
        self._postings[at] = found
        self._size += found.documents + LIST_SIZE
        while self._size > MOST_PLACES and len(self._postings) > 1:
            _, dropped = self._postings.popitem(last=False)
            self._size -= dropped.documents + LIST_SIZE
        return found

    def terms(self, shelf: int, vocabulary: str) -> Mapping[str, None]:
        """The terms of a shelf's vocabulary, which stand on lines of their own."""
        text, found = self._terms.get(shelf, ("", {}))
        if text is not vocabulary:
            if len(self._terms) >= MOST_TERMS:
                self._terms.clear()
            # No set: the garbage collector would look at each term.
            found = dict.fromkeys(vocabulary.split("\n"))
            self._terms[shelf] = vocabulary, found
        return found

    def _take(self, number: int, shelf: Shelf) -> CachedShelf:
        held = self._held[number] = CachedShelf(self, number, shelf)
        self._number[shelf] = number
        self._taken += 1
        self._place[number] = self._taken
        for name in {shelf.owner, *shelf.readers}:
            self._of.setdefault(name, set()).add(number)
        if shelf.visibility == "public":
            self._public.add(number)
        self._answers.clear()
        return held

    def _drop(self, held: CachedShelf) -> None:
        number, shelf = held.number, held.shelf
        del self._held[number], self._number[shelf], self._place[number]
        for name in {shelf.owner, *shelf.readers}:
            self._of[name].discard(number)
            if not self._of[name]:
                del self._of[name]
        self._public.discard(number)

    def _forget_postings(self, number: int) -> None:
        self._absent.clear()
        for at in [at for at in self._postings if at[0] == number]:
            self._drop_postings(at)

    def _drop_postings(self, at: tuple[int, str]) -> None:
        if (known := self._postings.pop(at, None)) is not None:
            self._size -= known.documents + LIST_SIZE
