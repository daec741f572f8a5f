"""Hands PRX's rows over to a saved memory, which `memsim memory` looks into."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.memory.entry import Entry
from memsim.memory.systems.prx.mirror import entry_of
from memsim.memory.systems.prx.told_tools import accessible

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from memsim.memory.systems.prx.brain import Brain
    from memsim.memory.systems.prx.rows import Row


def hand_over(brain: Brain, folder: Path, now: datetime, *, acl: bool) -> int:
    """Write all rows into the memory in a folder, each under its own key.

    Args:
        brain: the rows; they stay.
        folder: of the memory; made where there is none.
        now: the present.
        acl: whether who asks is shown only what they have access to.

    Returns:
        How many there are.

    Raises:
        StoreError: another process has the memory open, or it cannot be written.
        StateError: the folder holds something else, or rows with access control that is now off.
    """
    from memsim.memory.options import MemoryOptions
    from memsim.memory.saved import open_memory

    options = MemoryOptions(acl=acl, vectors=False)
    entries = [*entries_of(brain).values()]
    with open_memory(folder, now=lambda: now, options=options) as memory:
        memory.vault.put(entries)
    return len(entries)


def entries_of(brain: Brain) -> dict[int, Entry]:
    """All rows by number, as entries that those may read who have access to them."""
    readers = _readers(brain)
    rows = brain.rows(order="m.rowid")
    return {
        row.number: _public(row, _open(row).shared_with(*readers.get(row.number, ())))
        for row in rows
    }


def _open(row: Row) -> Entry:
    return replace(entry_of(row), key=row.key, attributes=())


def _public(row: Row, entry: Entry) -> Entry:
    if row.visibility != "public":
        return entry
    return replace(entry, visibility="public", readers=())


def _readers(brain: Brain) -> dict[int, list[str]]:
    readers: dict[int, list[str]] = {}
    for (reader,) in brain.connection.execute("SELECT DISTINCT reader FROM shared ORDER BY 1"):
        clause = accessible(reader)
        for row in brain.rows(clause.sql, clause.given, order="m.rowid"):
            readers.setdefault(row.number, []).append(reader)
    return readers
