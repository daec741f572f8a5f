"""The file of the SQLite store: created whole, checked when opened, never mistaken.

A database is made beside its place and moved there when it is complete, so that a crash leaves
either none or a whole one, and an empty file is damage and no new memory. A damaged file stays
where it is, and is copied to `<name>.damaged-<digest>` once.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memsim.errors import SchemaError, StoreError
from memsim.language.text import index_terms
from memsim.memory.stores.folder_lock import locked, sync_folder
from memsim.memory.stores.sqlite import rows

if TYPE_CHECKING:
    from collections.abc import Callable

# Which memory a SQLite store belongs to, and how far it has come.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreIdentity:
    """Where a store stands."""

    memory: str
    changes: int


def read_name(connection: sqlite3.Connection) -> str:
    """The name of the memory that it belongs to; empty where it has none.

    Raises `ValueError` if what stands in its place is no name.
    """
    # The table came later than the layout, and whoever does not know it leaves it alone.
    there = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'memory'").fetchone()
    found = connection.execute("SELECT name FROM memory").fetchone() if there else None
    if found is not None and not isinstance(found[0], str):
        raise ValueError("a name is a text")
    return found[0] if found else ""


def write_name(connection: sqlite3.Connection) -> str:
    """Give it a name, within a transaction."""
    made = secrets.token_hex(16)
    connection.execute("CREATE TABLE IF NOT EXISTS memory (name TEXT NOT NULL)")
    connection.execute("INSERT INTO memory VALUES (?)", (made,))
    return made


def sync_log(path: Path) -> None:
    """See to it that the log of a database has reached the disk; what it lacks is in the file.

    Raises `OSError` if it cannot be written.
    """
    try:
        descriptor = os.open(path.with_name(f"{path.name}-wal"), os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


APPLICATION: Final = 0x6D656D73
"""SQLite's application id: `mems`."""

LAYOUT: Final = 4
"""The version of the tables; any other is refused, but for the one before."""

UPDATE: Final = "open it once to bring it up to date"
"""What to do with a file that is only looked into."""

_BEFORE: Final = 3
"""The version in which outlines and vectors were columns of `entries`."""

_MOVED: Final = 1000
"""Rows that are moved at a time."""

_LOG: Final = 4000
"""Pages of log after which it is written back: 16 MB."""

LARGE: Final = 128_000_000
"""Bytes of a file above which it is not read through when it is opened: that would take longer than
all else. Each row has a check sum, which is looked at when the row is read. Which rows a shelf has
is looked at when the shelf is first used. Damage to the index of ids may not be noticed."""

TABLES: Final = """
CREATE TABLE status (
    changes INTEGER NOT NULL, -- counts what was written, so that other processes notice
    epoch INTEGER NOT NULL,   -- counts when shelves were taken down
    embedder TEXT,
    dimension INTEGER,
    analysis TEXT NOT NULL,   -- a digest of how texts become terms
    erasing INTEGER NOT NULL, -- 1 while what was erased may still stand in the log
    indexed INTEGER NOT NULL  -- the words of entries with greater numbers are not in `words` yet
);
CREATE TABLE shelves (
    number INTEGER PRIMARY KEY,
    record TEXT NOT NULL UNIQUE,
    check_sum INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    terms INTEGER NOT NULL,
    version INTEGER NOT NULL  -- of `changes`, when it changed last
);
CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    shelf INTEGER NOT NULL,
    created TEXT NOT NULL,
    length INTEGER NOT NULL,  -- in terms
    check_sum INTEGER NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX in_order ON entries (shelf, created, id, length);
CREATE TABLE beside (         -- what is read of all entries of a shelf
    place INTEGER PRIMARY KEY, -- the shelf and the number, so that a shelf stands together
    about TEXT,               -- an outline of whoever opened the store, with a check sum of its own
    vector BLOB               -- with a check sum
);
CREATE VIRTUAL TABLE words USING fts5 (
    terms, content = '', detail = none, columnsize = 0,
    tokenize = "ascii tokenchars '~-_/.:@#'''"
);
CREATE VIRTUAL TABLE postings USING fts5vocab (words, instance);
"""


def connect(path: Path, *, readonly: bool = False, durable: bool = False) -> sqlite3.Connection:
    """Open the database at a path, which is created where there is none.

    With `durable`, a write reaches the disk before it returns. Raises `SchemaError` if it has
    another layout. Raises `StoreError` if it is damaged, belongs to something else, or cannot be
    opened.
    """
    with rows.reading(path):
        if not readonly:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                _create(path)
        if not path.stat().st_size:
            raise StoreError(f"{path} is damaged: it is empty")
        connection = _open(path)
        try:
            if not readonly:
                _bring_apart(connection)
            _check(connection, path)
            rows.name_terms(connection)
            if durable:
                connection.execute("PRAGMA synchronous = FULL")
            if readonly:
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection


