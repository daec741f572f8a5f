"""Vectors on their way to pgvector and back, as the bytes that it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from memsim.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from psycopg import Connection

    from memsim.models import Vectors

GRAPH_DIMENSION = 2000
"""Numbers of a vector up to which pgvector makes graphs."""


class Packed:
    """Vectors as one array of pgvector's.

    Args:
        vectors: each of shape (dimension,).
    """

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
    """Teach a connection to send `Packed` vectors.

    Args:
        connection: an open one.
        schema: where pgvector is.

    Raises:
        StoreError: pgvector is not there.
    """
    quoted = '"' + schema.replace('"', '""') + '"'
    info = TypeInfo.fetch(connection, f"{quoted}.vector")
    if info is None:
        raise StoreError(f"PostgreSQL has no pgvector in its schema {schema}")
    element, array = info.oid, info.array_oid

    class _PackedDumper(Dumper):
        format = Format.BINARY
        oid = array

        def dump(self, obj: Packed) -> bytes:
            return obj.binary(element)

    connection.adapters.register_dumper(Packed, _PackedDumper)


def unpacked(rows: Sequence[bytes]) -> Vectors:
    """Vectors as the server sent them, shape (n, dimension)."""
    dimension = len(rows[0]) // 4 - 1 if rows else 0
    numbers = np.frombuffer(b"".join(rows), ">f4").reshape(len(rows), dimension + 1)
    return numbers[:, 1:].astype(np.float32)
