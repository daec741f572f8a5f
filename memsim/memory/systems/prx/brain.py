"""PRX's database: rows by key, found by words, by meaning, or by what they contain."""

# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

import hashlib
import json
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memsim.clock import utc
from memsim.errors import StoreError
from memsim.memory.state import JSON, reading
from memsim.memory.systems.prx.ranking import Ranked, f32
from memsim.memory.systems.prx.schema import COLUMNS, SAVED, prepare

if TYPE_CHECKING:
    from memsim.memory.retrieval.nearest import MemoryStore
    from memsim.models import Embedder, Vectors

BRAIN = "memory/brain.db"
"""Where the database is in a workspace."""

LIKE_WORDS = 8
"""Words of a query that are looked for in rows when nothing else is found."""

LISTED = 1000
"""Rows of a list at most."""

UNEMBEDDED = frozenset({"daily", "conversation"})
"""Categories that 0.3.0 makes no vectors for."""

_NAMESPACE = uuid.UUID("6f6d0f3a-52f8-4a43-9c55-1c2f6a5b9e10")
_FIELDS = (
    "rowid, id, key, content, category, session_id, useful_count, visibility, sensitivity,"
    " risk_signals, channel, chat_type, chat_id, sender_id, topic_id, created_at, updated_at,"
    " archived, sources, space"
)


_NAMES = [name.strip() for name in _FIELDS.split(",")]


class Row(NamedTuple):
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
        if EVERY in {self, other}:
            return other if self == EVERY else self
        return Clause(f"({self.sql}) AND ({other.sql})", self.given + other.given)


EVERY = Clause()
PRESENT = Clause("m.archived = 0")