def analysis() -> str:
    """A digest of how texts become terms: an index made otherwise is made anew."""
    sample = "The quick-brown foxes' MOVED A-17 to Zürich, 東京 & node_3.14: user@host #9 running"
    sample += " – in Helsingissä, Ankara'da, दिल्ली, Москве, 서울에서, กรุงเทพ, ٧٧٣١"
    return hashlib.blake2b("\n".join(index_terms(sample)).encode(), digest_size=8).hexdigest()


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether the words of a store are indexed as they are here."""
    (found,) = connection.execute("SELECT analysis FROM status").fetchone()
    return bool(found == analysis())


def index_anew(connection: sqlite3.Connection) -> None:
    """Index all entries anew where their terms were made otherwise, wholly or not at all.

    The old index may hold words of what was erased: the file is to be scrubbed.
    """
    _once(connection, _index_anew, unless=is_current)


def _once(
    connection: sqlite3.Connection,
    do: Callable[[sqlite3.Connection], None],
    unless: Callable[[sqlite3.Connection], bool],
) -> None:
    """Do something in a transaction of its own, wholly or not at all, unless that is done."""
    if unless(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not unless(connection):  # another process may have been quicker
            do(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _bring_apart(connection: sqlite3.Connection) -> None:
    """Give a file of the layout before this layout, wholly or not at all.

    It takes what writing all of it takes. The file is to be scrubbed, which gives back the room of
    what has moved.
    """
    _once(connection, _move_columns, unless=lambda of: not _is_of_before(of))


def _is_of_before(connection: sqlite3.Connection) -> bool:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return (application, version) == (APPLICATION, _BEFORE)


def _move_columns(connection: sqlite3.Connection) -> None:
    """Move outlines and vectors from `entries` to `beside`, a shelf after the other."""
    statements = [text for text in TABLES.split(";\n") if "entries (" in text or "beside (" in text]
    connection.execute("ALTER TABLE entries RENAME TO entries_before")
    connection.execute("DROP INDEX in_order")
    for statement in statements:
        connection.execute(statement)
    columns = "number, id, shelf, created, length, check_sum, record"
    connection.execute(
        f"INSERT INTO entries SELECT {columns} FROM entries_before"  # noqa: S608 - no value
        " ORDER BY number"
    )
    found = connection.execute(
        "SELECT shelf, number FROM entries INDEXED BY in_order ORDER BY shelf, number"
    )
    while some := found.fetchmany(_MOVED):
        connection.executemany(
            "INSERT INTO beside SELECT ?, about, vector FROM entries_before WHERE number = ?",
            [(rows.place_of(shelf, number), number) for shelf, number in some],
        )
    connection.execute("DROP TABLE entries_before")
    connection.execute("UPDATE status SET erasing = 1")
    connection.execute(f"PRAGMA user_version = {LAYOUT}")


def _index_anew(connection: sqlite3.Connection) -> None:
    for (number,) in connection.execute("SELECT number FROM entries").fetchall():
        rows.count_anew(connection, number)
    last = rows.last(connection)
    rows.index_anew(connection, last)
    connection.execute(
        "UPDATE status SET analysis = ?, changes = changes + 1, epoch = epoch + 1, erasing = 1,"
        " indexed = ?",
        (analysis(), last),
    )
    connection.execute(
        "UPDATE shelves SET version = (SELECT changes FROM status),"
        " terms = (SELECT coalesce(sum(length), 0) FROM entries WHERE shelf = shelves.number)"
    )


def _create(path: Path) -> None:
    with locked(path.parent):
        for left in path.parent.glob(f".{path.name}.new-*"):
            left.unlink(missing_ok=True)
        if path.exists():
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.new-", dir=path.parent)
        os.close(handle)
        connection = sqlite3.connect(name, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute("INSERT INTO status VALUES (0, 0, NULL, NULL, ?, 0, 0)", (analysis(),))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {LAYOUT}")
        connection.execute("COMMIT")
        connection.close()
        Path(name).rename(path)
        sync_folder(path.parent)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=rows.BUSY,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    # NORMAL survives the death of the process, and leaves the file whole when the power goes; only
    # the last writes before that may be missing. FULL would sync every write: milliseconds each.
    for setting in (
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "secure_delete = ON",
        "temp_store = MEMORY",  # no text in files elsewhere
        f"wal_autocheckpoint = {_LOG}",
        "cache_size = -131072",
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {setting}")
    return connection


def is_large(path: Path) -> bool:
    """Whether a file is larger than what is read through when it is opened."""
    return path.stat().st_size > LARGE


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(f"{path} is a database of something else")
    if version != LAYOUT:
        advice = UPDATE if version == _BEFORE else ""
        raise SchemaError(str(path), version, LAYOUT, advice)
    if is_large(path):
        return
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise rows.damaged(path, str(found))
