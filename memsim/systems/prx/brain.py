"""PRX's database: rows by key, found by words, by meaning, or by what they contain."""
# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from memsim.errors import StoreError
from memsim.memory.codec import JSON
from memsim.models import Embedder
from memsim.systems.prx import schema, topics
from memsim.systems.prx.row_index import (
    Ranked,
    RowVectors,
    WordIndexes,
    digest_of,
    f32,
    rank_by_words,
)
from memsim.systems.prx.schema import (
    COLUMNS,
    EVERY_ROW,
    FIELDS,
    NAMES,
    AccessStamp,
    Clause,
    MemoryRow,
    RowMirror,
    prepare,
    store_errors,
    timestamp,
)

# Leaves nothing of a dropped row in PRX's database: what `fixed` does, and PRX does not.

INDEXES = ("memories_fts", "topics_fts")


def texts_of(
    connection: sqlite3.Connection, numbers: Iterable[int]
) -> list[tuple[str, str | None]]:
    """What rows say and the topics they belong to, as `scrub` has to know once they are gone."""
    query = "SELECT content, topic_id FROM memories WHERE rowid = ?"
    found = (connection.execute(query, (number,)).fetchone() for number in numbers)
    return [(str(row[0]), row[1]) for row in found if row is not None]


def scrub(connection: sqlite3.Connection, gone: list[tuple[str, str | None]]) -> None:
    """Delete what rows that are gone have left in caches, topics and indexes."""
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
        connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


BRAIN = "memory/brain.db"
"""Where the database is in a workspace."""

LIKE_WORDS = 8
"""Words of a query that are looked for in rows when nothing else is found."""

LISTED = 1000
"""Rows of a list at most."""

UNEMBEDDED = frozenset({"daily", "conversation"})
"""Categories that 0.3.0 makes no vectors for."""

_NAMESPACE = uuid.UUID("6f6d0f3a-52f8-4a43-9c55-1c2f6a5b9e10")


