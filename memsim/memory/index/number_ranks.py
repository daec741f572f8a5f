"""Where numbers stand in an ascending list, without halving it.

A bit is kept for each number up to the last one, and for every 64 of them how many come before: a
quarter of a byte for each number that there might be. So a list of millions is looked up in memory
that a processor keeps at hand.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.index.forms import Numbers

_BITS: Final = 64
_ONE: Final = np.uint64(1)


class NumberRanks:
    """The places of numbers in an ascending list, in which none is negative."""

    __slots__ = ("_before", "_bits", "_count")

    def __init__(self, numbers: Numbers) -> None:
        words = int(numbers[-1]) // _BITS + 1 if len(numbers) else 0
        bits = np.zeros(words, np.uint64)
        np.bitwise_or.at(bits, numbers // _BITS, _bit(numbers))
        held = np.bitwise_count(bits).astype(np.int64)
        self._bits = array("Q", bits.tobytes())
        self._before = array("q", (np.cumsum(held) - held).tobytes())
        self._count = len(numbers)

    def append(self, number: int) -> None:
        """A number comes that is greater than all that are there."""
        word, bit = divmod(number, _BITS)
        new = word + 1 - len(self._bits)
        if new > 0:
            self._bits.extend([0] * new)
            self._before.extend([self._count] * new)
        self._bits[word] |= 1 << bit
        self._count += 1

    def drop_last(self) -> None:
        """The greatest number goes."""
        last = self._bits[-1].bit_length() - 1
        self._bits[-1] ^= 1 << last
        self._count -= 1
        while self._bits and not self._bits[-1]:
            del self._bits[-1], self._before[-1]

    def find(self, numbers: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """The places of numbers, and whether they are there; a place says nothing if not."""
        bits, before = np.frombuffer(self._bits, np.uint64), np.frombuffer(self._before, np.int64)
        if not len(bits):
            return np.zeros(len(numbers), np.int64), np.zeros(len(numbers), np.bool_)
        word = numbers // _BITS
        outside = (word < 0) | (word >= len(bits))
        word[outside] = 0
        held, bit = bits[word], _bit(numbers)
        there = (held & bit).astype(np.bool_) & ~outside
        at = before[word] + np.bitwise_count(held & (bit - _ONE))
        return np.minimum(at, self._count - 1), there


def _bit(numbers: Numbers) -> NDArray[np.uint64]:
    """The bit of each number in its word."""
    return np.left_shift(_ONE, (numbers % _BITS).astype(np.uint64))
