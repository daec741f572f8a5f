"""The file of a saved memory: entries, state, order, audit trail and large content.

::

    parts      the state, a row of JSON for each part of the memory
    said       ids of entries in the order in which their messages were said
    audit      the lines of the audit trail
    offloaded  large content of conversations
    entries and the other tables of `memsim.memory.stores.sqlite`

Whatever changes together is written in one transaction. Rows carry check sums, and the numbers of
`said` and `audit` have no gaps, so that a damaged or missing row is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memsim.atomic_files import locked, unwritable
from memsim.errors import StateError, StoreError
from memsim.memory.codec import JSON, parse, reading
from memsim.memory.compaction.blobs import NOTHING_OFFLOADED
from memsim.memory.permissions import Where
from memsim.memory.stores.wrappers import ExternalStore, ReadOnlyStore

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from memsim.memory.deletion import ErasureReport
    from memsim.memory.stores import Store
    from memsim.memory.stores.sqlite.store import SQLite

FILE: Final = "memory.sqlite3"
WORKSPACE: Final = "workspace"

COPIES: Final = "damaged copies"
"""The name under which a report counts erased copies of a damaged file."""

VERSION: Final = 2
"""The version of `TABLES` and of what stands in them; any other is refused, but for the one before,
in which the order did not say whose a message is."""

TABLES: Final = """
CREATE TABLE parts (name TEXT PRIMARY KEY, state TEXT NOT NULL, check_sum INTEGER NOT NULL);
CREATE TABLE said (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    entry TEXT NOT NULL,
    check_sum INTEGER NOT NULL,
    owner INTEGER NOT NULL DEFAULT 0 -- a digest of whose it is; 0 where the entry is elsewhere
);
CREATE INDEX said_by_owner ON said (owner, place, entry, check_sum);
CREATE TABLE audit (number INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL);
CREATE TABLE offloaded (
    conversation TEXT NOT NULL,
    digest TEXT NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (conversation, digest)
);
"""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

_SPARE: Final = 1000
"""Ids of entries that are gone which the order keeps before it is written anew."""

_MARKS: Final = "store"
"""The part that says in which other store the entries are."""


class MemoryFile:
    """The file of a memory, and the lock of its folder.

    `elsewhere` is the store of the entries; None for the file itself.
    """

    def __init__(self, folder: Path, *, readonly: bool, elsewhere: Store | None = None) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.path = self.folder / FILE
        self.readonly = readonly
        self.closed = False
        self.elsewhere = elsewhere
        self._sqlite: SQLite | None = None
        self._is_saved = False
        self._marked: Any = None
        """What the saved state says of its store. The rest of it is let go: the garbage collector
        would look at each of its thousands of parts."""
        self.texts: dict[str, str] = {}
        """The saved parts as they were last read, by name."""
        self._held = ExitStack()

    # -- opening and closing

    def open(self, wait: float) -> dict[str, Any] | None:
        """Lock the folder and read the saved parts; None where there is no memory yet.

        Raises `StateError` if the folder holds something else. Raises `StoreError` if another
        process has it open, or the file is damaged.
        """
        self._check_folder()
        if not self.readonly:
            try:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise unwritable(self.folder, error) from error
            self._held.enter_context(locked(self.folder / "memory", wait))
        with self._failing():
            there = self.path.exists()
        if not there:
            return None
        with self.snapshot() as connection:
            if not has_tables(connection):
                if self.readonly or self._holds_entries():
                    raise StateError(f"{self.path}: is the file of a store, and of no memory")
                return None
        if not self.readonly:
            self._bring_up_to_date()
        return self.state()

    def state(self) -> dict[str, Any]:
        """The saved parts, by name.

        Raises `StateError` if a newer memsim wrote them, or `StoreError` if they are damaged.
        """
        with self.snapshot() as connection:
            saved = self._read_parts(connection)
        version = saved.pop("version", None)
        if version != VERSION:
            do = "open it once to bring it up to date"
            if version != VERSION - 1:
                do = "upgrade memsim, or use another folder"
            raise StateError(
                f"{self.path}: is of version {ascii(version)[:20]}, and this memsim knows"
                f" {VERSION}: {do}"
            )
        self._is_saved, self._marked = bool(saved), saved.get(_MARKS)
        return saved

    def _bring_up_to_date(self) -> None:
        """Say of each message of the order whose it is, where that is not said."""
        with self.snapshot() as connection:
            version = self._read_parts(connection).get("version")
        if version != VERSION - 1:
            return
        with self.writing() as connection:
            connection.execute("ALTER TABLE said ADD COLUMN owner INTEGER NOT NULL DEFAULT 0")
            connection.executemany(
                "UPDATE said SET owner = ? WHERE entry IN (SELECT id FROM entries WHERE shelf = ?)",
                [(_digest_of(owner), shelf) for shelf, owner in self.sqlite.owner_of_shelf()],
            )
            connection.execute("DROP INDEX said_by_entry")
            for statement in TABLES.split(";\n"):
                if "said_by_owner" in statement:
                    connection.execute(statement)
            self.write({"version": str(VERSION)}, ())

    def begin(self) -> None:
        """Make the tables of a new memory.

        Raises `StateError` if the store that was given holds entries of another memory. Raises
        `StoreError` if the file cannot be written.
        """
        if self.elsewhere is not None and self._holds_entries():
            raise StateError(
                f"{self.path}: is missing, and its {self.elsewhere.name} store is not: restore it"
            )
        with self.writing() as connection:
            for statement in TABLES.split(";\n"):
                connection.execute(statement)
            self.write({"version": str(VERSION)}, ())

    def close(self) -> None:
        """Release the file and its lock; calling it again does nothing."""
        self.closed = True
        self._held.close()

    def check_open(self) -> None:
        """Refuse a change. Raises `StoreError` if it is closed, or was opened for reading only."""
        if self.readonly or self.closed:
            why = "it is closed" if self.closed else "it was opened for reading only"
            raise StoreError(f"{self.folder}: nothing can be written: {why}")

    # -- transactions

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """As `SQLite.transaction`."""
        return self.sqlite.transaction()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """As `SQLite.transaction`, where nothing but the file can fail inside.

        Raises `StoreError` if a statement failed, or as `SQLite.transaction`.
        """
        with self._failing(), self.sqlite.transaction() as connection:
            yield connection

    @contextmanager
    def noting(self) -> Iterator[sqlite3.Connection]:
        """As `SQLite.noting`, where nothing but the file can fail inside."""
        with self._failing(), self.sqlite.noting() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """As `SQLite.snapshot`, where nothing but the file can fail inside.

        Raises `StoreError` if a statement failed, or as `SQLite.snapshot`.
        """
        with self._failing(), self.sqlite.snapshot() as connection:
            yield connection

    def erased(self) -> None:
        """Note within a transaction that something was erased, for `scrub`."""
        self.sqlite.erased()

    def scrub(self) -> None:
        """Leave no byte in the file of what was erased; nothing to do where nothing was."""
        if self.sqlite.unscrubbed:
            self.sqlite.scrub()

    def reading(self) -> AbstractContextManager[None]:
        """Say that the file is damaged where a value that was read is of the wrong kind.

        Raises `StoreError` if something inside failed.
        """
        from memsim.memory.stores.sqlite.rows import reading

        return reading(self.path)

    @property
    def sqlite(self) -> SQLite:
        """The database."""
        if self._sqlite is None:
            from memsim.memory.stores.sqlite.store import SQLite

            self._sqlite = SQLite(self.path, readonly=self.readonly, durable=True)
            self._held.callback(self._sqlite.close)
        return self._sqlite

    # -- entries

    def store(self) -> Store:
        """The store of entries.

        Raises `StateError` if the entries are kept elsewhere than told. Raises `StoreError` if the
        store that was given is another memory's, or older than the state.
        """
        store: Store = self.sqlite
        if self._is_saved:
            self._check_elsewhere()
        if self.elsewhere is not None:
            self._check_identity()
            store = ExternalStore(self.elsewhere)
            self._held.callback(store.close)
        return ReadOnlyStore(store) if self.readonly else store

    def marks(self, *, held: bool) -> JSON:
        """What another store has to be like for the state to belong to it; None for the file.

        `held` says whether the store holds messages, and none of them is being erased.
        """
        if self.elsewhere is None:
            return None
        marks: dict[str, JSON] = {"elsewhere": self.elsewhere.name, "held": held}
        if (store := _as_sqlite(self.elsewhere)) is not None:
            now = store.standing()
            marks |= {"memory": now.memory, "changes": now.changes}
        return marks

    def recognise(self, *, empty: bool) -> None:
        """Refuse an empty store where the state remembers that it holds something.

        Raises `StoreError` if it is another one.
        """
        if empty and self._marks().get("held"):
            said = f"holds nothing of what {FILE} remembers: it is opened with its own"
            raise StoreError(f"{self.folder}: the store that was given {said}")

    # -- state and order

    def write(self, parts: Mapping[str, str], said: Sequence[str]) -> None:
        """Write parts of the state, and ids of entries that come after all others."""
        self.check_open()
        with self.writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO parts VALUES (?, ?, ?)",
                [(name, text, _check_sum(name, text)) for name, text in parts.items()],
            )
            self._append(connection, said)

    def order(self) -> dict[str, int]:
        """The place of each entry in the order in which messages were said.

        Raises `StoreError` if the order is damaged.
        """
        order: dict[str, int] = {}
        with self.snapshot() as connection:
            if not has_tables(connection):
                return order
            rows = connection.execute("SELECT place, entry, check_sum FROM said ORDER BY place")
            last = 0
            for last, (place, entry, check_sum) in enumerate(rows, 1):
                if place != last or check_sum != _check_sum(place, entry):
                    raise self._damaged(f"entry {last} of the order is not what was written")
                order.setdefault(entry, place)
            if last != last_number(connection, "said"):
                raise self._damaged(f"the order ends at entry {last}")
        return order

    def last_place(self) -> int:
        """The last place in the order; no place is missing before it.

        The order is read whole where the file was: a damaged one is noticed on opening. In a larger
        file its rows are looked at by `places`. Raises `StoreError` if it is damaged.
        """
        if not self.sqlite.unread:
            self.order()
        with self.snapshot() as connection:
            if not has_tables(connection):
                return 0
            (there,) = connection.execute("SELECT count(*) FROM said").fetchone()
            if there != (last := last_number(connection, "said")):
                raise self._damaged(f"{there} of {last} entries of the order are there")
        return last

    def places(self, owners: Collection[str]) -> dict[str, int]:
        """The place of each entry in the order that holds a message of these owners.

        Some may be gone, or another owner's. Raises `StoreError` if the row of one is damaged.
        """
        order: dict[str, int] = {}
        with self.snapshot() as connection:
            columns = connection.execute(
                "SELECT group_concat(place), group_concat(entry), group_concat(check_sum) FROM"
                " (SELECT place, entry, check_sum FROM said"
                " WHERE owner IN (SELECT value FROM json_each(?)) ORDER BY place)",
                (json.dumps(sorted({*map(_digest_of, owners)})),),
            ).fetchone()
        if columns[0] is None:
            return order
        places, entries, check_sums = [(column or "").split(",") for column in columns]
        if not len(places) == len(entries) == len(check_sums):
            raise self._damaged("the order is not what was written")
        for place, entry, check_sum in zip(places, entries, check_sums, strict=True):
            # As `_check_sum`, without what is around it: there are many.
            if check_sum != str(zlib.crc32(f"{place}\n{entry}".encode())):
                raise self._damaged(f"entry {place} of the order is not what was written")
            if entry not in order:
                order[entry] = int(place)
        return order

    def unplaced(self) -> StoreError:
        """The error for a message that has no place in the order."""
        return self._damaged("a message is missing of the order")

    def reorder(self, entries: Sequence[str]) -> None:
        """Write the order anew."""
        with self.writing() as connection:
            connection.execute("DELETE FROM said")
            connection.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'said'")
            self._append(connection, entries)

    def _append(self, connection: sqlite3.Connection, entries: Sequence[str]) -> None:
        if not entries:
            return
        owners = {} if self.elsewhere is not None else self.sqlite.owner_of(entries)
        digests = {owner: _digest_of(owner) for owner in {*owners.values()}}
        rows = enumerate(entries, last_number(connection, "said") + 1)
        connection.executemany(
            "INSERT INTO said VALUES (?, ?, ?, ?)",
            [
                (place, entry, _check_sum(place, entry), digests.get(owners.get(entry, ""), 0))
                for place, entry in rows
            ],
        )

    # -- large content and copies

    def prune(self, messages: int, order: Callable[[], Sequence[str]]) -> None:
        """Write the order anew where most of what stands in it is gone.

        `messages` is how many entries of messages there are, and `order` gives them.
        """
        with self.snapshot() as connection:
            there = last_number(connection, "said")
        if there > 2 * messages + _SPARE:
            self.reorder(order())

    def blobs(self, conversation: str) -> FileBlobs:
        """The large content of a conversation."""
        return FileBlobs(self, conversation)

    def offloaded(self) -> int:
        """How much large content there is: a count."""
        with self.snapshot() as connection:
            (there,) = connection.execute("SELECT count(*) FROM offloaded").fetchone()
        return int(there)

    def tidy(self, conversations: Collection[str]) -> None:
        """Remove the large content of all other conversations than these.

        Raises `StoreError` if it cannot be removed.
        """
        with self.snapshot() as connection:
            found = connection.execute("SELECT DISTINCT conversation FROM offloaded").fetchall()
        gone = [(name,) for (name,) in found if name not in conversations]
        if gone:
            with self.writing() as connection:
                connection.executemany("DELETE FROM offloaded WHERE conversation = ?", gone)

    def without_copies(self, report: ErasureReport) -> ErasureReport:
        """Delete the copies of a damaged file, and count them in a report of what was erased.

        Raises `StoreError` if one cannot be deleted.
        """
        copies = sorted(self.folder.glob(f"{FILE}.damaged-*"))
        for copy in copies:
            try:
                copy.unlink(missing_ok=True)
            except OSError as error:
                raise unwritable(copy, error) from error
        return replace(report, beside=report.beside | {COPIES: len(copies)}) if copies else report

    def copied(self) -> str:
        """Copy the damaged file aside, and say where the copy is."""
        from memsim.memory.stores.sqlite.rows import quarantine

        copy = quarantine(self.path)
        return f"a copy is kept as {copy.name}" if copy else "no copy could be kept"

    # -- checks

    def _read_parts(self, connection: sqlite3.Connection) -> dict[str, Any]:
        self.texts = {}
        for name, text, check_sum in connection.execute("SELECT * FROM parts ORDER BY name"):
            if check_sum != _check_sum(name, text):
                raise self._damaged(f"{ascii(name)[:40]} is not what was written")
            self.texts[name] = text
        return {name: parse(text) for name, text in self.texts.items()}

    def _holds_entries(self) -> bool:
        store = self.sqlite if self.elsewhere is None else self.elsewhere
        return bool(store.find(Where(reader=None, archived=None), limit=1))

    def _marks(self) -> dict[str, Any]:
        with reading("what it says of its store is damaged"):
            return dict(self._marked or {})

    def _check_elsewhere(self) -> None:
        """Refuse to look for the entries in another kind of store than they are in."""
        kind, given = self._marks().get("elsewhere"), self.elsewhere
        if given is None and kind is not None:
            said = f"its entries are not in it but in a {kind} store: it is opened with that store"
        elif given is not None and kind is None:
            said = f"its entries are in its {FILE}: it is opened without another store"
        elif given is not None and kind != given.name:
            said = f"its entries are in a {kind} store: it is not opened with a {given.name} store"
        else:
            return
        raise StateError(f"{self.folder}: {said}")

    def _check_identity(self) -> None:
        """Refuse a SQLite store of another memory, or one that is older than the state."""
        from memsim.memory.stores.sqlite.schema import StoreIdentity

        store = _as_sqlite(self.elsewhere)
        if store is None:
            return
        if not self._is_saved:
            store.name_memory()
            return
        now, marks = store.standing(), self._marks()
        with reading("what it says of its store is damaged"):
            then = StoreIdentity(memory="" + marks["memory"], changes=0 + marks["changes"])
        if now.memory not in {"", then.memory}:
            raise StoreError(f"{self.folder}: its store belongs to another memory than {FILE}")
        if now.memory != then.memory or now.changes < then.changes:
            raise StoreError(
                f"{self.folder}: its store is older than {FILE}, or its log is missing: it has seen"
                f" {now.changes} of {then.changes} changes: restore it"
            )

    def _check_folder(self) -> None:
        """Refuse what is there and is no memory."""
        with self._failing():
            there = self.folder.exists()
        if not there:
            if self.readonly:
                raise StateError(f"{self.folder}: there is no memory")
            return
        try:
            names = set(os.listdir(self.folder))  # noqa: PTH208 - names are all that is wanted
        except OSError as error:
            said = error.strerror or type(error).__name__
            raise StateError(f"{self.folder}: is no memory: {said}") from error
        if FILE in names:
            return
        left = sorted(names & {f"{FILE}-wal", WORKSPACE})
        if left and "memory.lock" in names:
            raise StateError(f"{self.path}: is missing, and {left[0]} is not: restore it")
        if self.readonly or names - {"memory.lock"} - {
            n for n in names if n.startswith(f".{FILE}")
        }:
            raise StateError(f"{self.folder}: is no memory: it holds no {FILE}")

    def _failing(self) -> AbstractContextManager[None]:
        from memsim.memory.stores.sqlite.rows import failing

        return failing(self.path)

    def _damaged(self, why: str) -> StoreError:
        from memsim.memory.stores.sqlite.rows import damaged

        return damaged(self.path, why)


class FileBlobs:
    """The large content of one conversation in the file; see `Blobs`."""

    def __init__(self, file: MemoryFile, conversation: str) -> None:
        self._file = file
        self._conversation = conversation

    def put(self, data: bytes) -> str:
        """Keep bytes; their digest."""
        self._file.check_open()
        digest = hashlib.sha256(data).hexdigest()
        with self._file.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO offloaded VALUES (?, ?, ?)",
                (self._conversation, digest, data),
            )
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of a digest.

        Raises `StoreError` if this conversation has none, or they are damaged.
        """
        if not _DIGEST.fullmatch(digest):
            raise StoreError(NOTHING_OFFLOADED)
        with self._file.snapshot() as connection:
            found = connection.execute(
                "SELECT data FROM offloaded WHERE conversation = ? AND digest = ?",
                (self._conversation, digest),
            ).fetchone()
        if found is None:
            raise StoreError(NOTHING_OFFLOADED)
        if not isinstance(found[0], bytes) or hashlib.sha256(found[0]).hexdigest() != digest:
            raise StateError("the saved state cannot be read back: what was offloaded is damaged")
        return found[0]

    def digests(self) -> tuple[str, ...]:
        """Every digest that there is, sorted."""
        with self._file.snapshot() as connection:
            found = connection.execute(
                "SELECT digest FROM offloaded WHERE conversation = ? ORDER BY digest",
                (self._conversation,),
            ).fetchall()
        return tuple(digest for (digest,) in found)

    def drop(self, digests: Iterable[str]) -> tuple[str, ...]:
        """Remove content; the digests of what was there, sorted."""
        there = set(self.digests())
        gone = sorted({d for d in digests if d in there})
        if gone:
            self._file.check_open()
            with self._file.writing() as connection:
                connection.executemany(
                    "DELETE FROM offloaded WHERE conversation = ? AND digest = ?",
                    [(self._conversation, digest) for digest in gone],
                )
        return tuple(gone)


def _as_sqlite(store: Store | None) -> SQLite | None:
    from memsim.memory.stores.sqlite.store import SQLite

    return store if isinstance(store, SQLite) else None


def has_tables(connection: sqlite3.Connection) -> bool:
    """Whether the file is that of a memory, and not of a store alone."""
    found = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'parts'").fetchone()
    return found is not None


def last_number(connection: sqlite3.Connection, table: str) -> int:
    """The number of the last row that a table ever had."""
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
    row = found.fetchone()
    return row[0] if row else 0


def _digest_of(owner: str) -> int:
    """A number for an owner, who may share it with another one."""
    return zlib.crc32(owner.encode("utf-8", "surrogatepass"))


def _check_sum(key: object, text: object) -> int:
    from memsim.memory.stores.sqlite.rows import check_sum

    return check_sum(str(text), key)
