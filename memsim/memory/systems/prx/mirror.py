"""PRX's rows as entries of a store of ours, for backends with a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memsim.memory.acl import Where
from memsim.memory.derived import each
from memsim.memory.entry import Entry
from memsim.memory.systems.prx.rows import Row

if TYPE_CHECKING:
    from memsim.memory.stores import Store

NOBODY = "prx"
_ROW = "row"


class StoreMirror:
    """Writes every row through to a store.

    Args:
        store: where entries are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def change(self, before: Sequence[Row], after: Sequence[Row]) -> None:
        """Some rows are no longer as they were.

        Raises:
            StoreError: the store failed.
        """
        there = [entry_of(row) for row in after]
        kept = {entry.id for entry in there}
        gone = [e.id for e in map(entry_of, before) if e.id not in kept]
        if gone:
            self._store.erase(gone)
        if there:
            self._store.write(there)

    def renew(self, rows: Sequence[Row]) -> None:
        """These are all the rows there are.

        Raises:
            StoreError: the store failed.
        """
        self._store.erase([e.id for e in self._entries()])
        self._store.write([entry_of(row) for row in rows])

    def rows(self) -> list[Row]:
        """The rows that were written, by number.

        Raises:
            StoreError: the store failed.
        """
        told = (dict(entry.attributes)[_ROW] for entry in self._entries())
        return sorted((Row(*json.loads(row)) for row in told), key=lambda row: row.number)

    def _entries(self) -> list[Entry]:
        return [*each(self._store, Where(reader=None, archived=None))]


def entry_of(row: Row) -> Entry:
    """A row as an entry, which holds all of it."""
    return Entry(
        key=f"{row.space}/{row.key}",
        text=row.content,
        owner=row.sender or NOBODY,
        category=row.category or "core",
        session=row.session or "",
        created=datetime.fromisoformat(row.created),
        updated=datetime.fromisoformat(row.updated),
        archived=bool(row.archived),
        sources=row.sources,
        attributes=((_ROW, json.dumps(row, ensure_ascii=False)),),
    )