class Brain:
    """The rows of one memory, in a file or in this process alone.

    Args:
        embed: gives the embedder on first use; None for words alone.
        cache_size: texts whose vectors are kept beside the rows.
        apart: whether words are weighed by those rows alone that are meant.
        erases: whether nothing of a dropped row stays in the file.

    Raises:
        StoreError: it cannot be opened.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        embed: Callable[[], Embedder] | None = None,
        unembedded: frozenset[str] = UNEMBEDDED,
        cache_size: int = 10_000,
        mirror: RowMirror | None = None,
        apart: bool = False,
        erases: bool = False,
    ) -> None:
        self._mirror = mirror
        self._erases = erases
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(
            ":memory:" if path is None else path, isolation_level=None, check_same_thread=False
        )
        try:
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = OFF")
            if erases:
                self.connection.execute("PRAGMA secure_delete = ON")
            prepare(self.connection)
        except sqlite3.Error as error:
            self.connection.close()
            raise StoreError(f"{error}: Error code 1: SQL error or missing database") from error
        self.meanings = RowVectors(self.connection, embed, unembedded, cache_size)
        self._apart = WordIndexes(self.connection) if apart else None

    @property
    def apart(self) -> bool:
        """Whether nothing that is not meant may weigh in a ranking."""
        return self._apart is not None

    def store(
        self,
        key: str,
        content: str,
        category: str,
        *,
        now: datetime,
        session: str | None = None,
        stamp: AccessStamp | None = None,
        space: str = "",
        sources: Sequence[str] = (),
    ) -> None:
        """Write a row, or replace the one with its key, which keeps its id and its counts.

        Raises:
            StoreError: it cannot be written.
        """
        at = timestamp(now)
        vector = self.meanings.of_row(category, content, at)
        fresh = {
            "id": str(uuid.uuid5(_NAMESPACE, f"{space}\n{key}")),
            "key": key,
            "space": space,
            "created_at": at,
        }
        changed: dict[str, object] = {
            "content": content,
            "category": category,
            "embedding": vector,
            "updated_at": at,
            "session_id": session,
            "archived": 0,
            "sources": json.dumps(list(sources)),
        }
        if stamp is not None:
            changed |= {name: getattr(stamp, name) for name in AccessStamp.__slots__}
        every = fresh | changed
        before = self._before(key, space)
        with store_errors():
            found = self.connection.execute(
                f"INSERT INTO memories ({', '.join(every)})"
                f" VALUES ({', '.join('?' * len(every))}) ON CONFLICT DO UPDATE SET"
                f" {', '.join(f'{name} = excluded.{name}' for name in changed)} RETURNING rowid",
                tuple(every.values()),
            )
            ((number,),) = found.fetchall()
            self.meanings.place(number, vector)
        self._mirrored(before, [number])

    def get(self, key: str, clause: Clause = EVERY_ROW) -> MemoryRow | None:
        """The row with a key, where it is among those meant."""
        found = self.rows("m.key = ? AND (" + clause.sql + ")", (key, *clause.given), limit=1)
        return found[0] if found else None

    def forget(self, key: str, clause: Clause = EVERY_ROW) -> bool:
        """Delete the row with a key; false when there is none."""
        row = self.get(key, clause)
        if row is not None:
            self.drop([row.number])
        return row is not None

    def drop(self, numbers: Iterable[int]) -> None:
        """Delete rows."""
        gone = list(numbers)
        before = [*self.fetch(gone).values()] if self._mirror is not None else []
        with store_errors():
            texts = texts_of(self.connection, gone) if self._erases else []
            for number in gone:
                self.connection.execute("DELETE FROM memories WHERE rowid = ?", (number,))
                self.meanings.place(number, None)
            scrub(self.connection, texts)
        self._mirrored(before, [])

    def archive(self, numbers: Iterable[int]) -> None:
        """Put rows away: they are kept, and no longer found."""
        away = list(numbers)
        with store_errors():
            self.connection.executemany(
                "UPDATE memories SET archived = 1 WHERE rowid = ?", [(number,) for number in away]
            )
        for number in away:
            self.meanings.place(number, None)
        self._mirrored([], away)

    def used(self, numbers: Iterable[int], now: datetime) -> None:
        """Count that rows were of use, which makes them as young as a write does."""
        at, of_use = timestamp(now), list(numbers)
        self.connection.executemany(
            "UPDATE memories SET useful_count = useful_count + 1, updated_at = ? WHERE rowid = ?",
            [(at, number) for number in of_use],
        )
        self._mirrored([], of_use)

    def listed(self, *, category: str | None = None, session: str | None = None) -> list[MemoryRow]:
        """The latest rows; the session is looked at after the limit."""
        where = "1 = 1" if category is None else "m.category = ?"
        rows = self.rows(where, () if category is None else (category,), limit=LISTED)
        return [row for row in rows if session in {None, row.session}]

    def count(self, clause: Clause = EVERY_ROW) -> int:
        """How many rows there are."""
        query = f"SELECT count(*) FROM memories m WHERE {clause.sql}"
        (count,) = self.connection.execute(query, clause.given).fetchone()
        return int(count)

    def rows(
        self,
        where: str = "1 = 1",
        given: Sequence[str | int] = (),
        *,
        order: str = "m.updated_at DESC, m.rowid DESC",
        limit: int = -1,
    ) -> list[MemoryRow]:
        """Rows by a condition over `m`."""
        fields = ", ".join(f"m.{name.strip()}" for name in FIELDS.split(","))
        query = f"SELECT {fields} FROM memories m WHERE {where} ORDER BY {order} LIMIT ?"
        with store_errors():
            return [MemoryRow(*row) for row in self.connection.execute(query, (*given, limit))]

    def fetch(self, numbers: Sequence[int], clause: Clause = EVERY_ROW) -> dict[int, MemoryRow]:
        """Rows by their numbers, those that are meant."""
        marks = ", ".join("?" * len(numbers))
        where = f"m.rowid IN ({marks}) AND ({clause.sql})"
        return {row.number: row for row in self.rows(where, (*numbers, *clause.given))}

    def numbers(self, ids: Iterable[str]) -> list[int]:
        """The numbers of the rows with these ids, as far as they are there."""
        query = "SELECT rowid FROM memories WHERE id = ?"
        found = (self.connection.execute(query, (one,)).fetchone() for one in ids)
        return [row[0] for row in found if row is not None]

    def keyword(self, query: str, limit: int, clause: Clause = EVERY_ROW) -> list[Ranked]:
        """Rows with any of the query's words, each a phrase, by BM25; scores have no upper bound.

        What was put away is in no ranking.

        Raises:
            StoreError: a word has a quotation mark in it.
        """
        if not query.strip():
            return []
        if self._apart is not None and clause != EVERY_ROW:
            return self._apart.keyword(query, limit, clause)
        join = "" if clause == EVERY_ROW else " JOIN memories m ON m.rowid = f.rowid"
        where = "" if clause == EVERY_ROW else f" AND ({clause.sql})"
        sql = (
            f"SELECT f.rowid, bm25(memories_fts) AS score FROM memories_fts f{join}"
            f" WHERE memories_fts MATCH ?{where} ORDER BY score, f.rowid LIMIT ?"
        )

        def search(expression: str, most: int) -> Iterable[Ranked]:
            return self.connection.execute(sql, (expression, *clause.given, most))

        with store_errors():
            found = rank_by_words(search, query, limit)
            return [(number, f32(-score)) for number, score in found]

    def texts(self, clause: Clause = EVERY_ROW) -> Iterator[tuple[int, str]]:
        """Numbers and contents of rows, core ones first, as files of old would have them."""
        query = (
            f"SELECT m.rowid, m.content FROM memories m WHERE m.archived = 0 AND ({clause.sql})"
            " ORDER BY m.category <> 'core', m.rowid"
        )
        yield from self.connection.execute(query, clause.given)

    def containing(self, query: str, limit: int, clause: Clause = EVERY_ROW) -> list[MemoryRow]:
        """The latest rows in which any of the query's first words stands, as LIKE sees it."""
        words = [f"%{word}%" for word in query.split()[:LIKE_WORDS]]
        if not words:
            return []
        either = " OR ".join(["m.content LIKE ? OR m.key LIKE ?"] * len(words))
        given = tuple(word for word in words for _ in range(2))
        present = f"m.archived = 0 AND ({either}) AND ({clause.sql})"
        return self.rows(present, (*given, *clause.given), limit=limit)

    def save(self) -> JSON:
        """Every table as JSON values."""
        return {table: schema.saved_rows(self.connection, table) for table in schema.SAVED}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Replace all tables by saved ones. Raises StateError where they are damaged."""
        schema.load_tables(self.connection, saved)
        rows = self.rows(order="m.rowid")
        self.meanings.renew(rows, noted=False)
        if self._mirror is not None:
            self._mirror.renew(rows)

    def restore(self, rows: Iterable[MemoryRow]) -> None:
        """Take rows in as they are, in place of those there are."""
        names = [name for name in COLUMNS if name != "embedding"]
        self.connection.execute("DELETE FROM memories")
        for row in rows:
            values = dict(zip(NAMES, row, strict=True)) | {"policy_version": 1, "raw_sender": None}
            self.connection.execute(
                f"INSERT INTO memories ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                [values[name] for name in names],
            )
        self.meanings.renew(self.rows(order="m.rowid"), noted=True)

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        if self._apart is not None:
            self._apart.close()
        self.connection.close()

    def _before(self, key: str, space: str) -> list[MemoryRow]:
        if self._mirror is None:
            return []
        return self.rows("m.key = ? AND m.space = ?", (key, space))

    def _mirrored(self, before: Sequence[MemoryRow], now: Sequence[int]) -> None:
        if self._mirror is not None:
            self._mirror.change(before, [*self.fetch(now).values()])
