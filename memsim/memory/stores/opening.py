"""Opens a store by name; what a store needs beside memsim is imported only when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from memsim.errors import StoreError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from memsim.memory.stores import Store

StoreKind = Literal["memory", "markdown", "sqlite", "chroma", "postgres", "redis"]


def open_store(kind: StoreKind, folder: Callable[[], Path], services: Mapping[str, str]) -> Store:
    """A store of that kind.

    Args:
        kind: which.
        folder: gives the folder for stores that keep files.
        services: addresses of servers by the store's name: `postgres`, `redis`.

    Raises:
        ValueError: no store is called that.
        StoreError: it cannot be opened, or its server has no address.
    """
    match kind:
        case "memory":
            from memsim.memory.stores.memory import InMemory

            return InMemory()
        case "sqlite":
            from memsim.memory.stores.sqlite import SQLite

            return SQLite(folder() / "memory.sqlite3")
    known = get_args(StoreKind)
    meant = nearest(kind, known)
    hint = f" (did you mean {meant!r}?)" if meant else ""
    raise ValueError(f"store is {kind!r}: it is {', '.join(known)}{hint}")


def _address(kind: str, services: Mapping[str, str]) -> str:
    if kind not in services:
        raise StoreError(f"store={kind} needs a server: set MEMSIM_{kind.upper()}_URL")
    return services[kind]
