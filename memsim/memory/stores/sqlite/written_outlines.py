"""Outlines of entries as they are read of the file, in columns.

A record of each would be one more for the garbage collector to search.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class WrittenOutlines(NamedTuple):
    """Entries in columns, each with its outline and its owner; the outline is empty for none."""

    created: list[str]
    ids: list[str]
    about: list[str]
    owners: list[str]

    def at(self, places: Iterable[int]) -> WrittenOutlines:
        """Those at some places, in the order of these."""
        chosen = [*places]
        return WrittenOutlines(*([column[n] for n in chosen] for column in self))


def joined(parts: Sequence[WrittenOutlines]) -> WrittenOutlines:
    """Several one after the other."""
    if len(parts) == 1:
        return parts[0]
    return WrittenOutlines(*([*chain(*(part[n] for part in parts))] for n in range(4)))
