"""Test whether a paired difference could be chance, and correct for many tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memsim.stats.bootstrap import DRAWS

_BLOCK = 1 << 21
"""Most signs held in memory at once."""

_SIGN, _ONE = 1 << 63, 0x3FF0_0000_0000_0000
"""The sign bit of a float, and the bits of 1.0."""

_EXACT = 13
"""Most differences for which every permutation is tried."""


def permutation_p(
    differences: Sequence[float], *, draws: int = DRAWS, seed: int = 0
) -> float | None:
    """Compute the two-sided p of a paired permutation test.

    Exact for up to 13 differences other than 0, drawn beyond. None when there is no difference to
    permute.
    """
    moved = [d for d in differences if d]
    if not moved:
        return None
    if len(moved) <= _EXACT:
        return _exact_p(moved)
    return _drawn_p(moved, draws, seed)


def _exact_p(moved: Sequence[float]) -> float:
    sums = [0.0]
    for value in moved:
        sums = [s + sign * value for s in sums for sign in (1, -1)]
    reached = abs(math.fsum(moved)) * (1 - 1e-12)
    return sum(abs(s) >= reached for s in sums) / len(sums)


def _drawn_p(moved: Sequence[float], draws: int, seed: int) -> float:
    import numpy as np

    values = np.array(moved, dtype=float)
    reached = abs(float(values.sum())) * (1 - 1e-12)
    bits = np.random.PCG64(seed)
    extreme = 0
    rows = max(1, _BLOCK // len(values))
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        raw = bits.random_raw(count * len(values)).reshape(count, -1)
        raw &= np.uint64(_SIGN)
        raw |= np.uint64(_ONE)
        signs = raw.view(np.float64)
        extreme += int((np.abs(signs @ values) >= reached).sum())
    # The observed order is one of the permutations.
    return (extreme + 1) / (draws + 1)


def sign_p(differences: Sequence[float]) -> float | None:
    """Compute the two-sided p of the exact sign test; None when every difference is 0."""
    up = sum(d > 0 for d in differences)
    down = sum(d < 0 for d in differences)
    n = up + down
    if not n:
        return None
    tail = sum(math.comb(n, k) for k in range(min(up, down) + 1))
    return min(1.0, tail / (1 << (n - 1)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values after Holm, in the order given."""
    count = len(p_values)
    adjusted = [0.0] * count
    largest = 0.0
    for place, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (count - place) * p_values[index]))
        adjusted[index] = largest
    return adjusted
