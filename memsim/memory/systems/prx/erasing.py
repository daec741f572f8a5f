"""Leaves nothing of a dropped row in PRX's database: what `fixed` does, and PRX does not.

A row that is deleted still stands in free pages, in the segments of the index of words, in the
write-ahead log, as the vector of its text, and as the title of the topic that it began.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from memsim.memory.systems.prx import topics
from memsim.memory.systems.prx.vectors import digest_of

INDEXES = ("memories_fts", "topics_fts")


def overwrite(connection: sqlite3.Connection) -> None:
    """From now on, let SQLite write zeros over whatever it frees."""
    connection.execute("PRAGMA secure_delete = ON")


def texts_of(
    connection: sqlite3.Connection, numbers: Iterable[int]
) -> list[tuple[str, str | None]]:
    """What rows say and the topics they belong to, as `scrub` has to know once they are gone."""
    query = "SELECT content, topic_id FROM memories WHERE rowid = ?"
    found = (connection.execute(query, (number,)).fetchone() for number in numbers)
    return [(str(row[0]), row[1]) for row in found if row is not None]


def scrub(connection: sqlite3.Connection, gone: list[tuple[str, str | None]]) -> None:
    """Take what rows said that are no longer there out of all that was made from it.

    Raises:
        sqlite3.Error: the file cannot be written.
    """
    if not gone:
        return
    for text in dict.fromkeys(text for text, _ in gone):
        connection.execute(
            "DELETE FROM embedding_cache WHERE content_hash = ?"
            " AND NOT EXISTS (SELECT 1 FROM memories WHERE content = ?)",
            (digest_of(text), text),
        )
    for topic in dict.fromkeys(topic for _, topic in gone if topic is not None):
        topics.let_go(connection, topic)
    for index in INDEXES:
        connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")  # noqa: S608
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
