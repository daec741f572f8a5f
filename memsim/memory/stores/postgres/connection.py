"""One connection to PostgreSQL: its transactions, and what becomes of them when it breaks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from psycopg import errors, sql
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from memsim.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from psycopg import Connection, Cursor

    from memsim.memory.stores.postgres.schema import PostgresPlace
    from memsim.models import Vectors

    Rows = Cursor[tuple[Any, ...]]
    T = TypeVar("T")


# Vectors on their way to pgvector and back, as the bytes that it keeps.


GRAPH_DIMENSION = 2000
"""Numbers of a vector up to which pgvector makes graphs."""


class PackedVector:
    """Vectors as one array of pgvector's."""

    def __init__(self, vectors: Sequence[Vectors]) -> None:
        self.count = len(vectors)
        self.rows = np.stack(vectors) if vectors else np.empty((0, 0), np.float32)

    def binary(self, element: int) -> bytes:
        """The array in the server's own format, its elements' type being `element`."""
        dimension = self.rows.shape[1]
        head = np.array([1, 0, element, self.count, 1] if self.count else [0, 0, element], ">i4")
        row = np.dtype([("bytes", ">i4"), ("head", ">i2", 2), ("numbers", ">f4", dimension)])
        body = np.zeros(self.count, row)
        body["bytes"] = 4 + 4 * dimension
        body["head"][:, 0] = dimension
        body["numbers"] = self.rows
        return head.tobytes() + body.tobytes()


def register(connection: Connection[Any], schema: str) -> None:
    """Teach a connection to send `PackedVector` vectors.

    Raises `StoreError` if pgvector is not there.
    """
    quoted = '"' + schema.replace('"', '""') + '"'
    info = TypeInfo.fetch(connection, f"{quoted}.vector")
    if info is None:
        raise StoreError(f"PostgreSQL has no pgvector in its schema {schema}")
    element, array = info.oid, info.array_oid

    class _PackedDumper(Dumper):
        format = Format.BINARY
        oid = array

        def dump(self, obj: PackedVector) -> bytes:
            return obj.binary(element)

    connection.adapters.register_dumper(PackedVector, _PackedDumper)


def unpacked(rows: Sequence[bytes]) -> Vectors:
    """Vectors as the server sent them, shape (n, dimension)."""
    dimension = len(rows[0]) // 4 - 1 if rows else 0
    numbers = np.frombuffer(b"".join(rows), ">f4").reshape(len(rows), dimension + 1)
    return numbers[:, 1:].astype(np.float32)


_ATTEMPTS = 2
_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)

_SETTINGS = sql.SQL("""
    SET row_security = on;
    SET client_min_messages = error;
    SET plan_cache_mode = force_custom_plan;
    SET jit = off
""")


class PostgresConnection:
    """Runs transactions as one role, one at a time, whatever thread asks.

    A transaction that failed because of another, or of a lost connection, is run once more; after
    any other failure nothing of it has happened. A connection on which anything unforeseen went
    wrong is dropped, so that nobody ever reads an answer that was meant for somebody else.
    """

    def __init__(self, url: str, place: PostgresPlace) -> None:
        self._url = url
        self._place = place
        self._connection: Connection[tuple[Any, ...]] | None = None
        self._closed = False
        self._turn = threading.RLock()

    def read(self, work: Callable[[Rows], T]) -> T:
        """What `work` gives in a transaction that sees one state of the store, and writes nothing.

        Raises `StoreError` if the server failed.
        """
        return self._tried(self._place.begin_read, work)

    def write(self, work: Callable[[Rows], T]) -> T:
        """What `work` gives in a transaction that nobody else writes beside.

        Raises `StoreError` if the server failed, and nothing has changed.
        """
        return self._tried(self._place.begin_write, work)

    def leave_log(self) -> bool:
        """Begin a new log segment, and have the server let go of the older ones.

        Returns whether it did: whoever connects may not be allowed to, and a server that recycles
        its segments keeps what stands in them.
        """
        with self._turn:
            try:
                connection = self._connected()
                connection.execute("SELECT pg_switch_wal()")
                connection.execute("CHECKPOINT")
                return connection.execute("SHOW wal_recycle").fetchone() == ("off",)
            except errors.InsufficientPrivilege:
                return False
            except psycopg.Error:
                self._drop()
                return False

    def close(self) -> None:
        """Close the connection; calling it again does nothing."""
        with self._turn:
            self._closed = True
            self._drop()

    def _tried(self, begin: sql.Composed, work: Callable[[Rows], T]) -> T:
        with self._turn:
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    return self._transaction(begin, work)
                except psycopg.Error as error:
                    lost = self._connection is None or self._connection.closed
                    if attempt == _ATTEMPTS or not (lost or isinstance(error, _AGAIN)):
                        raise _store_error(error) from error
            raise AssertionError("unreachable")

    def _transaction(self, begin: sql.Composed, work: Callable[[Rows], T]) -> T:
        connection = self._connected()
        cursor = connection.cursor(binary=True)
        try:
            connection.execute(begin, prepare=False)
            found = work(cursor)
            connection.execute("COMMIT")
        except (psycopg.Error, StoreError):
            self._roll_back()
            raise
        except BaseException:
            self._drop()
            raise
        return found

    def _roll_back(self) -> None:
        try:
            if self._connection is not None:
                self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._drop()

    def _connected(self) -> Connection[tuple[Any, ...]]:
        if self._closed:
            raise StoreError("the store is closed")
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True)
            self._connection.execute(_SETTINGS)
            register(self._connection, self._place.extension)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _store_error(error: psycopg.Error) -> StoreError:
    """The failure in one line: never the parameters, which are what users wrote."""
    said = error.diag.message_primary or str(error).partition("\n")[0] or type(error).__name__
    return StoreError(f"PostgreSQL failed: {said} ({error.sqlstate or type(error).__name__})")
