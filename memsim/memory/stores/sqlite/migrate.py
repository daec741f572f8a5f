"""A SQLite store of an older layout, laid out anew from its records.

Every layout has `entries (record, vector)`, and all else is made from these: so one way leads from
any older one, and from an index whose terms were made otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.entry import decode
from memsim.memory.stores import WriteItem
from memsim.memory.stores.sqlite import rows, schema

if TYPE_CHECKING:
    import sqlite3

    from memsim.memory.entry import Shelf


def migrate(connection: sqlite3.Connection) -> bool:
    """Bring a store up to date, wholly or not at all; false when it was.

    Pages of the older layout hold what was erased, and words of what was not: it is to be scrubbed.
    """
    if current(connection):
        return False
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not current(connection):  # another process may have been quicker
            _lay_out_anew(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return True


def current(connection: sqlite3.Connection) -> bool:
    """Whether a store is laid out, and its words are indexed, as they are here."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != schema.LAYOUT:
        return False
    (analysis,) = connection.execute("SELECT analysis FROM status").fetchone()
    return bool(analysis == schema.analysis())


def _lay_out_anew(connection: sqlite3.Connection) -> None:
    changes, epoch, name, size = _made_with(connection)
    dimension = size or 0
    connection.execute("ALTER TABLE entries RENAME TO older")
    for kind, older in connection.execute(
        "SELECT type, name FROM sqlite_schema WHERE name IN"
        " ('postings', 'words', 'state', 'status', 'shelves', 'in_order') ORDER BY name"
    ).fetchall():
        connection.execute(f"DROP {kind} {older}")
    schema.lay_out(connection)
    # Shelves are numbered anew: whoever has it open has to notice, or would mistake them.
    connection.execute(
        "UPDATE status SET embedder = ?, dimension = ?, changes = ?, epoch = ?, erasing = 1",
        (name, size, changes + 1, epoch + 1),
    )
    numbers: dict[Shelf, int] = {}
    for record, vector in connection.execute("SELECT record, vector FROM older"):
        entry = decode(record, "a record of the older layout")
        if entry.shelf not in numbers:
            numbers[entry.shelf] = rows.add_shelf(connection, entry.shelf)
        known = None if vector is None or not dimension else rows.unpack([vector], dimension)[0]
        row = rows.add(connection, WriteItem(entry.id, entry, known), numbers[entry.shelf])
        rows.index(connection, [row])
        connection.execute(
            "UPDATE shelves SET entries = entries + 1, terms = terms + ?, version = ?"
            " WHERE number = ?",
            (row.length, changes + 1, row.shelf),
        )
    connection.execute("UPDATE status SET indexed = ?", (rows.last(connection),))
    connection.execute("DROP TABLE older")


def _made_with(connection: sqlite3.Connection) -> tuple[int, int, str | None, int | None]:
    """How often it and its shelves were changed, and what its vectors were made with."""
    there = connection.execute(
        "SELECT name FROM sqlite_schema WHERE name IN ('state', 'status')"
    ).fetchone()
    if not there:
        return 0, 0, None, None
    changes, epoch, name, dimension = connection.execute(
        f"SELECT changes, epoch, embedder, dimension FROM {there[0]}"  # noqa: S608 - one of two
    ).fetchone()
    rows.check_counts(changes, epoch)
    return changes, epoch, name, dimension
