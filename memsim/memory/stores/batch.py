"""What a call of `write` brings, checked before a store changes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memsim.errors import StoreError
from memsim.memory.stores import Embedded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.memory.entry import Entry
    from memsim.models import Vectors


class Item(NamedTuple):
    """An entry to write, with its id and its vector, float32, shape (dimension,), or None."""

    id: str
    entry: Entry
    vector: Vectors | None


def items(
    entries: Sequence[Entry], vectors: Vectors | None, embedded: Embedded | None
) -> list[Item]:
    """What is to be written: of two entries with one id the later, in the order they came.

    Args:
        entries: as `Store.write` takes them.
        vectors: as `Store.write` takes them.
        embedded: what the vectors that the store holds were made with.

    Raises:
        StoreError: vectors that are not one row for each entry, of another dimension than the
            store's, or not finite.
    """
    rows: Sequence[Vectors | None] = [None] * len(entries)
    if vectors is not None and len(entries):
        rows = _rows(vectors, len(entries), embedded)
    latest: dict[str, Item] = {}
    for entry, row in zip(entries, rows, strict=True):
        source = entry.id  # worked out anew whenever it is asked for
        latest[source] = Item(source, entry, row)
    return list(latest.values())


def made_with(written: Sequence[Item], embedded: Embedded | None) -> Embedded | None:
    """What the vectors of a store are made with, once these are written; unnamed if unsaid."""
    if embedded is not None:
        return embedded
    found = next((item.vector for item in written if item.vector is not None), None)
    return None if found is None else Embedded("", len(found))


def check_query(vector: Vectors, embedded: Embedded) -> None:
    """Refuse a vector that cannot be compared with those there are.

    Raises:
        StoreError: it is of another dimension, or not finite.
    """
    if vector.shape != (embedded.dimension,):
        raise StoreError(
            f"a vector of shape {vector.shape} was asked for, and those of the store have dimension"
            f" {embedded.dimension}"
        )
    if not np.isfinite(vector).all():
        raise StoreError("a vector that was asked for is not finite")


def _rows(vectors: Vectors, count: int, embedded: Embedded | None) -> list[Vectors | None]:
    if vectors.ndim != 2 or len(vectors) != count:
        raise StoreError(f"vectors of shape {vectors.shape} were given for {count} entries")
    if embedded is not None and vectors.shape[1] != embedded.dimension:
        raise StoreError(
            f"vectors have dimension {vectors.shape[1]}, and those of the store have"
            f" {embedded.dimension}: they were made with another embedder"
        )
    if not np.isfinite(vectors).all():
        raise StoreError("a vector is not finite")
    return [row if row.any() else None for row in vectors.astype(np.float32, copy=False)]
