"""Entries in one SQLite file: the default store, for any number of processes of one machine."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from heapq import merge
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final

from memsim.errors import StoreError
from memsim.memory.retrieval import Hit
from memsim.memory.retrieval.maxscore import Tally
from memsim.memory.stores import PAGE, Embedded, batch, database, ranking, rows, standing
from memsim.memory.stores.codec import instant
from memsim.memory.stores.migrating import migrate
from memsim.memory.stores.shelving import Shelving
from memsim.memory.stores.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from memsim.memory.acl import Where
    from memsim.memory.entry import Entry
    from memsim.memory.stores.ranking import Found
    from memsim.models import Vectors

_ID: Final = re.compile(r"[0-9a-f]{32}")
_ASKED_AT_ONCE: Final = 500


class SQLite:
    """Entries in a SQLite database; see `Store` for what every method promises.

    Several processes may have it open: they write one after another, each waiting up to
    `database.BUSY` seconds for its turn, and see each other's writes at their next call.

    A write is in the log when it returns, and survives the process; the last ones before a power
    failure may be lost, whole, without damage.

    Args:
        path: the file; made where there is none.

    Raises:
        SchemaError: a newer memsim wrote it.
        StoreError: it is damaged, or cannot be opened.
    """

    name = "sqlite"

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = database.connect(self._path)
        self._shelving = Shelving()
        self._tally = Tally()
        self._embedded: Embedded | None = None
        self._synced: Standing | None = None
        try:
            with database.reading(self._path):
                migrate(self._connection)
                (erasing,) = self._connection.execute("SELECT erasing FROM state").fetchone()
            if erasing:
                self._scrub()
        except BaseException:
            self.close()
            raise

    @property
    def exact(self) -> bool:
        """Whether `nearest` compares all admitted vectors."""
        with self._reading():
            return all(held.entries <= ranking.EXACT for held in self._shelving)

    @property
    def embedded(self) -> Embedded | None:
        """What its vectors were made with."""
        with self._reading():
            return self._embedded

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in; see `Store`."""
        with self._lock:
            with self._writing() as (connection, changes):
                written = batch.items(entries, vectors, self._embedded)
                if not written:
                    return
                made = batch.made_with(written, self._embedded)
                if made != self._embedded:
                    self._note(made)
                gone = [row for i in written if (row := rows.remove(connection, i.entry.id))]
                come = [
                    rows.add(connection, e, self._shelving.number(connection, e.shelf), vector)
                    for e, vector in written
                ]
                self._count(changes, gone, come)
            paired = zip(come, (item.vector for item in written), strict=True)
            self._shelving.written(changes, gone, paired)
            self._embedded = made

    def embedded_by(self, made: Embedded | None) -> None:
        """Note what vectors are made with; see `Store`."""
        with self._writing() as (connection, changes):
            if made == self._embedded:
                return
            self._note(made)
            connection.execute("UPDATE entries SET vector = NULL WHERE vector IS NOT NULL")
            connection.execute("UPDATE shelves SET version = ?", (changes,))
            connection.execute("UPDATE state SET changes = ?", (changes,))

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
                gone = [row for source in known if (row := rows.remove(connection, source))]
                if gone:
                    self._count(changes, gone, [])
                    connection.execute("DELETE FROM shelves WHERE entries = 0")
                    connection.execute("UPDATE state SET epoch = epoch + 1, erasing = 1")
                    rows.merge(connection)
                (erasing,) = connection.execute("SELECT erasing FROM state").fetchone()
            if gone:
                self._shelving.erased(changes, gone)
            if erasing:
                self._scrub()
        return len(gone)

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids; see `Store`."""
        known = _possible(ids)
        found: dict[str, Entry] = {}
        with self._reading() as connection:
            for start in range(0, len(known), _ASKED_AT_ONCE):
                asked = known[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(asked))
                for row in connection.execute(f"{rows.ENTRY} WHERE id IN ({marks})", asked):
                    entry = rows.read(row)
                    found[entry.id] = entry
        return [found[source] for source in ids if source in found]

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries, a page at a time; see `Store`."""
        last = ("", "") if after is None else (instant(after.created), after.id)
        with self._reading() as connection:
            pages = [
                connection.execute(
                    "SELECT created, id, number FROM entries"
                    " WHERE shelf = ? AND (created, id) > (?, ?) ORDER BY created, id LIMIT ?",
                    (held.number, *last, limit),
                ).fetchall()
                for held in self._shelving.admitted(where)
            ]
            numbers = [number for _, _, number in islice(merge(*pages), limit)]
            one = f"{rows.ENTRY} WHERE number = ?"
            return [rows.read(connection.execute(one, (n,)).fetchone()) for n in numbers]

    def count(self, where: Where) -> int:
        """How many entries are admitted; see `Store`."""
        with self._reading():
            return sum(held.entries for held in self._shelving.admitted(where))

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best by words; see `Store`."""
        with self._reading() as connection:
            self._shelving.read_by(connection)
            (last,) = connection.execute("SELECT max(number) FROM entries").fetchone()
            self._tally.reserve((last or 0) + 1)
            admitted = self._shelving.admitted(where)
            return self._hits(ranking.lexical(text, admitted, k, self._tally), k)

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The best by vectors; see `Store`."""
        with self._reading() as connection:
            if self._embedded is None:
                return []
            batch.check_query(vector, self._embedded)
            size = self._embedded.dimension
            held = (s.read_vectors(connection, size) for s in self._shelving.admitted(where))
            return self._hits(ranking.nearest(vector, held, k), k)

    def standing(self) -> Standing:
        """Which memory's it is, and how far it has come, on disk even when the power goes."""
        with self._reading() as connection:
            (changes,) = connection.execute("SELECT changes FROM state").fetchone()
            # A name is for good.
            name = self._synced.memory if self._synced else ""
            now = Standing(memory=name or standing.named(connection), changes=changes)
        if now != self._synced:
            with database.failing(self._path):
                standing.sync_log(self._path)
            self._synced = now
        return now

    def name_memory(self) -> None:
        """Have it told apart from every other memory's from now on, where it is not yet."""
        with self._writing() as (connection, changes):
            if not standing.named(connection):
                standing.name(connection)
                connection.execute("UPDATE state SET changes = ?", (changes,))

    def close(self) -> None:
        """Release the file; see `Store`."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, database.reading(self._path):
            connection = self._open
            connection.execute("BEGIN")
            try:
                self._refresh()
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _writing(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction, with the number of this change; undone wholly unless all went well."""
        with self._lock, database.failing(self._path):
            connection = self._open
            connection.execute("BEGIN IMMEDIATE")
            try:
                changes = self._refresh() + 1
                yield connection, changes
                connection.execute("COMMIT")
            except BaseException:
                self._shelving.forget()
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self._path}: the store is closed")
        return self._connection

    def _refresh(self) -> int:
        with database.reading(self._path):
            state = self._open.execute("SELECT changes, epoch, embedder, dimension FROM state")
            changes, epoch, embedder, dimension = state.fetchone()
            rows.check_counts(changes, epoch)
            self._shelving.refresh(self._open, changes, epoch)
        self._embedded = None if embedder is None else Embedded(embedder, dimension)
        return int(changes)

    def _note(self, made: Embedded | None) -> None:
        self._open.execute(
            "UPDATE state SET embedder = ?, dimension = ?",
            (None, None) if made is None else (made.name, made.dimension),
        )

    def _count(self, changes: int, gone: list[rows.Row], come: list[rows.Row]) -> None:
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
        self._open.execute("UPDATE state SET changes = ?", (changes,))

    def _hits(self, found: Found, k: int) -> list[Hit]:
        numbers = found.numbers.tolist()
        place = rows.ranked(self._open, numbers)
        scored = zip(numbers, found.scores.tolist(), strict=True)
        ranked = sorted((-score, *place[number]) for number, score in scored)[: max(k, 0)]
        return [Hit(source, -score) for score, _, source in ranked]

    def _scrub(self) -> None:
        """Leave no byte of what was erased in the file or its log."""
        with self._lock, database.failing(self._path):
            connection = self._open
            connection.execute("VACUUM")
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise StoreError(
                    f"{self._path}: what was erased may still stand in the log, which another"
                    " process is reading; it goes when the store is next opened"
                )
            connection.execute("UPDATE state SET erasing = 0")


def _possible(ids: Collection[str]) -> list[str]:
    """Those that an entry can have, each once: the others are not there, whatever they hold."""
    return [source for source in dict.fromkeys(ids) if _ID.fullmatch(source)]
