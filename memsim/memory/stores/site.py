"""Say where a memory is opened, and what was opened there."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memsim.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memsim.memory.stores import Store, TextStore


class StoreUnavailableError(StoreError, ValueError):
    """A store cannot be had here: its server has no address, or a package of it is missing.

    It is a `ValueError` as well, since whoever named the store may name another.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSite:
    """Where a store is opened.

    Attributes:
        folder: gives the folder for stores that keep files. A server calls it for a name alone.
        url: address of the server; empty for stores without one.
        given_name: the memory's name in a server: a-z, 0-9 and _; None for one of its folder.
        throwaway: whether the memory is removed from its server when it is closed, and need not
            survive a power failure meanwhile.
    """

    folder: Callable[[], Path]
    url: str = ""
    given_name: str | None = None
    throwaway: bool = False

    @property
    def name(self) -> str:
        """The memory's name in a server."""
        return self.given_name or name_of(self.folder())


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a memory is kept.

    Attributes:
        store: its entries.
        working: its working memory; None for this process.
        ledger: its injection ledger; None for this process.
        closing: releases them.
    """

    store: Store
    working: TextStore | None = None
    ledger: TextStore | None = None
    closing: ExitStack = field(default_factory=ExitStack, repr=False)

    def close(self) -> None:
        """Release everything, and remove what was to be thrown away; a second call does nothing.

        Raises:
            StoreError: the server failed, and what was to be thrown away is there still.
        """
        self.closing.close()


def name_of(folder: Path) -> str:
    """Name the memory of a folder for a server; no other folder or machine has the same name."""
    import platform

    where = f"{platform.node()}\n{folder.resolve()}".encode("utf-8", "surrogateescape")
    return f"memsim_{hashlib.blake2b(where, digest_size=12).hexdigest()}"
