"""Open a memory whose entries live in Markdown files."""

from __future__ import annotations

from memsim.memory.stores import Places, StoreSite


def open_places(site: StoreSite) -> Places:
    """Open the store."""
    from memsim.memory.stores.markdown.store import Markdown

    return Places(store=Markdown(site.folder() / "entries", synced=not site.throwaway))
