"""Hold what a store shows in little memory.

A store of a long case shows millions of surfaces. They are taken as they come, and all but the
first are kept as compressed blocks, which are opened one after the other.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from memsim.strategy import Surface

BLOCK = 1_000
"""Surfaces in a compressed block."""
PLAIN = 20_000
"""Surfaces that are kept as they are before the first block is compressed."""


class PackedSurfaces(Collection[Surface]):
    """Surfaces in their order; all after the first `PLAIN` are packed."""

    __slots__ = ("_count", "_packed", "_plain")

    def __init__(self, first: tuple[Surface, ...], rest: Iterator[Surface]) -> None:
        self._plain = first
        self._count = len(first)
        self._packed: list[bytes] = []
        while block := tuple(islice(rest, BLOCK)):
            self._count += len(block)
            self._packed.append(zlib.compress(pickle.dumps(block, -1), 1))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Surface]:
        yield from self._plain
        for block in self._packed:
            yield from pickle.loads(zlib.decompress(block))  # noqa: S301 - made here

    def __contains__(self, surface: object) -> bool:
        return any(surface == each for each in self)


def pack_surfaces(shown: Iterable[Surface]) -> Collection[Surface]:
    """Take surfaces as they come; a tuple if they are few."""
    rest = iter(shown)
    first = tuple(islice(rest, PLAIN + 1))
    return first if len(first) <= PLAIN else PackedSurfaces(first, rest)