class Mirror(Protocol):
    """Another place where rows are kept."""

    def change(self, before: Sequence[Row], after: Sequence[Row]) -> None:
        """Some rows are no longer as they were."""
        ...

    def renew(self, rows: Sequence[Row]) -> None:
        """These are all the rows there are."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
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


class Brain:
    """The rows of one memory.

    Args:
        path: the file; None for this process alone.
        embed: gives the embedder on first use; None for words alone.
        unembedded: categories without vectors.
        cache_size: texts whose vectors are kept beside the rows.
        mirror: where rows are kept besides; None for nowhere.

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
        mirror: Mirror | None = None,
    ) -> None:
        self._embed = embed
        self._unembedded = unembedded
        self._cache_size = cache_size
        self._mirror = mirror
        self._vectors: MemoryStore | None = None
        self._embedded: set[int] = set()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(
            ":memory:" if path is None else path, isolation_level=None, check_same_thread=False
        )
        try:
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = OFF")
            prepare(self.connection)
        except sqlite3.Error as error:
            self.connection.close()
            raise StoreError(f"{error}: Error code 1: SQL error or missing database") from error

    # -- rows

    def store(
        self,
        key: str,
        content: str,
        category: str,
        *,
        now: datetime,
        session: str | None = None,
        stamp: Stamp | None = None,
        space: str = "",
        sources: Sequence[str] = (),
    ) -> None:
        """Write a row, in place of the one with its key, which keeps its id and its counts.

        Raises:
            StoreError: it cannot be written.
        """
        at = moment(now)
        vector = self._vector(content, at) if self._is_embedded(category) else None
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
            changed |= {name: getattr(stamp, name) for name in Stamp.__slots__}
        every = fresh | changed
        before = self._before(key, space)
        with failing():
            found = self.connection.execute(
                f"INSERT INTO memories ({', '.join(every)})"
                f" VALUES ({', '.join('?' * len(every))}) ON CONFLICT DO UPDATE SET"
                f" {', '.join(f'{name} = excluded.{name}' for name in changed)} RETURNING rowid",
                tuple(every.values()),
            )
            ((number,),) = found.fetchall()
            self._index(number, vector)
        self._mirrored(before, [number])

    def get(self, key: str, clause: Clause = EVERY) -> Row | None:
        """The row with a key, where it is among those meant."""
        found = self.rows("m.key = ? AND (" + clause.sql + ")", (key, *clause.given), limit=1)
        return found[0] if found else None

    def forget(self, key: str, clause: Clause = EVERY) -> bool:
        """Delete the row with a key; false when there is none."""
        row = self.get(key, clause)
        if row is not None:
            self.drop([row.number])
        return row is not None

    def drop(self, numbers: Iterable[int]) -> None:
        """Delete rows."""
        gone = list(numbers)
        before = [*self.fetch(gone).values()] if self._mirror is not None else []
        with failing():
            for number in gone:
                self.connection.execute("DELETE FROM memories WHERE rowid = ?", (number,))
                self._index(number, None)
        self._mirrored(before, [])

    def archive(self, numbers: Iterable[int]) -> None:
        """Put rows away: they are kept, and no longer found."""
        away = list(numbers)
        with failing():
            self.connection.executemany(
                "UPDATE memories SET archived = 1 WHERE rowid = ?", [(number,) for number in away]
            )
        self._mirrored([], away)

    def used(self, numbers: Iterable[int], now: datetime) -> None:
        """Count that rows were of use, which makes them as young as a write does."""
        at, of_use = moment(now), list(numbers)
        self.connection.executemany(
            "UPDATE memories SET useful_count = useful_count + 1, updated_at = ? WHERE rowid = ?",
            [(at, number) for number in of_use],
        )
        self._mirrored([], of_use)

    def listed(self, *, category: str | None = None, session: str | None = None) -> list[Row]:
        """The latest rows; the session is looked at after the limit."""
        where = "1 = 1" if category is None else "m.category = ?"
        rows = self.rows(where, () if category is None else (category,), limit=LISTED)
        return [row for row in rows if session in {None, row.session}]

    def count(self, clause: Clause = EVERY) -> int:
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
    ) -> list[Row]:
        """Rows by a condition over `m`."""
        fields = ", ".join(f"m.{name.strip()}" for name in _FIELDS.split(","))
        query = f"SELECT {fields} FROM memories m WHERE {where} ORDER BY {order} LIMIT ?"
        with failing():
            return [Row(*row) for row in self.connection.execute(query, (*given, limit))]

    def fetch(self, numbers: Sequence[int], clause: Clause = EVERY) -> dict[int, Row]:
        """Rows by their numbers, those that are meant."""
        marks = ", ".join("?" * len(numbers))
        where = f"m.rowid IN ({marks}) AND ({clause.sql})"
        return {row.number: row for row in self.rows(where, (*numbers, *clause.given))}

    # -- rankings

    def keyword(self, query: str, limit: int, clause: Clause = EVERY) -> list[Ranked]:
        """Rows with any of the query's words, each a phrase, by BM25; scores have no upper bound.

        Raises:
            StoreError: a word has a quotation mark in it.
        """
        phrases = " OR ".join(f'"{word}"' for word in query.split())
        if not phrases:
            return []
        join = "" if clause == EVERY else " JOIN memories m ON m.rowid = f.rowid"
        where = "" if clause == EVERY else f" AND ({clause.sql})"
        with failing():
            found = self.connection.execute(
                f"SELECT f.rowid, bm25(memories_fts) AS score FROM memories_fts f{join}"
                f" WHERE memories_fts MATCH ?{where} ORDER BY score, f.rowid LIMIT ?",
                (phrases, *clause.given, limit),
            )
            return [(number, f32(-score)) for number, score in found]

    def nearest(
        self, query: str, limit: int, now: datetime, clause: Clause = EVERY
    ) -> list[Ranked]:
        """Rows whose vectors are closest to the query's, by cosine above 0."""
        if self._embed is None:
            return []
        vector, vectors = self._decoded(self._vector(query, moment(now))), self._indexed()
        if not len(vectors):
            return []
        numbers, scores = vectors.search(vector, len(vectors) if clause != EVERY else limit)
        meant = self._meant(clause) if clause != EVERY else None
        ranked = sorted(
            (-f32(min(1.0, score)), number)
            for number, score in zip(numbers.tolist(), scores.tolist(), strict=True)
            if score > 0 and (meant is None or number in meant)
        )
        return [(number, -score) for score, number in ranked[:limit]]

    @property
    def present(self) -> Clause:
        """The rows that are not put away, as cheaply as it can be said."""
        query = "SELECT EXISTS (SELECT 1 FROM memories m WHERE m.archived = 1)"
        (away,) = self.connection.execute(query).fetchone()
        return PRESENT if away else EVERY

    def containing(self, query: str, limit: int, clause: Clause = EVERY) -> list[Row]:
        """The latest rows in which any of the query's first words stands, as LIKE sees it."""
        words = [f"%{word}%" for word in query.split()[:LIKE_WORDS]]
        if not words:
            return []
        either = " OR ".join(["m.content LIKE ? OR m.key LIKE ?"] * len(words))
        given = tuple(word for word in words for _ in range(2))
        return self.rows(f"({either}) AND ({clause.sql})", (*given, *clause.given), limit=limit)

    def _meant(self, clause: Clause) -> frozenset[int]:
        query = f"SELECT m.rowid FROM memories m WHERE {clause.sql}"
        return frozenset(n for (n,) in self.connection.execute(query, clause.given))

    # -- vectors

    def _is_embedded(self, category: str) -> bool:
        return self._embed is not None and category not in self._unembedded

    def _vector(self, text: str, at: str) -> bytes:
        """The vector of a text, which is kept under its digest alone, whoever made it."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16].hex()
        run = self.connection.execute
        known = run("SELECT embedding FROM embedding_cache WHERE content_hash = ?", (digest,))
        found = known.fetchone()
        if found is not None:
            run("UPDATE embedding_cache SET accessed_at = ? WHERE content_hash = ?", (at, digest))
            return bytes(found[0])
        assert self._embed is not None  # noqa: S101 - asked by those alone who embed
        vector: bytes = self._embed().embed([text])[0].astype("<f4").tobytes()
        run("INSERT INTO embedding_cache VALUES (?, ?, ?, ?)", (digest, vector, at, at))
        run(
            "DELETE FROM embedding_cache WHERE rowid IN (SELECT rowid FROM embedding_cache"
            " ORDER BY accessed_at, rowid"
            " LIMIT max(0, (SELECT count(*) FROM embedding_cache) - ?))",
            (self._cache_size,),
        )
        return vector

    def _indexed(self) -> MemoryStore:
        if self._vectors is None:
            from memsim.memory.retrieval.nearest import MemoryStore
            from memsim.memory.stores.ranking import EXACT

            self._vectors = MemoryStore(exact=EXACT)
            query = "SELECT rowid, embedding FROM memories WHERE embedding IS NOT NULL ORDER BY 1"
            self._embedded = set()
            for number, vector in self.connection.execute(query).fetchall():
                self._vectors.add([number], self._decoded(vector)[None, :])
                self._embedded.add(number)
        return self._vectors

    def _index(self, number: int, vector: bytes | None) -> None:
        if self._vectors is None:
            return  # read from the rows when it is first asked for
        if number in self._embedded:
            self._vectors.remove(number)
            self._embedded.remove(number)
        if vector is not None:
            self._vectors.add([number], self._decoded(vector)[None, :])
            self._embedded.add(number)

    def _decoded(self, vector: bytes) -> Vectors:
        import numpy as np

        return np.frombuffer(vector, "<f4")

    # -- the whole

    def save(self) -> JSON:
        """Every table as JSON values; vectors are made again."""
        return {table: [*self._saved(table)] for table in SAVED if table != "embedding_cache"}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved tables in place of the present ones.

        Raises:
            StateError: they are none.
        """
        run = self.connection.execute
        with reading("its tables are damaged"), transaction(self.connection):
            for table in SAVED:
                run(f"DELETE FROM {table}")
            try:
                for table in SAVED:
                    if table == "embedding_cache":
                        continue
                    names = ", ".join(("rowid", *self._names(table)))
                    if not isinstance(saved[table], list):
                        raise TypeError(table)
                    for row in saved[table]:
                        run(
                            f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})",
                            row,
                        )
            except sqlite3.Error as error:
                raise ValueError(str(error)) from error
        self._vectors = None
        self._embed_again()
        if self._mirror is not None:
            self._mirror.renew(self.rows(order="m.rowid"))

    def restore(self, rows: Iterable[Row]) -> None:
        """Take rows in as they are, in place of those there are."""
        names = [name for name in COLUMNS if name != "embedding"]
        self.connection.execute("DELETE FROM memories")
        for row in rows:
            values = dict(zip(_NAMES, row, strict=True)) | {"policy_version": 1, "raw_sender": None}
            self.connection.execute(
                f"INSERT INTO memories ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                [values[name] for name in names],
            )
        self._vectors = None
        self._embed_again()

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        self.connection.close()

    def _before(self, key: str, space: str) -> list[Row]:
        if self._mirror is None:
            return []
        return self.rows("m.key = ? AND m.space = ?", (key, space))

    def _mirrored(self, before: Sequence[Row], now: Sequence[int]) -> None:
        if self._mirror is not None:
            self._mirror.change(before, [*self.fetch(now).values()])

    def _embed_again(self) -> None:
        for row in self.rows(order="m.rowid"):
            if self._is_embedded(row.category):
                vector = self._vector(row.content, row.updated)
                self.connection.execute(
                    "UPDATE memories SET embedding = ? WHERE rowid = ?", (vector, row.number)
                )

    def _saved(self, table: str) -> Iterator[JSON]:
        names = self._names(table)
        shown = ["NULL" if name == "embedding" else name for name in names]
        query = f"SELECT rowid, {', '.join(shown)} FROM {table} ORDER BY rowid"
        for row in self.connection.execute(query):
            yield list(row)

    def _names(self, table: str) -> list[str]:
        return [name for _, name, *_ in self.connection.execute(f"PRAGMA table_info({table})")]


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
def failing() -> Iterator[None]:
    """Turns what goes wrong in the database into a `StoreError` that says it in its words."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(str(error)) from error
    except UnicodeEncodeError as error:
        raise StoreError("a text cannot be encoded as UTF-8") from error


def moment(now: datetime) -> str:
    """An instant as rows have it: RFC 3339 of one length, so that texts sort it."""
    return utc(now).isoformat(timespec="microseconds")
