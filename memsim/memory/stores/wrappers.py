"""A store that a memory is lent: it uses it, and leaves it open for whose it is."""

from __future__ import annotations

from typing import Any

from memsim.errors import StoreError
from memsim.memory.stores import Store

READ_ONLY = "nothing can be written: the memory was opened for reading only"
_WRITING = frozenset({"write", "erase", "embedded_by"})


class ReadOnlyStore:
    """A store that refuses to change; all else is as in the one that it stands for."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        if name in _WRITING:
            raise StoreError(READ_ONLY)
        return getattr(self._store, name)


class ExternalStore:
    """All as in the store that it stands for, until it is closed: that one stays open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._closed = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        if self._closed:
            raise StoreError("the memory is closed")
        return getattr(self._store, name)

    def close(self) -> None:
        """Have nothing more to do with it."""
        self._closed = True
