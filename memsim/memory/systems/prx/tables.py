"""PRX's tables as JSON values, for memories that are saved and loaded."""

# ruff: noqa: S608 - names are the tables' own

from __future__ import annotations

import sqlite3
from base64 import b64decode, b64encode
from typing import Any

from memsim.memory.state import JSON, reading
from memsim.memory.systems.prx.rows import transaction
from memsim.memory.systems.prx.schema import SAVED

CACHE = "embedding_cache"
"""The one table whose vectors are saved; those of rows are found there again, or made anew."""


def save(connection: sqlite3.Connection) -> dict[str, JSON]:
    """Every table that holds what cannot be made anew."""
    return {table: _saved(connection, table) for table in SAVED}


def load(connection: sqlite3.Connection, saved: Any) -> None:  # noqa: ANN401 - from a file
    """Take over saved tables in place of the present ones, all of them or none.

    Raises:
        StateError: they are none.
    """
    with reading("its tables are damaged"), transaction(connection):
        for table in SAVED:
            connection.execute(f"DELETE FROM {table}")
        try:
            for table in SAVED:
                _load(connection, table, saved[table])
        except sqlite3.Error as error:
            raise ValueError(str(error)) from error


def _saved(connection: sqlite3.Connection, table: str) -> list[JSON]:
    names = _names(connection, table)
    shown = ["NULL" if n == "embedding" and table != CACHE else n for n in names]
    query = f"SELECT rowid, {', '.join(shown)} FROM {table} ORDER BY rowid"
    return [[*map(_written, row)] for row in connection.execute(query)]


def _load(connection: sqlite3.Connection, table: str, rows: object) -> None:
    names = ("rowid", *_names(connection, table))
    if not isinstance(rows, list):
        raise TypeError(table)
    marks = ", ".join("?" * len(names))
    length = None
    for row in rows:
        values = dict(zip(names, row, strict=True))
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
