"""Vectors as bits: their signs, or how they lean; few bytes that tell which may be near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.retrieval.forms import Numbers
    from memsim.models import Vectors

    Codes = NDArray[np.uint64]
    Counts = NDArray[np.uint16]


LEANING = np.float32(0.6)
"""What is clear: so many times the size that the numbers of a unit vector have in the mean."""


def codes(vectors: Vectors) -> Codes:
    """The signs of vectors as bits, shape (words of 64 bits, n)."""
    return _packed(vectors > 0)


def leanings(vectors: Vectors) -> Codes:
    """Two bits for each number of unit vectors: clearly above zero, and not clearly below it.

    Returns:
        Shape (words of 64 bits, n): twice as many words as there are signs, and nearer the truth.
    """
    clear = LEANING / np.float32(np.sqrt(max(1, vectors.shape[1])))
    return np.concatenate((_packed(vectors > clear), _packed(vectors > -clear)))


def _packed(bits: NDArray[np.bool_]) -> Codes:
    rows, width = bits.shape
    whole = np.zeros((rows, -(-width // 64) * 64), np.bool_)
    whole[:, :width] = bits
    return np.packbits(whole, axis=1).view(np.uint64).T


def differing(held: Codes, code: Codes) -> Counts:
    """In how many signs codes differ from one.

    Args:
        held: shape (lists, words, n).
        code: shape (words,).

    Returns:
        Shape (lists, n).
    """
    bits = np.bitwise_count(held ^ code[:, None])
    found: Counts = bits[:, 0].astype(np.uint16)
    for word in range(1, len(code)):
        found += bits[:, word]
    return found


def fewest(counts: Counts, wanted: int) -> Numbers:
    """Where the smallest of these counts are: so many, and all that tie with them."""
    return np.flatnonzero(counts <= np.partition(counts, wanted - 1)[wanted - 1])
