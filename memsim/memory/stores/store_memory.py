"""Open a memory whose entries live in this process alone."""

from __future__ import annotations

from memsim.memory.stores import Places, StoreSite


def open_places(_site: StoreSite) -> Places:
    """Open the store."""
    from memsim.memory.stores.in_memory import InMemory

    return Places(store=InMemory())
