"""The signs of vectors as bits: few bytes that tell which vectors may be near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.retrieval.forms import Numbers
    from memsim.models import Vectors

    Codes = NDArray[np.uint64]
    Counts = NDArray[np.uint16]


def codes(vectors: Vectors) -> Codes:
    """The signs of vectors as bits, shape (words of 64 bits, n)."""
    rows, dimension = vectors.shape
    signs = np.zeros((rows, -(-dimension // 64) * 64), np.bool_)
    signs[:, :dimension] = vectors > 0
    return np.packbits(signs, axis=1).view(np.uint64).T


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
