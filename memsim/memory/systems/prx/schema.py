"""The tables of PRX's brain.db, and what has to be added to those of older ones."""

# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

import sqlite3

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
    """Make what is missing.

    Raises:
        sqlite3.Error: the tables are another program's, or damaged.
    """
    there = {name for _, name, *_ in connection.execute("PRAGMA table_info(memories)")}
    for name, kind in COLUMNS.items() if there else ():
        if name not in there:
            connection.execute(f"ALTER TABLE memories ADD COLUMN {name} {kind}")
    connection.executescript(_ROWS + _CACHE + _ACCESS)


def prepare_hydrated(connection: sqlite3.Connection) -> None:
    """Make the rows alone, with the cache as 0.3.0 makes it then."""
    connection.executescript(_ROWS + CACHE_WITHOUT_ACCESS)
