"""Directions so rounded that every processor multiplies and adds them to the same result.

The numbers of a unit vector, rounded to multiples of 1 / `PARTS`, have products with those of
another such vector that are multiples of 1 / `PARTS`**2, and these and all their sums on the way
have fewer than 24 binary digits. So far float32 is exact, in whatever order it adds: what is
decided by such products is decided alike on every machine, with any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from memsim.memory.retrieval.forms import Numbers
    from memsim.models import Vectors

PARTS = 2048
"""Enough that rounding moves a product by less than a thousandth, as a rule."""

ROUNDS = 6
"""How often a division in two moves its centres."""

LEAST = 8
"""The smaller of two halves has at least this part of all."""


def rounded(vectors: Vectors) -> Vectors:
    """Unit vectors, or zeros, rounded; rounding again changes nothing."""
    found: Vectors = np.rint(vectors * np.float32(PARTS)) / np.float32(PARTS)
    return found


def centre(vectors: Vectors) -> Vectors:
    """The direction of a sum of rounded vectors, shape (n, dimension), rounded; zeros for none."""
    total = vectors.sum(axis=0, dtype=np.float64)
    length = np.sqrt((total * total).sum())
    found: Vectors = (np.rint(total * (PARTS / length if length else 0.0)) / PARTS).astype(
        np.float32
    )
    return found


def halves(vectors: Vectors) -> tuple[Numbers, Numbers]:
    """Where two groups of rounded vectors are that are near each other; two at least are needed.

    It begins with the vector that is farthest from the centre and the one farthest from that, and
    moves the centre of each to the middle of what is nearer to it than to the other. Ties go to the
    first group, and there to the earlier; alike vectors are so divided in their order.
    """
    first = vectors[np.vecdot(vectors, centre(vectors)).argmin()]
    second = vectors[np.vecdot(vectors, first).argmin()]
    least = -(-len(vectors) // LEAST)
    order, cut = np.arange(len(vectors)), least
    for _ in range(ROUNDS):
        nearer = np.vecdot(vectors, first) - np.vecdot(vectors, second)
        order = np.argsort(-nearer, kind="stable")
        cut = min(max(int((nearer >= 0).sum()), least), len(vectors) - least)
        first, second = centre(vectors[order[:cut]]), centre(vectors[order[cut:]])
    return order[:cut], order[cut:]
