"""The tables of PRX's brain.db, and what has to be added to those of older ones."""
# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

import json
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from memsim.errors import StoreError
from memsim.memory.codec import JSON, reading
from memsim.message import utc

FIELDS = (
    "rowid, id, key, content, category, session_id, useful_count, visibility, sensitivity,"
    " risk_signals, channel, chat_type, chat_id, sender_id, topic_id, created_at, updated_at,"
    " archived, sources, space"
)
NAMES = tuple(name.strip() for name in FIELDS.split(","))


class MemoryRow(NamedTuple):
    """One memory, as the table has it."""

    number: int
    id: str
    key: str
    content: str
    category: str
    session: str | None
    useful: int
    visibility: str
    sensitivity: str
    risks: str
    channel: str | None
    chat_type: str | None
    chat_id: str | None
    sender: str | None
    topic: str | None
    created: str
    updated: str
    archived: int
    origins: str
    space: str

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the messages that it came from."""
        return tuple(json.loads(self.origins))


class Clause(NamedTuple):
    """Which rows are meant: a condition over `m`, and its parameters."""

    sql: str = "1 = 1"
    given: tuple[str | int, ...] = ()

    def __and__(self, other: Clause) -> Clause:
        """Rows that both mean."""
        if EVERY_ROW in {self, other}:
            return other if self == EVERY_ROW else self
        return Clause(f"({self.sql}) AND ({other.sql})", self.given + other.given)


EVERY_ROW = Clause()


class RowMirror(Protocol):
    """Another place where rows are kept."""

    def change(self, before: Sequence[MemoryRow], after: Sequence[MemoryRow]) -> None:
        """Some rows are no longer as they were."""

    def renew(self, rows: Sequence[MemoryRow]) -> None:
        """These are all the rows there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessStamp:
    """Whose a row is and who may see it; a write without one leaves all of it as it was."""

    channel: str | None = None
    chat_type: str | None = None
    chat_id: str | None = None
    sender_id: str | None = None
    raw_sender: str | None = None
    topic_id: str | None = None
    visibility: str = "private"
    sensitivity: str = "normal"
    risk_signals: str = "[]"


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def store_errors() -> Iterator[None]:
    """Turns what goes wrong in the database into a `StoreError` that says it in its words."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(str(error)) from error
    except UnicodeEncodeError as error:
        raise StoreError("a text cannot be encoded as UTF-8") from error


def timestamp(now: datetime) -> str:
    """An instant as rows have it: RFC 3339 of one length, so that texts sort it."""
    return utc(now).isoformat(timespec="microseconds")


COLUMNS = {
    "id": "TEXT PRIMARY KEY",
    "key": "TEXT NOT NULL",
    "content": "TEXT NOT NULL",
    "category": "TEXT NOT NULL DEFAULT 'core'",
    "embedding": "BLOB",
    "created_at": "TEXT NOT NULL",
    "updated_at": "TEXT NOT NULL",
    "channel": "TEXT",
    "chat_type": "TEXT",
    "chat_id": "TEXT",
    "sender_id": "TEXT",
    "raw_sender": "TEXT",
    "topic_id": "TEXT",
    "visibility": "TEXT NOT NULL DEFAULT 'private'",
    "sensitivity": "TEXT NOT NULL DEFAULT 'normal'",
    "risk_signals": "TEXT NOT NULL DEFAULT '[]'",
    "policy_version": "INTEGER NOT NULL DEFAULT 1",
    "useful_count": "INTEGER NOT NULL DEFAULT 0",
    "session_id": "TEXT",
    # Ours: what a repaired memory keeps keys apart by, what is put away, where words came from.
    "space": "TEXT NOT NULL DEFAULT ''",
    "archived": "INTEGER NOT NULL DEFAULT 0",
    "sources": "TEXT NOT NULL DEFAULT '[]'",
}

_ROWS = f"""
CREATE TABLE IF NOT EXISTS memories (
    {", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())},
    UNIQUE (key, space)
);
CREATE INDEX IF NOT EXISTS memories_updated ON memories (updated_at);
CREATE INDEX IF NOT EXISTS memories_sender ON memories (sender_id);
CREATE INDEX IF NOT EXISTS memories_archived ON memories (archived) WHERE archived = 1;
CREATE VIRTUAL TABLE IF NOT EXISTS memories_fts USING fts5(
    key, content, content='memories', content_rowid='rowid'
);
CREATE TRIGGER IF NOT EXISTS memories_come AFTER INSERT ON memories WHEN new.archived = 0 BEGIN
    INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content);
END;
CREATE TRIGGER IF NOT EXISTS memories_go AFTER DELETE ON memories WHEN old.archived = 0 BEGIN
    INSERT INTO memories_fts(memories_fts, rowid, key, content)
    VALUES ('delete', old.rowid, old.key, old.content);
END;
CREATE TRIGGER IF NOT EXISTS memories_change AFTER UPDATE OF key, content, archived ON memories
BEGIN
    INSERT INTO memories_fts(memories_fts, rowid, key, content)
    SELECT 'delete', old.rowid, old.key, old.content WHERE old.archived = 0;
    INSERT INTO memories_fts(rowid, key, content)
    SELECT new.rowid, new.key, new.content WHERE new.archived = 0;
