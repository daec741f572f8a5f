"""Open a memory whose entries live in a Chroma collection."""

from __future__ import annotations

from memsim.memory.stores import Places, StoreSite


def open_places(site: StoreSite) -> Places:
    """Open the store."""
    from memsim.memory.stores.chroma import ChromaEntries

    return Places(store=ChromaEntries(site.folder() / "entries"))
