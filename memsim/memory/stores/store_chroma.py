"""Open a memory whose entries live in a Chroma collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.stores import Places

if TYPE_CHECKING:
    from memsim.memory.stores import StoreSite


def open_places(site: StoreSite) -> Places:
    """Open the store."""
    from memsim.memory.stores.chroma import ChromaEntries

    return Places(store=ChromaEntries(site.folder() / "entries"))
