"""The kinds of store that need nothing but this process and its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memsim.memory.stores import Store
from memsim.memory.stores.in_memory import InMemory
from memsim.memory.stores.markdown.store import Markdown
from memsim.memory.stores.sqlite.store import SQLite
from tests.memory.stores.kinds import Kind, register


class FolderHome:
    """A memory in a folder."""

    def __init__(self, folder: Path, opened: Callable[[Path], Store]) -> None:
        self._folder = folder
        self._opened = opened
        self._handles: list[Store] = []

    def open(self) -> Store:
        """One more handle."""
        store = self._opened(self._folder)
        self._handles.append(store)
        return store

    def files(self) -> list[Path]:
        """Every file of the folder, hidden ones too."""
        return sorted(p for p in self._folder.rglob("*") if p.is_file())

    def dispose(self) -> None:
        """Close what is open."""
        for store in self._handles:
            store.close()


register(
    Kind(
        name="memory",
        make=lambda folder: FolderHome(folder, lambda _: InMemory()),
        lasting=False,
        shared=False,
        examples=60,
    )
)
register(
    Kind(
        name="markdown",
        make=lambda folder: FolderHome(folder, lambda at: Markdown(at / "memory", synced=False)),
        examples=15,
    )
)
register(
    Kind(
        name="sqlite",
        make=lambda folder: FolderHome(folder, lambda at: SQLite(at / "memory.db")),
    )
)
