"""Open a memory whose entries live in one SQLite file."""

from __future__ import annotations

from memsim.memory.stores import Places, StoreSite


def open_places(site: StoreSite) -> Places:
    """Open the store."""
    from memsim.memory.stores.sqlite.store import SQLite

    return Places(store=SQLite(site.folder() / "memory.sqlite3"))
