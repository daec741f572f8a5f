"""Entries in one SQLite file: the default store, for any number of processes of one machine."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import contextmanager
from heapq import merge
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from memsim.errors import SchemaError, StoreError
from memsim.memory.entry import instant
from memsim.memory.index import Hit
from memsim.memory.index.nearest_vectors import EXACT_ON_SHELF, best_by_vector, check_query
from memsim.memory.index.postings import ScoredNumbers, ScoreTally, best_by_words, holds_words
from memsim.memory.stores import PAGE, EmbedderInfo, embedder_of, write_items
from memsim.memory.stores.sqlite import rows, schema
from memsim.memory.stores.sqlite.cache import CachedShelf, IndexMismatch, ShelfCache
from memsim.memory.stores.sqlite.schema import StoreIdentity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.index.postings import ShelfWords
    from memsim.memory.permissions import Where
    from memsim.memory.stores import WriteItem
    from memsim.memory.stores.sqlite.written_outlines import WrittenOutlines
    from memsim.models import Vectors

_Found = TypeVar("_Found")

_ID: Final = re.compile(r"[0-9a-f]{32}")

_FEW: Final = 16
"""Shelves of a search of which it is kept in memory what their entries are called."""

_FOUND: Final = 4096
"""Entries that searches have found of which the numbers are kept."""

_OPENING: Final = 1.0
"""Seconds for which opening waits for others, to finish an erasure that was cut short."""

_AGAIN: Final = "another memsim has indexed it anew: open it again"


class SQLite:
    """Entries in a SQLite database; see `Store` for what every method promises.

    Several processes may have it open: they write one after another, each waiting up to
    `rows.BUSY` seconds for its turn, and see each other's writes at their next call.

    A write is in the log when it returns, and survives the process; the last ones before a power
    failure may be lost, whole, without damage.

    A process that has it open while a memsim with other terms indexes it anew is refused from then
    on, by a SchemaError, until it opens it again. The file is made where there is none. With
    `readonly` it is not made or brought up to date, a broken erasure is not finished, and changes
    are refused. With `durable`, writes survive the loss of power too, which costs a few
    milliseconds each. Raises `SchemaError` if another memsim wrote it; or it is to be read only and
    has other terms. Raises `StoreError` if it is damaged, or cannot be opened.

    Where a search finds over 131,072 vectors on a shelf, it copies them into a file without a name:
    beside this one, or in the system's folder for such files. What is erased is gone from it too.
    """

    name = "sqlite"

    def __init__(self, path: Path | str, *, readonly: bool = False, durable: bool = False) -> None:
        self._path = Path(path)
        self._readonly = readonly
        self._lock = RLock()
        self._depth = 0
        self._unscrubbed = False
        self._analysis = schema.analysis()
        connection = schema.connect(self._path, readonly=readonly, durable=durable)
        self._connection: sqlite3.Connection | None = connection
        self._shelving = ShelfCache(self._path.absolute().parent)
        self._shelving.unread = schema.is_large(self._path)
        self._tally = ScoreTally()
        self._entries = rows.ReadEntries()
        self._number: dict[str, int] = {}
        self._embedded: EmbedderInfo | None = None
        self._synced: StoreIdentity | None = None
        # The version of the file, the rows this connection has changed, and what stood there then.
        self._seen: tuple[int, int, int] | None = None
        self.outline: Callable[[Entry], str | None] | None = None
        """Gives the outline of an entry that is written; None keeps none."""
        try:
            with rows.reading(self._path):
                self._bring_up_to_date(connection)
        except BaseException:
            self.close()
            raise

    @property
    def unread(self) -> bool:
        """Whether the file is so large that it was not read through on opening."""
        return self._shelving.unread

    @property
    def analysis(self) -> str:
        """A digest of how texts become terms."""
        return self._analysis

    @property
    def exact(self) -> bool:
        """Whether `nearest` compares all admitted vectors."""
        with self._reading():
            return all(held.entries <= EXACT_ON_SHELF for held in self._shelving)

    @property
    def embedded(self) -> EmbedderInfo | None:
        """What its vectors were made with."""
        with self._reading():
            return self._embedded

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in; see `Store`."""
        with self._lock:
            with self._writing() as (connection, changes):
                written = write_items(entries, vectors, self._embedded)
                if not written:
                    return
                made = embedder_of(written, self._embedded)
                if made != self._embedded:
                    self._note(made)
                gone = self._take_out(connection, [item.id for item in written])
                come = [self._add(connection, item) for item in written]
                self._shelving.tail.add(connection, come)
                self._count(changes, gone, come)
            paired = zip(come, (item.vector for item in written), strict=True)
            self._shelving.written(changes, gone, paired)
            self._embedded = made

    def _add(self, connection: sqlite3.Connection, item: WriteItem) -> rows.EntryRow:
        shelf = self._shelving.number(connection, item.entry.shelf)
        about = None if self.outline is None else self.outline(item.entry)
        return rows.add(connection, item, shelf, about)

    def embedded_by(self, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with; see `Store`."""
        with self._writing() as (connection, changes):
            if made == self._embedded:
                return
            self._note(made)
            connection.execute("UPDATE beside SET vector = NULL WHERE vector IS NOT NULL")
            connection.execute("UPDATE shelves SET version = ?", (changes,))
            connection.execute("UPDATE status SET changes = ?", (changes,))

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good; see `Store`.

        Merges the index of words, writes the file anew, and truncates the log: zeroing freed pages
        alone was measured to leave copies that SQLite made when it moved rows between pages. So it
        costs what the size of the store costs (0.1 s for 15 MB, 1.2 s for 220 MB, and as much room
        again meanwhile), however many ids there are: erase them in one call.

        Raises:
            StoreError: also where another process is reading the old log for longer than a write
                waits. The entries are gone then, and what is left of them goes when `erase` is
                called again or the store is next opened.
        """
        known = _possible(ids)
        with self._lock:
            with self._writing() as (connection, changes):
                gone = self._take_out(connection, known)
                if gone:
                    self._count(changes, gone, [])
                    connection.execute("DELETE FROM shelves WHERE entries = 0")
                    connection.execute("UPDATE status SET epoch = epoch + 1, erasing = 1")
                    rows.merge(connection, self._shelving.tail.indexed)
                (erasing,) = connection.execute("SELECT erasing FROM status").fetchone()
            if gone:
                self._shelving.erased(changes, gone)
            if erasing and not self._depth:
                self.scrub()
            elif erasing:
                self._unscrubbed = True
        return len(gone)

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids; see `Store`."""
        found: dict[str, Entry] = {}
        with self._reading() as connection:
            unread: list[str] = []
            for source in _possible(ids):
                if (known := self._entries.known(source)) is None:
                    unread.append(source)
                else:
                    found[source] = known
            unread = self._read_found(connection, unread, found)
            if unread:
                for row in connection.execute(rows.NAMED, (json.dumps(unread),)):
                    entry = self._entries.read(row)
                    found[entry.id] = entry
        return [found[source] for source in ids if source in found]

    def _read_found(
        self, connection: sqlite3.Connection, ids: list[str], found: dict[str, Entry]
    ) -> list[str]:
        """Read those that a search has found, by their numbers; the others."""
        asked = {source: at for source in ids if (at := self._number.get(source)) is not None}
        if not asked:
            return ids
        numbers = f"[{','.join(map(str, asked.values()))}]"
        for row in connection.execute(rows.ENTRIES, (numbers,)):
            if row[2] in asked:  # else another entry has been given the number
                found[row[2]] = self._entries.read(row)
        return [source for source in ids if source not in found]

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries, a page at a time; see `Store`."""
        last = ("", "") if after is None else (instant(after.created), after.id)
        with self._reading() as connection:
            shelves = self._shelving.admitted(where)
            pages = [
                connection.execute(
                    "SELECT created, id, number FROM entries"
                    " WHERE shelf = ? AND (created, id) > (?, ?) ORDER BY created, id LIMIT ?",
                    (held.number, *last, limit),
                ).fetchall()
                for held in shelves
            ]
            listed = [*islice(merge(*pages), limit)]
            # Of shelves that give nothing to a full page, nothing is claimed yet.
            for held, page in zip(shelves, pages, strict=True):
                if len(listed) < limit or (page and page[0] <= listed[-1]):
                    held.check(connection)
            numbers = f"[{','.join(str(number) for _, _, number in listed)}]"
            found = {
                (row[3], row[2], row[0]): row
                for row in connection.execute(rows.ENTRIES, (numbers,))
            }
            return [rows.read(found[place]) for place in listed]

    def admitted(self, ids: Collection[str], where: Where) -> set[str]:
        """Which of these entries are there and admitted; none is read for it."""
        with self._reading() as connection:
            asked, shelves = _possible(ids), self._shelving.admitted(where)
            if len(shelves) <= _FEW:
                here = (held.among(connection, asked) for held in shelves)
                return set[str]().union(*here)
            on = {held.number for held in shelves}
            there = connection.execute(rows.SHELVES, (json.dumps(asked),))
            return {source for source, shelf in there if shelf in on}

    def outlines(self, where: Where) -> list[WrittenOutlines]:
        """The outlines of the admitted entries, of each shelf in the order of `find`."""
        with self._reading() as connection:
            return [held.outlines(connection) for held in self._shelving.admitted(where)]

    def count(self, where: Where) -> int:
        """How many entries are admitted; see `Store`."""
        with self._reading():
            return sum(held.entries for held in self._shelving.admitted(where))

    def owners(self, where: Where) -> set[str]:
        """Whose the admitted entries are; no entry is read for it."""
        with self._reading():
            return {held.shelf.owner for held in self._shelving.admitted(where)}

    def owner_of(self, ids: Collection[str]) -> dict[str, str]:
        """Whose each of these entries is; nothing of those that are not there."""
        with self._reading() as connection:
            found = connection.execute(rows.SHELVES, (json.dumps(_possible(ids)),))
            return {source: self._shelving[shelf].shelf.owner for source, shelf in found}

    def owner_of_shelf(self) -> list[tuple[int, str]]:
        """The numbers of all shelves, each with the owner of what is on it."""
        with self._reading():
            return [(held.number, held.shelf.owner) for held in self._shelving]

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best by words; see `Store`."""
        return self._by_words(
            where,
            lambda shelves: self._hits(
                best_by_words(text, shelves, k, self._tally), k, self._shelving.admitted(where)
            ),
        )

    def mentions(self, text: str, where: Where) -> bool:
        """Whether an entry holds a word of a text; see `Store`."""
        return self._by_words(where, lambda shelves: holds_words(text, shelves))

    def _by_words(self, where: Where, ask: Callable[[Sequence[ShelfWords]], _Found]) -> _Found:
        """What the index of words says of the admitted shelves, made anew where it is wrong."""
        with self._lock:
            try:
                return self._ask_index(where, ask)
            except IndexMismatch as error:
                if self._readonly:
                    raise rows.damaged(self._path, str(error)) from error
                self._index_anew()
                return self._ask_index(where, ask)

    def _ask_index(self, where: Where, ask: Callable[[Sequence[ShelfWords]], _Found]) -> _Found:
        with self._reading() as connection:
            self._shelving.read_by(connection)
            last = rows.last(connection)
            self._shelving.tail.check(last)
            self._tally.reserve(last + 1)
            return ask(self._shelving.admitted(where))

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The best by vectors; see `Store`."""
        with self._reading() as connection:
            if self._embedded is None:
                return []
            check_query(vector, self._embedded.dimension)
            self._shelving.read_by(connection)
            size = self._embedded.dimension
            shelves = self._shelving.admitted(where)
            held = (shelf.read_vectors(connection, size) for shelf in shelves)
            return self._hits(best_by_vector(vector, held, k), k, shelves)

    def standing(self) -> StoreIdentity:
        """Which memory's it is, and how far it has come, on disk even when the power goes."""
        with self._reading() as connection:
            (changes,) = connection.execute("SELECT changes FROM status").fetchone()
            # A name is for good.
            name = self._synced.memory if self._synced else ""
            now = StoreIdentity(memory=name or schema.read_name(connection), changes=changes)
        if now != self._synced:
            with rows.failing(self._path):
                schema.sync_log(self._path)
            self._synced = now
        return now

    def name_memory(self) -> None:
        """Have it told apart from every other memory's from now on, where it is not yet."""
        with self._writing() as (connection, changes):
            if not schema.read_name(connection):
                schema.write_name(connection)
                connection.execute("UPDATE status SET changes = ?", (changes,))

    def erased(self) -> None:
        """Note within a transaction that something else than entries was erased, for `scrub`."""
        with self._lock:
            with self._writing() as (connection, changes):
                connection.execute(
                    "UPDATE status SET changes = ?, epoch = epoch + 1, erasing = 1", (changes,)
                )
            self._shelving.erased(changes, ())
        self._unscrubbed = True

    @property
    def unscrubbed(self) -> bool:
        """Whether `scrub` is due, after a transaction in which something was erased."""
        return self._unscrubbed

    def scrub(self) -> None:
        """Leave no byte in the file or its log of what was erased.

        Raises:
            StoreError: another process has been reading the old log for longer than a write waits.
        """
        self._unscrubbed = False
        with self._lock, rows.failing(self._path):
            if not rows.scrub(self._open, rows.BUSY):
                raise StoreError(
                    f"{self._path}: what was erased may still stand in the log, which another"
                    " process is reading; it goes when the store is next opened"
                )

    def close(self) -> None:
        """Release the file; see `Store`."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self._shelving.forget()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction over entries and whatever else the file holds: all of it or nothing.

        A write inside is part of it, and one that fails is undone alone. Bytes of what is erased
        inside are left until `scrub` is called afterwards. Raises `StoreError` if it cannot be
        begun or ended, and nothing has changed; or the transaction around it has been undone.
        """
        with self._lock:
            inner = self._depth > 0
            with rows.failing(self._path):
                connection = self._open
                if inner and not connection.in_transaction:
                    raise StoreError(f"{self._path}: what was being written has been undone")
                connection.execute("SAVEPOINT one" if inner else "BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield connection
                with rows.failing(self._path):
                    connection.execute("RELEASE one" if inner else "COMMIT")
            except BaseException:
                self._seen = None
                self._shelving.forget()
                self._entries.forget()
                if connection.in_transaction:
                    connection.execute("ROLLBACK TO one" if inner else "ROLLBACK")
                raise
            finally:
                self._depth -= 1

    @contextmanager
    def noting(self) -> Iterator[sqlite3.Connection]:
        """As `transaction`, for who only looks into the file and notes that they did.

        Raises `StoreError` as `transaction`.
        """
        with self._lock, rows.failing(self._path):
            self._open.execute("PRAGMA query_only = OFF")
            try:
                with self.transaction() as connection:
                    yield connection
            finally:
                self._open.execute(f"PRAGMA query_only = {int(self._readonly)}")

    def commit(self) -> None:
        """Make last what was done in a transaction so far; `go_on` has to follow."""
        with rows.failing(self._path):
            self._open.execute("COMMIT")

    def go_on(self) -> None:
        """Begin anew inside a transaction, after `commit`."""
        with rows.failing(self._path):
            self._open.execute("BEGIN IMMEDIATE")

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """One state of the file for all that is read inside, whatever others write meanwhile."""
        with self._lock:
            connection, inner = self._begin()
            try:
                yield connection
            finally:
                self._end(connection, inner)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with rows.reading(self._path), self._lock:
            connection, inner = self._begin()
            try:
                self._refresh()
                yield connection
            finally:
                self._end(connection, inner)

    def _begin(self) -> tuple[sqlite3.Connection, bool]:
        """Begin to read; whether it is inside a transaction or a snapshot."""
        inner = self._depth > 0
        with rows.failing(self._path):
            connection = self._open
            if inner and not connection.in_transaction:
                raise StoreError(f"{self._path}: what was being written has been undone")
            if not inner:
                connection.execute("BEGIN")
        self._depth += 1
        return connection, inner

    def _end(self, connection: sqlite3.Connection, inner: bool) -> None:  # noqa: FBT001 - as begun
        self._depth -= 1
        if not inner and connection.in_transaction:
            connection.execute("ROLLBACK")

    @contextmanager
    def _writing(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction, with the number of this change; undone wholly unless all went well."""
        with rows.failing(self._path), self.transaction() as connection:
            yield connection, self._refresh() + 1

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self._path}: the store is closed")
        return self._connection

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        if not self._readonly:
            schema.index_anew(connection)
            rows.scrub(connection, _OPENING)
        elif not schema.is_current(connection):
            raise self._laid_out_otherwise(schema.UPDATE)

    def _refresh(self) -> int:
        """Notice what was written since this was asked last; how many changes there are."""
        (version,) = self._open.execute("PRAGMA data_version").fetchone()
        changed = self._open.total_changes
        if self._seen is not None and self._seen[:2] == (version, changed):
            return self._seen[2]
        changes = self._read_status()
        self._seen = version, changed, changes
        return changes

    def _read_status(self) -> int:
        with rows.reading(self._path):
            (layout,) = self._open.execute("PRAGMA user_version").fetchone()
            if layout != schema.LAYOUT:
                raise self._laid_out_otherwise(_AGAIN)
            status = self._open.execute(
                "SELECT changes, epoch, indexed, embedder, dimension, analysis FROM status"
            )
            changes, epoch, indexed, embedder, dimension, analysis = status.fetchone()
            if analysis != self._analysis:
                raise self._laid_out_otherwise(_AGAIN)
            rows.check_counts(changes, epoch, indexed)
            self._shelving.refresh(self._open, changes, epoch)
            self._entries.refresh(epoch, changes)
            self._shelving.tail.indexed = indexed
        known = self._embedded
        if known is None or (known.name, known.dimension) != (embedder, dimension):
            self._embedded = None if embedder is None else EmbedderInfo(embedder, dimension)
        return int(changes)

    def _laid_out_otherwise(self, advice: str) -> SchemaError:
        (found,) = self._open.execute("PRAGMA user_version").fetchone()
        return SchemaError(str(self._path), found, schema.LAYOUT, advice)

    def _note(self, made: EmbedderInfo | None) -> None:
        self._open.execute(
            "UPDATE status SET embedder = ?, dimension = ?",
            (None, None) if made is None else (made.name, made.dimension),
        )

    def _take_out(self, connection: sqlite3.Connection, ids: Sequence[str]) -> list[rows.EntryRow]:
        tail = self._shelving.tail
        gone = [row for source in ids if (row := rows.remove(connection, source, tail.indexed))]
        tail.remove(connection, gone)
        return gone

    def _count(self, changes: int, gone: list[rows.EntryRow], come: list[rows.EntryRow]) -> None:
        sums: dict[int, list[int]] = {}
        for sign, changed in ((-1, gone), (1, come)):
            for row in changed:
                entries_terms = sums.setdefault(row.shelf, [0, 0])
                entries_terms[0] += sign
                entries_terms[1] += sign * row.length
        self._open.executemany(
            "UPDATE shelves SET entries = entries + ?, terms = terms + ?, version = ?"
            " WHERE number = ?",
            [(*by, changes, number) for number, by in sums.items()],
        )
        self._open.execute(
            "UPDATE status SET changes = ?, indexed = ?", (changes, self._shelving.tail.indexed)
        )

    def _hits(self, found: ScoredNumbers, k: int, shelves: Sequence[CachedShelf]) -> list[Hit]:
        place: dict[int, tuple[int, str]] = {}
        few = len(shelves) <= _FEW
        found = self._earliest(found, k, shelves) if few else found
        numbers = found.numbers.tolist()
        if not few:
            place = rows.called(self._open, numbers)
        else:
            for shelf in shelves:
                place |= shelf.called(self._open, found.numbers)
        if len(self._number) > _FOUND:
            self._number.clear()
        self._number.update((source, number) for number, (_, source) in place.items())
        scored = zip(numbers, found.scores.tolist(), strict=True)
        ranked = sorted((-score, *place[number]) for number, score in scored)[: max(k, 0)]
        return [Hit(source, -score) for score, _, source in ranked]

    def _earliest(
        self, found: ScoredNumbers, k: int, shelves: Sequence[CachedShelf]
    ) -> ScoredNumbers:
        """Without those that tie with the last of the best and were created later than `k` others.

        Talk that is made of patterns ties by hundreds, and names take longest.
        """
        if not 0 < k < len(found.numbers):
            return found
        # What is on none of the shelves is kept: it is damage, and whoever names it tells.
        created = np.full(len(found.numbers), np.iinfo(np.int64).min)
        for shelf in shelves:
            shelf.date(self._open, found.numbers, created)
        least = found.scores.min()
        tied = found.scores == least
        wanted = k - int((~tied).sum())
        late = np.partition(created[tied], wanted - 1)[wanted - 1]
        (kept,) = (~tied | (created <= late)).nonzero()
        return ScoredNumbers(found.numbers[kept], found.scores[kept])

    def _index_anew(self) -> None:
        """Make the index of words anew of the entries, which no other process writes meanwhile."""
        with self._writing() as (connection, changes):
            last = rows.last(connection)
            rows.index_anew(connection, last)
            connection.execute("UPDATE shelves SET version = ?", (changes,))
            connection.execute("UPDATE status SET changes = ?, indexed = ?", (changes, last))
        self._shelving.forget()


def _possible(ids: Collection[str]) -> list[str]:
    """Those that an entry can have, each once: the others are not there, whatever they hold."""
    return [source for source in dict.fromkeys(ids) if _ID.fullmatch(source)]
