"""The kinds of store that the conformance tests run against; each registers how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memsim.memory.stores import Store


class Home(Protocol):
    """A place where one memory is kept; empty at first."""

    def open(self) -> Store:
        """The memory that is kept here, opened once more; other handles stay as they are."""
        ...

    def files(self) -> list[Path]:
        """Every file in which something may be kept, to be read while the store is open."""
        ...

    def dispose(self) -> None:
        """Take down what a test has left standing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of store.

    Attributes:
        name: what `Store.name` says.
        make: a new and empty home; the folder is its own, and exists.
        lasting: whether what was written can be opened again.
        shared: whether several processes may have it open at once.
        examples: how many generated cases a property is tried with.
    """

    name: str
    make: Callable[[Path], Home]
    lasting: bool = True
    shared: bool = True
    examples: int = 25


KINDS: dict[str, Kind] = {}
"""Every kind by name; a module that adds some is imported by the conftest beside it."""


def register(kind: Kind) -> None:
    """Have the conformance tests run against one more kind."""
    KINDS[kind.name] = kind
