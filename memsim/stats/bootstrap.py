"""Bootstrap intervals of means and of paired differences.

========== ======================================================================================
resampled  right for
========== ======================================================================================
values     one list of values
strata     a committed suite: probes are drawn within each scenario, whose mix stays as it is
clusters   a dataset: conversations are drawn, as another set would hold other conversations
========== ======================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from memsim.stats.interval import CONFIDENCE, Interval, check_confidence, interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DRAWS = 10_000

_BLOCK = 1 << 21
"""Most draws held in memory at once."""


def mean_interval(
    values: Sequence[float],
    *,
    strata: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Interval | None:
    """Compute the percentile bootstrap interval of a mean; None without data.

    None too of one value or one cluster, which says nothing of how far another would lie.

    Args:
        values: one for each probe.
        strata: the stratum of each value: draws are made within it.
        clusters: the cluster of each value: whole clusters are drawn.
        draws: how often to resample.
        confidence: share of such intervals that hold the true value, about.
        seed: of the draws.

    Raises:
        ValueError: both strata and clusters are given, they are not as many as the values, or a
            value is not finite.
    """
    check_confidence(confidence)
    _check_values(values, strata, clusters)
    means = _resampled(values, strata, clusters, draws, seed)
    if means is None:
        return None
    tail = (1 - confidence) / 2
    means.sort()
    return interval(_quantile(means, tail), _quantile(means, 1 - tail))


def differences(candidate: Sequence[float], baseline: Sequence[float]) -> list[float]:
    """`candidate - baseline`, probe by probe.

    Raises:
        ValueError: the two are not of the same length.
    """
    if len(candidate) != len(baseline):
        raise ValueError(f"{len(candidate)} values cannot be paired with {len(baseline)}")
    return [c - b for c, b in zip(candidate, baseline, strict=True)]


def _check_values(
    values: Sequence[float],
    strata: Sequence[Hashable] | None,
    clusters: Sequence[Hashable] | None,
) -> None:
    if strata is not None and clusters is not None:
        raise ValueError("values are drawn by strata or by clusters, not by both")
    groups = strata if strata is not None else clusters
    if groups is not None and len(groups) != len(values):
        raise ValueError(f"{len(groups)} groups for {len(values)} values")
    if not all(map(math.isfinite, values)):
        raise ValueError("a value is not finite")


def _resampled(
    values: Sequence[float],
    strata: Sequence[Hashable] | None,
    clusters: Sequence[Hashable] | None,
    draws: int,
    seed: int,
) -> Floats | None:
    import numpy as np

    bits = np.random.PCG64(seed)
    if clusters is not None:
        groups = _grouped(values, clusters)
        if len(groups) < 2:
            return None
        sums = np.array([math.fsum(g) for g in groups])
        sizes = np.array([float(len(g)) for g in groups])
        return _cluster_means(bits, sums, sizes, draws)
    if len(values) < 2:
        return None
    groups = [list(values)] if strata is None else _grouped(values, strata)
    total = np.zeros(draws)
    for group in groups:
        total += _sums(bits, np.array(group, dtype=float), draws)
    return total / len(values)


def _grouped(values: Sequence[float], groups: Sequence[Hashable]) -> list[list[float]]:
    found: dict[Hashable, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        found.setdefault(group, []).append(value)
    return list(found.values())


def _sums(bits: np.random.PCG64, values: Floats, draws: int) -> Floats:
    import numpy as np

    if values.min() == values.max():
        return np.full(draws, values[0] * len(values))
    return np.concatenate(
        [values[drawn].sum(axis=1) for drawn in indices(bits, len(values), draws)]
    )


def _cluster_means(bits: np.random.PCG64, sums: Floats, sizes: Floats, draws: int) -> Floats:
    import numpy as np

    parts = [
        sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
        for drawn in indices(bits, len(sums), draws)
    ]
    return np.concatenate(parts)


def indices(bits: np.random.PCG64, n: int, draws: int) -> Iterator[NDArray[np.int64]]:
    """Rows of `n` places drawn with replacement, in blocks.

    Only the generator's raw stream is promised to stay the same between numpy's releases, so the
    places are scaled from it here.
    """
    import numpy as np

    rows = max(1, _BLOCK // n)
    for start in range(0, draws, rows):
        count = min(rows, draws - start) * n
        raw = bits.random_raw(count)
        scaled = ((raw >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)
        yield scaled.astype(np.int64).reshape(-1, n)


def _quantile(ordered: Floats, p: float) -> float:
    place = p * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (place - below))
