"""The file of the SQLite store: created whole, checked when opened, migrated, never mistaken.

A database is made beside its place and moved there when it is complete, so that a crash leaves
either none or a whole one, and an empty file is damage and no new memory. A damaged file stays
where it is, and is copied to `<name>.damaged-<digest>` once.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sqlite3
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memsim.errors import SchemaError, StoreError
from memsim.language.text import index_terms
from memsim.memory.entry import DamagedRecord
from memsim.memory.stores.folder_lock import locked, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


# Which memory a SQLite store belongs to, and how far it has come.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreIdentity:
    """Where a store stands.

    Attributes:
        memory: a name that no other memory's store has; empty where it was given none yet.
        changes: how often it was written to; it never grows smaller.
    """

    memory: str
    changes: int


def read_name(connection: sqlite3.Connection) -> str:
    """The name of the memory that it belongs to; empty where it has none.

    Raises:
        ValueError: what stands in its place is no name.
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

    Raises:
        OSError: it cannot be written.
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

LAYOUT: Final = 2
"""The version of the tables; a newer one is refused, an older one is migrated.

2: the words of the latest entries are not in the index yet. `status` was called `state`: a memsim
that has a file open while it is migrated, and knows only layout 1, reads and writes no more.
"""

BUSY: Final = 30.0
"""Seconds for which another writer is waited for."""

_PAUSE: Final = 0.01
"""Seconds after which the log is tried again."""

_LOG: Final = 4000
"""Pages of log after which it is written back: 16 MB."""

_NOT_UTF8: Final = "Could not decode to UTF-8"
"""How the error begins for a text that is not UTF-8; it has no code."""

_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

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
    record TEXT NOT NULL,
    vector BLOB
);
CREATE INDEX in_order ON entries (shelf, created, id, length);
CREATE VIRTUAL TABLE words USING fts5 (
    terms, content = '', detail = none, columnsize = 0,
    tokenize = "ascii tokenchars '~-_/.:@#'''"
);
CREATE VIRTUAL TABLE postings USING fts5vocab (words, instance);
"""


def connect(path: Path, *, readonly: bool = False, durable: bool = False) -> sqlite3.Connection:
    """Open the database at a path, which is created where there is none.

    Args:
        path: the file.
        readonly: whether nothing may be written, and nothing created.
        durable: whether a write reaches the disk before it returns.

    Raises:
        SchemaError: a newer memsim wrote it.
        StoreError: it is damaged, belongs to something else, or cannot be opened.
    """
    with reading(path):
        if not readonly:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                _create(path)
        if not path.stat().st_size:
            raise StoreError(f"{path} is damaged: it is empty")
        connection = _open(path)
        try:
            _check(connection, path)
            if durable:
                connection.execute("PRAGMA synchronous = FULL")
            if readonly:
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def failing(path: Path) -> Iterator[None]:
    """Say every failure of the database as a StoreError, and keep a copy of what is damaged.

    Raises:
        StoreError: something inside failed.
    """
    try:
        yield
    except DamagedRecord as error:
        raise damaged(path, str(error)) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None or code & 0xFF in _CORRUPT:
            if str(error).startswith(_NOT_UTF8):  # with the text, which is nobody else's
                raise damaged(path, "a text in it is not UTF-8") from None
            raise damaged(path, str(error)) from error
        raise StoreError(f"{path}: {error}") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """As `failing`, for what reads alone: a value of the wrong kind is damage as well.

    A flipped bit may make a number of a text, and SQLite gives either out without a word.

    Raises:
        StoreError: something inside failed.
    """
    with failing(path):
        try:
            yield
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise DamagedRecord("a value in it is of the wrong kind") from error


def damaged(path: Path, why: str) -> StoreError:
    """The error for a damaged database, which has been copied aside."""
    copy = quarantine(path)
    kept = f"; a copy is kept at {copy}" if copy else ""
    # SQLite words some damage in several lines, and an error is one line.
    return StoreError(f"{path} is damaged: {' '.join(why.split())}{kept}")


def quarantine(path: Path) -> Path | None:
    """Copy a damaged file, and its log, aside; the same damage only once."""
    with suppress(OSError):
        digest = hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()
        copy = path.with_name(f"{path.name}.damaged-{digest}")
        if not copy.exists():
            log = path.with_name(f"{path.name}-wal")
            if log.exists():
                shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
            shutil.copyfile(path, copy)
        return copy
    return None


def scrub(connection: sqlite3.Connection, patience: float) -> bool:
    """Leave no byte of what was erased in the file or its log.

    Args:
        connection: to the database, outside a transaction.
        patience: seconds for which other processes are waited for.

    Returns:
        Whether it is done; where it is not, `status.erasing` still says that it is to be done.
    """
    connection.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
    try:
        return _scrub(connection, time.monotonic() + patience)
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(BUSY * 1000)}")


def _scrub(connection: sqlite3.Connection, until: float) -> bool:
    epoch, erasing = connection.execute("SELECT epoch, erasing FROM status").fetchone()
    if not erasing:  # another process has done it for both
        return True
    connection.execute("VACUUM")
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        # SQLite waits for readers, but never for another process that writes the log back.
        if time.monotonic() > until:
            return False
        time.sleep(_PAUSE)
    # What another process has erased since is not gone yet.
    connection.execute("UPDATE status SET erasing = 0 WHERE epoch = ?", (epoch,))
    return True


def analysis() -> str:
    """A digest of how texts become terms: an index made otherwise is made anew."""
    sample = "The quick-brown foxes' MOVED A-17 to Zürich, 東京 & node_3.14: user@host #9 running"
    return hashlib.blake2b("\n".join(index_terms(sample)).encode(), digest_size=8).hexdigest()


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
        lay_out(connection)
        connection.execute("COMMIT")
        connection.close()
        Path(name).rename(path)
        sync_folder(path.parent)


def lay_out(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty database, within a transaction."""
    for statement in TABLES.split(";\n"):
        connection.execute(statement)
    connection.execute("INSERT INTO status VALUES (0, 0, NULL, NULL, ?, 0, 0)", (analysis(),))
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {LAYOUT}")


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    # NORMAL survives the death of the process, and leaves the file whole when the power goes; only
    # the last writes before that may be missing. FULL would sync every write: milliseconds each.
    for setting in (
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "secure_delete = ON",
        "temp_store = MEMORY",  # no text in files elsewhere
        f"wal_autocheckpoint = {_LOG}",
        "cache_size = -65536",
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(f"{path} is a database of something else")
    if version > LAYOUT:
        raise SchemaError(str(path), version, LAYOUT)
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, str(found))