END;
"""

CACHE_WITHOUT_ACCESS = """
CREATE TABLE IF NOT EXISTS embedding_cache (
    content_hash TEXT PRIMARY KEY, embedding BLOB NOT NULL, created_at TEXT NOT NULL
);
"""
"""What 0.3.0 makes when it restores a snapshot, and cannot open afterwards."""

_CACHE = """
CREATE TABLE IF NOT EXISTS embedding_cache (
    content_hash TEXT PRIMARY KEY, embedding BLOB NOT NULL, created_at TEXT NOT NULL,
    accessed_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS embedding_cache_accessed ON embedding_cache (accessed_at);
"""

_ACCESS = """
CREATE TABLE IF NOT EXISTS identity_bindings (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, channel TEXT NOT NULL,
    channel_account TEXT NOT NULL, bound_at TEXT NOT NULL, bound_by TEXT NOT NULL,
    UNIQUE (channel, channel_account)
);
CREATE TABLE IF NOT EXISTS user_policies (
    user_id TEXT PRIMARY KEY, role TEXT NOT NULL, projects TEXT NOT NULL DEFAULT '[]',
    visibility_ceiling TEXT NOT NULL DEFAULT 'private',
    blocked_patterns TEXT NOT NULL DEFAULT '[]', policy_version INTEGER NOT NULL DEFAULT 1,
    updated_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS topics (
    id TEXT PRIMARY KEY, project TEXT, external_id TEXT, title TEXT NOT NULL,
    normalised TEXT NOT NULL DEFAULT '', fingerprint TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open', created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    resolved_at TEXT, UNIQUE (project, external_id), UNIQUE (fingerprint)
);
CREATE INDEX IF NOT EXISTS topics_title ON topics (normalised);
CREATE VIRTUAL TABLE IF NOT EXISTS topics_fts USING fts5(
    title, content='topics', content_rowid='rowid'
);
CREATE TRIGGER IF NOT EXISTS topics_come AFTER INSERT ON topics BEGIN
    INSERT INTO topics_fts(rowid, title) VALUES (new.rowid, new.title);
END;
CREATE TRIGGER IF NOT EXISTS topics_go AFTER DELETE ON topics BEGIN
    INSERT INTO topics_fts(topics_fts, rowid, title) VALUES ('delete', old.rowid, old.title);
END;
CREATE INDEX IF NOT EXISTS memories_topic ON memories (topic_id);
CREATE TABLE IF NOT EXISTS topic_participants (
    topic_id TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (topic_id, user_id)
);
CREATE TABLE IF NOT EXISTS shared (
    owner TEXT NOT NULL, reader TEXT NOT NULL, source TEXT NOT NULL,
    PRIMARY KEY (owner, reader, source)
);
CREATE TABLE IF NOT EXISTS access_audit_log (
    id INTEGER PRIMARY KEY, requester TEXT NOT NULL, action TEXT NOT NULL, query TEXT,
    memory_id TEXT, policy_rule TEXT NOT NULL, result TEXT NOT NULL, at TEXT NOT NULL
);
"""

SAVED = (
    "memories",
    "embedding_cache",
    "identity_bindings",
    "user_policies",
    "topics",
    "topic_participants",
    "shared",
    "access_audit_log",
)
"""The tables that hold what cannot be made anew."""


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables that are missing."""
    there = {name for _, name, *_ in connection.execute("PRAGMA table_info(memories)")}
    for name, kind in COLUMNS.items() if there else ():
        if name not in there:
            connection.execute(f"ALTER TABLE memories ADD COLUMN {name} {kind}")
    connection.executescript(_ROWS + _CACHE + _ACCESS)


def prepare_hydrated(connection: sqlite3.Connection) -> None:
    """Make the rows alone, with the cache as 0.3.0 makes it then."""
    connection.executescript(_ROWS + CACHE_WITHOUT_ACCESS)


CACHE = "embedding_cache"
"""The one table whose vectors are saved; those of rows are found there again, or made anew."""


def load_tables(connection: sqlite3.Connection, saved: Any) -> None:  # noqa: ANN401 - from a file
    """Replace saved tables, all of them or none. Raises StateError where they are damaged."""
    with reading("its tables are damaged"), transaction(connection):
        for table in SAVED:
            connection.execute(f"DELETE FROM {table}")
        try:
            for table in SAVED:
                _load(connection, table, saved[table])
        except sqlite3.Error as error:
            raise ValueError(str(error)) from error


def saved_rows(connection: sqlite3.Connection, table: str) -> list[JSON]:
    """The rows of a table as JSON values."""
    names = _names(connection, table)
    shown = ["NULL" if n == "embedding" and table != CACHE else n for n in names]
    query = f"SELECT rowid, {', '.join(shown)} FROM {table} ORDER BY rowid"
    return [[*map(_written, row)] for row in connection.execute(query)]


def _check_row(values: Mapping[str, Any]) -> None:
    """Refuse a row that cannot be shown. Raises TypeError or ValueError."""
    texts = [*json.loads(values["sources"]), *(values[n] for n in ("key", "content", "category"))]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a column is no text")
    for name in ("created_at", "updated_at"):
        datetime.fromisoformat(values[name])


def _load(connection: sqlite3.Connection, table: str, rows: object) -> None:
    names = ("rowid", *_names(connection, table))
    if not isinstance(rows, list):
        raise TypeError(table)
    marks = ", ".join("?" * len(names))
    length = None
    for row in rows:
        values = dict(zip(names, row, strict=True))
        if table == "memories":
            _check_row(values)
        if table == CACHE:
            values["embedding"] = vector = b64decode(values["embedding"], validate=True)
            length = length or len(vector)
            if not vector or len(vector) != length or length % 4:
                raise ValueError("vectors are not of one length")
        connection.execute(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", [*values.values()]
        )


def _written(value: Any) -> JSON:  # noqa: ANN401 - what SQLite has in a field
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    told: JSON = value
    return told


def _names(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
