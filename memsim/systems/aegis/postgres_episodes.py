"""AEGIS's table of episodes in PostgreSQL, with its own definition, its own query and pgvector."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import psycopg
from psycopg import sql

from memsim.errors import StoreError
from memsim.systems.aegis.episodes import (
    DIMENSION,
    NAME_LENGTH,
    TOP,
    AegisEpisode,
    EpisodeHit,
    Episodes,
)
from memsim.systems.aegis.ivfflat import LISTS, PROBES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import LiteralString

    from psycopg import Connection

    from memsim.models import Vectors

    Row = tuple[Any, ...]

T = TypeVar("T")

TABLE = """
CREATE TABLE IF NOT EXISTS episodic_memories (
    id UUID PRIMARY KEY,
    agent_id VARCHAR({name}) NOT NULL,
    user_id VARCHAR({name}),
    conversation_id VARCHAR({name}) NOT NULL,
    summary TEXT NOT NULL,
    key_decisions JSONB,
    entities_mentioned JSONB,
    tools_called JSONB,
    embedding vector({dimension}),
    created_at TIMESTAMPTZ DEFAULT NOW()
)
"""

INDEX = """
CREATE INDEX IF NOT EXISTS idx_episodic_embedding ON episodic_memories
USING ivfflat (embedding vector_cosine_ops) WITH (lists = {lists})
"""

_COLUMNS: LiteralString = (
    "id::text, agent_id, user_id, conversation_id, summary, key_decisions, entities_mentioned,"
    " tools_called, created_at"
)
_FIELDS = tuple(name.partition("::")[0] for name in _COLUMNS.split(", "))
_SEARCH: LiteralString = (
    f"SELECT {_COLUMNS}, 1 - (embedding <=> %(query)s::vector) AS similarity"  # noqa: S608 - constants
    " FROM episodic_memories WHERE agent_id = %(agent)s{user}"
    " ORDER BY embedding <=> %(query)s::vector LIMIT %(limit)s"
)
_USER: LiteralString = " AND user_id = %(user)s"
_ATTEMPTS = 2


class PostgresEpisodes(Episodes):
    """Keep episodes in a PostgreSQL server; see `memsim.systems.aegis.episodes.Episodes`.

    Args:
        schema: where the table is; made if it is missing.
        lists: lists of the index; None for no index, so that every search sees every row.

    Raises:
        StoreError: the server cannot be reached, has no pgvector, or has a table for vectors of
            another length.
    """

    def __init__(
        self,
        url: str,
        schema: str = "public",
        *,
        dimension: int = DIMENSION,
        lists: int | None = LISTS,
        probes: int = PROBES,
    ) -> None:
        self._url = url
        self._schema = schema
        self._probes = probes
        self._exact = lists is None
        self._connection: Connection[Row] | None = None
        self._closed = False
        self._turn = threading.RLock()
        self._tried(lambda connection: self._prepare(connection, dimension, lists))

    def store(self, episode: AegisEpisode, vector: Vectors | None) -> None:
        values = (
            episode.id,
            episode.agent_id,
            episode.user_id,
            episode.conversation_id,
            episode.summary,
            *map(_json, (episode.key_decisions, episode.entities_mentioned, episode.tools_called)),
            None if vector is None else _text(vector),
            episode.created_at,
        )
        self._tried(
            lambda connection: connection.execute(
                "INSERT INTO episodic_memories (id, agent_id, user_id, conversation_id, summary,"
                " key_decisions, entities_mentioned, tools_called, embedding, created_at)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s::vector, %s)",
                values,
            )
        )

    def search(
        self, query: Vectors, agent_id: str, *, user_id: str | None = None, limit: int = TOP
    ) -> list[EpisodeHit]:
        asked = sql.SQL(_SEARCH).format(user=sql.SQL("" if user_id is None else _USER))
        values = {"query": _text(query), "agent": agent_id, "user": user_id, "limit": limit}
        rows = self._tried(lambda connection: connection.execute(asked, values).fetchall())
        return [
            EpisodeHit(
                episode=_episode(row), similarity=None if row[-1] is None else float(row[-1])
            )
            for row in rows
        ]

    def of(self, conversation_id: str) -> list[AegisEpisode]:
        asked = sql.SQL(
            f"SELECT {_COLUMNS} FROM episodic_memories WHERE conversation_id = %s"  # noqa: S608 - constants
            " ORDER BY created_at, ctid"
        )
        rows = self._tried(lambda c: c.execute(asked, [conversation_id]).fetchall())
        return [_episode(row) for row in rows]

    def remove(self, ids: Collection[str]) -> int:
        asked = "DELETE FROM episodic_memories WHERE id = ANY(%s::uuid[])"
        return self._tried(lambda connection: connection.execute(asked, [list(ids)]).rowcount)

    def rows(self) -> list[tuple[AegisEpisode, Vectors | None]]:
        asked = sql.SQL(
            f"SELECT {_COLUMNS}, embedding::text FROM episodic_memories ORDER BY created_at, ctid"  # noqa: S608 - constants
        )
        rows = self._tried(lambda connection: connection.execute(asked).fetchall())
        return [
            (_episode(row), None if row[-1] is None else np.array(json.loads(row[-1]), np.float32))
            for row in rows
        ]

    def close(self) -> None:
        with self._turn:
            self._closed = True
            if self._connection is not None:
                self._connection.close()

    def _prepare(self, connection: Connection[Row], dimension: int, lists: int | None) -> None:
        name = sql.Identifier(self._schema)
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        made = {"name": sql.Literal(NAME_LENGTH), "dimension": sql.Literal(dimension)}
        connection.execute(sql.SQL(TABLE).format(**made))
        if lists is not None:
            connection.execute(sql.SQL(INDEX).format(lists=sql.Literal(lists)))
        held = connection.execute(
            "SELECT atttypmod FROM pg_attribute WHERE attname = 'embedding'"
            " AND attrelid = 'episodic_memories'::regclass"
        ).fetchone()
        if held != (dimension,):
            raise StoreError(
                f"PostgreSQL's episodic_memories has no vectors of {dimension} numbers, which the"
                " embedder makes: use another schema, or the embedder it was made with"
            )

    def _tried(self, work: Callable[[Connection[Row]], T]) -> T:
        with self._turn:
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    return work(self._connected())
                except psycopg.Error as error:
                    lost = self._connection is None or self._connection.closed
                    if attempt == _ATTEMPTS or not lost:
                        raise _store_error(error) from error
            raise AssertionError("unreachable")

    def _connected(self) -> Connection[Row]:
        if self._closed:
            raise StoreError("the store is closed")
        if self._connection is None or self._connection.closed:
            connection = psycopg.connect(self._url, autocommit=True)
            connection.execute("SET client_min_messages = error")
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            place = connection.execute(
                "SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
                " WHERE extname = 'vector'"
            ).fetchone()
            path = [sql.Identifier(name) for name in (self._schema, *(place or ()))]
            connection.execute(sql.SQL("SET search_path = {}").format(sql.SQL(", ").join(path)))
            connection.execute(sql.SQL("SET ivfflat.probes = {}").format(self._probes))
            if self._exact:
                connection.execute("SET enable_indexscan = off")
            self._connection = connection
        return self._connection


def _episode(row: Row) -> AegisEpisode:
    return AegisEpisode(**dict(zip(_FIELDS, row, strict=False)))


def _json(value: object) -> str | None:
    return None if value is None else json.dumps(value, allow_nan=False)


def _text(vector: Vectors) -> str:
    return f"[{','.join(repr(float(n)) for n in vector)}]"


def _store_error(error: psycopg.Error) -> StoreError:
    """The failure in one line: never the parameters, which are what users wrote."""
    said = error.diag.message_primary or str(error).partition("\n")[0] or type(error).__name__
    return StoreError(f"PostgreSQL failed: {said} ({error.sqlstate or type(error).__name__})")
