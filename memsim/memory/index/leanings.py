"""Vectors as bits: their signs, or how they lean; few bytes that tell which may be near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memsim.memory.index.growing_columns import grown, room_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.index.forms import Numbers
    from memsim.models import Vectors

    Codes = NDArray[np.uint64]
    Counts = NDArray[np.uint16]

PARTS = 2048
"""Enough that rounding moves a product by less than a thousandth, as a rule."""


def rounded(vectors: Vectors) -> Vectors:
    """Unit vectors, or zeros, rounded; rounding again changes nothing."""
    found: Vectors = np.rint(vectors * np.float32(PARTS)) / np.float32(PARTS)
    return found


LEANING = np.float32(0.6)
"""What is clear: so many times the size that the numbers of a unit vector have in the mean."""


def signs(vectors: Vectors) -> Codes:
    """One bit for each number of vectors: whether it is above zero; shape (words of 64 bits, n)."""
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
    """In how many bits codes differ from one.

    `held` has shape (words, n), or (words, lists, n); what is returned has all but the first.
    """
    found: Counts = np.bitwise_count(held[0] ^ code[0]).astype(np.uint16)
    for word in range(1, len(code)):
        found += np.bitwise_count(held[word] ^ code[word])
    return found


def fewest(counts: Counts, wanted: int) -> Numbers:
    """Where the smallest of these counts are: so many, and all that tie with them."""
    return np.flatnonzero(counts <= np.partition(counts, wanted - 1)[wanted - 1])


def likeliest(query: Vectors, held: Codes, wanted: int) -> Numbers:
    """Where the vectors are that have the largest products with a query, as far as bits tell.

    `held` has signs, shape (words, n), where each number of a vector counts as 1 or -1; or leanings
    where it may count as 0 as well. Returns so many, and all that tie with them.
    """
    if held.shape[1] <= wanted:
        return np.arange(held.shape[1])
    bits = np.unpackbits(np.ascontiguousarray(held.T).view(np.uint8), axis=1)
    # Each number counts as its bits that are set: other values, but the same order of products.
    bits = bits.reshape(len(bits), -1, -(-len(query) // 64) * 64)
    levels = bits.sum(axis=1, dtype=np.uint8)[:, : len(query)].astype(np.float32)
    # Sums of rounded numbers are exact, so that every processor has the same.
    products = np.vecdot(levels, rounded(query))
    return np.flatnonzero(products >= np.partition(products, -wanted)[-wanted])


class LeaningRows:
    """How the vectors of an array lean, by their rows; noted when they are first looked through."""

    def __init__(self) -> None:
        self._codes: Codes = np.zeros((0, 0), np.uint64)
        self._noted = 0

    def near(self, query: Vectors, vectors: Vectors, *, closer: int, wanted: int) -> Numbers:
        """As `Clusters.near`, of all rows."""
        self._note(vectors)
        counts = differing(self._codes[:, : len(vectors)], leanings(query[None])[:, 0])
        found = fewest(counts, closer)
        return found[likeliest(query, self._codes[:, found], wanted)]

    def replace(self, row: int, vector: Vectors) -> None:
        """A row has another vector now."""
        if row < self._noted:
            self._codes[:, row] = leanings(vector[None])[:, 0]

    def cut(self, count: int) -> None:
        """There are only so many rows."""
        self._noted = min(self._noted, count)

    def _note(self, vectors: Vectors) -> None:
        count, dimension = vectors.shape
        if count > self._codes.shape[1]:
            words = 2 * -(-dimension // 64)
            self._codes = grown(self._codes.T, (room_for(count), words)).T.copy()
        for start in range(self._noted, count, _NOTED):
            end = min(start + _NOTED, count)
            self._codes[:, start:end] = leanings(vectors[start:end])
        self._noted = count


_NOTED = 8192
"""Vectors whose leanings are noted at a time: 2 MB for each step on the way."""
