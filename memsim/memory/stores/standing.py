"""Which memory a SQLite store belongs to, and how far it has come.

Whoever keeps a state beside a store keeps this with it: a log that was lost, or another memory's
file in the place of its own, looks like a sound store otherwise.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a store stands.

    Attributes:
        memory: a name that no other memory's store has; empty where it was given none yet.
        changes: how often it was written to; it never grows smaller.
    """

    memory: str
    changes: int


def named(connection: sqlite3.Connection) -> str:
    """The name of the memory that it belongs to; empty where it has none.

    Raises:
        ValueError: what stands in its place is no name.
    """
    # The table came later than the layout, and whoever does not know it leaves it alone.
    there = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'memory'").fetchone()
    found = connection.execute("SELECT name FROM memory").fetchone() if there else None
    if found is not None and not isinstance(found[0], str):
        raise ValueError("a name is a text")
    return found[0] if found else ""


def name(connection: sqlite3.Connection) -> str:
    """Give it a name, within a transaction."""
    made = secrets.token_hex(16)
    connection.execute("CREATE TABLE IF NOT EXISTS memory (name TEXT NOT NULL)")
    connection.execute("INSERT INTO memory VALUES (?)", (made,))
    return made


def sync_log(path: Path) -> None:
    """See to it that the log of a database has reached the disk; what it lacks is in the file.

    Raises:
        OSError: it cannot be written.
    """
    try:
        descriptor = os.open(path.with_name(f"{path.name}-wal"), os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
