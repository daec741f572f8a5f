"""Open a memory whose entries live in this process alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.stores import Places

if TYPE_CHECKING:
    from memsim.memory.stores import StoreSite


def open_places(_site: StoreSite) -> Places:
    """Open the store."""
    from memsim.memory.stores.in_memory import InMemory

    return Places(store=InMemory())
