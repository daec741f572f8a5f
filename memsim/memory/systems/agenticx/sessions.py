"""AgenticX's SessionStore: scratchpads, summaries, and a full text search over what was said."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

LONGEST, MOST, WORDS, PREVIEW = 200_000, 500, 40, 800
_SCHEMA = """
CREATE TABLE scratchpad (session_id TEXT, key TEXT, value TEXT, PRIMARY KEY (session_id, key));
CREATE TABLE session_summaries (session_id TEXT PRIMARY KEY, summary TEXT, metadata TEXT);
CREATE TABLE session_messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,
    timestamp REAL);
CREATE VIRTUAL TABLE session_messages_fts USING fts5(
    content, content='session_messages', content_rowid='id');
CREATE TRIGGER session_messages_ai AFTER INSERT ON session_messages BEGIN
    INSERT INTO session_messages_fts (rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER session_messages_ad AFTER DELETE ON session_messages BEGIN
    INSERT INTO session_messages_fts (session_messages_fts, rowid, content)
    VALUES ('delete', old.id, old.content);
END;
"""
_OPERATOR = r"(?:AND|OR|NOT)"
_LEADING = re.compile(rf"^{_OPERATOR}\b\s*", re.IGNORECASE)
_TRAILING = re.compile(rf"\s+{_OPERATOR}$", re.IGNORECASE)
_HYPHENATED = re.compile(r"\b\w+(?:-\w+)+\b")
_QUOTED = re.compile(r'"[^"]*"')


class SessionStore:
    """What outlives a session, in a database of its own in memory."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.executescript(_SCHEMA)

    def save_scratchpad(self, session: str, values: Mapping[str, str]) -> None:
        """Put a scratchpad in the place of the session's earlier one."""
        run = self._database.execute
        run("DELETE FROM scratchpad WHERE session_id = ?", (session,))
        for key, value in values.items():
            run("INSERT INTO scratchpad VALUES (?, ?, ?)", (session, key, value))

    def load_scratchpad(self, session: str) -> dict[str, str]:
        """A session's scratchpad, by key in order."""
        query = "SELECT key, value FROM scratchpad WHERE session_id = ? ORDER BY key"
        return dict(self._database.execute(query, (session,)).fetchall())

    def save_summary(self, session: str, summary: str, metadata: Mapping[str, Any]) -> None:
        """Keep what a session was about."""
        told = json.dumps(dict(metadata), ensure_ascii=False)
        self._database.execute(
            "INSERT OR REPLACE INTO session_summaries VALUES (?, ?, ?)", (session, summary, told)
        )

    def search_summaries(self, words: str) -> list[str]:
        """The summaries that hold some words as they stand."""
        query = "SELECT summary FROM session_summaries WHERE summary LIKE ? ORDER BY rowid DESC"
        return [row[0] for row in self._database.execute(query, (f"%{words}%",))]

    def index_messages(self, session: str, rows: Sequence[tuple[str, str, float]]) -> int:
        """Put a session's messages, as role, content and timestamp, in place of earlier ones."""
        run = self._database.execute
        run("DELETE FROM session_messages WHERE session_id = ?", (session,))
        for role, content, timestamp in rows:
            run(
                "INSERT INTO session_messages (session_id, role, content, timestamp)"
                " VALUES (?, ?, ?, ?)",
                (session, role, content[:LONGEST], timestamp),
            )
        return len(rows)

    def search_messages(self, query: str, limit: int = 20) -> list[tuple[str, str, float]]:
        """Role, snippet and timestamp of the messages that a query finds, newest first."""
        cleaned = sanitised_query(query)
        if not cleaned:
            return []
        try:
            rows = self._database.execute(
                "SELECT m.role, snippet(session_messages_fts, 0, '»', '«', '…', ?), m.timestamp"
                " FROM session_messages_fts JOIN session_messages m"
                " ON m.id = session_messages_fts.rowid WHERE session_messages_fts MATCH ?"
                " ORDER BY m.timestamp DESC LIMIT ?",
                (WORDS, cleaned, min(max(limit, 1), MOST)),
            ).fetchall()
        except sqlite3.OperationalError:
            return []
        return [(role, snippet[:PREVIEW], timestamp) for role, snippet, timestamp in rows]

    def close(self) -> None:
        """Release the database."""
        self._database.close()


def sanitised_query(query: str) -> str:
    """A query that the full text search understands; quoted parts stay as they are."""
    if not query.strip():
        return ""
    quoted: list[str] = []

    def aside(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"\x00{len(quoted) - 1}\x00"

    text = re.sub(r'[+{}()"^]', " ", _QUOTED.sub(aside, query))
    text = re.sub(r"(^|\s)\*", r"\1", re.sub(r"\*+", "*", text))
    text = _TRAILING.sub("", _LEADING.sub("", text.strip()).strip())
    text = _HYPHENATED.sub(lambda match: f'"{match[0]}"', text)
    return re.sub(r"\x00(\d+)\x00", lambda match: quoted[int(match[1])], text).strip()
