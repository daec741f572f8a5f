"""Test the change between two runs over the same probes.

Chance is taken within each scenario, as a committed suite keeps its mix, or over whole scenarios
where the next suite would hold others. Few probes are corrected for twice: resampling n values
spreads too little by a factor of sqrt((n - 1) / n), and a spread that is itself estimated from few
values needs Student's quantile in place of the normal one. Both stretch the draws (Hesterberg's
expanded percentiles), so that the test keeps its level from ten probes on; `benchmarks/
gate_validity.py` measures that it does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.stats.bootstrap import DRAWS, indices
from memsim.stats.interval import CONFIDENCE, check_confidence, normal_quantile, t_quantile
from memsim.stats.significance import sign_p

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_KEPT = 1 << 22
"""Draws of one shape that are cached."""

POWER = 0.8
LEAST = 5
"""Fewest probes of a stratum: fewer often move together, which looks like certainty."""

_DIGITS = 12
_ROUNDING = 1e-9
_MANY = 60
"""Most losses tried when the least visible number is computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedChange:
    """A mean difference between pairs.

    Attributes:
        mean: candidate less baseline.
        low, high: its interval, by Student's quantile; both None where there is nothing to judge
            the spread by.
        p: two-sided, of no change: by bootstrap, or by the exact sign test where the differences
            do not spread; None of fewer than two pairs.
        n: pairs.
        error: standard error of the mean.
    """

    mean: float
    low: float | None
    high: float | None
    p: float | None
    n: int
    error: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedChanges:
    """Many samples of pairs of one shape: one element for each sample.

    Attributes:
        mean, low, high, p, error: as in `PairedChange`.
    """

    mean: Floats
    low: Floats
    high: Floats
    p: Floats
    error: Floats


def paired_change(
    differences: Sequence[float],
    *,
    strata: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    most: float = math.inf,
) -> PairedChange:
    """Compute the mean of paired differences, its interval and its p value.

    Args:
        differences: one for each probe, candidate less baseline; at least one.
        strata: the scenario of each: draws are made within it; those with fewer than `LEAST`
            probes are put together.
        clusters: the scenario of each: whole scenarios are drawn.
        draws: how often to resample.
        confidence: of the interval.
        seed: of the draws.
        most: the largest change that is possible, up or down; 1 for shares. The interval, which
            Student's quantile may stretch beyond it, ends there.

    Raises:
        ValueError: there are none, both strata and clusters are given, or they are not as many.
    """
    check_confidence(confidence)
    groups = strata if strata is not None else clusters
    if not differences or (strata is not None and clusters is not None):
        raise ValueError("a change needs differences, drawn by strata or by clusters")
    if groups is not None and len(groups) != len(differences):
        raise ValueError(f"{len(groups)} groups for {len(differences)} differences")
    mean = math.fsum(differences) / len(differences)
    units = len(set(clusters)) if clusters is not None else len(differences)
    if units < 2:
        return PairedChange(mean=mean, low=None, high=None, p=None, n=len(differences))
    import numpy as np

    order, sizes = _arranged(groups if groups is not None else [0] * len(differences))
    values = np.array([differences[i] for i in order], dtype=float)[:, None]
    if clusters is not None:
        found = _clustered_changes(values, _sizes(clusters), draws, confidence, seed)
    else:
        found = paired_changes(values, sizes, draws=draws, confidence=confidence, seed=seed)
    edges = (min(max(float(edge[0]), -most), most) for edge in (found.low, found.high))
    low, high = (round(edge, _DIGITS) + 0.0 for edge in edges)
    return PairedChange(
        mean=round(mean, _DIGITS) + 0.0,
        low=low,
        high=high,
        p=float(found.p[0]),
        n=len(differences),
        error=round(float(found.error[0]), _DIGITS),
    )


def paired_changes(
    samples: Floats,
    sizes: Sequence[int],
    *,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> PairedChanges:
    """Resample many samples at once, within strata.

    Args:
        samples: one column for each sample, its rows sorted by stratum.
        sizes: rows of each stratum; each at least 2.
        draws: how often to resample.
        confidence: of the intervals.
        seed: of the draws, which all samples share.
    """
    import numpy as np

    n = len(samples)
    mean = samples.sum(axis=0) / n
    parts = np.split(samples, np.cumsum(sizes)[:-1])
    variance = np.sum([len(p) * p.var(axis=0, ddof=1) for p in parts], axis=0)
    error = np.sqrt(variance) / n
    quantile = t_quantile(0.5 + confidence / 2, n - len(sizes))
    stretch = quantile / normal_quantile(0.5 + confidence / 2)
    p = _bootstrap_p(samples, mean, tuple(sizes), stretch=stretch, draws=draws, seed=seed)
    found = PairedChanges(
        mean=mean, low=mean - quantile * error, high=mean + quantile * error, p=p, error=error
    )
    if len(sizes) > 1:
        _pool(samples, found, draws=draws, confidence=confidence, seed=seed)
    return _settled(samples, found)


def _pool(
    samples: Floats, found: PairedChanges, *, draws: int, confidence: float, seed: int
) -> None:
    """Merge all strata into one where every stratum is constant."""
    certain = (found.error < _ROUNDING) & (samples.min(axis=0) != samples.max(axis=0))
    if not certain.any():
        return
    whole = paired_changes(
        samples[:, certain], (len(samples),), draws=draws, confidence=confidence, seed=seed
    )
    for name in ("low", "high", "p", "error"):
        getattr(found, name)[certain] = getattr(whole, name)


def _settled(samples: Floats, found: PairedChanges) -> PairedChanges:
    """Use the sign test where all differences are constant, as a bootstrap says nothing there."""
    constant = samples.min(axis=0) == samples.max(axis=0)
    for column in constant.nonzero()[0]:
        p = sign_p([float(v) for v in samples[:, column]])
        found.p[column] = 1.0 if p is None else p
        found.low[column] = found.high[column] = found.mean[column]
        found.error[column] = 0.0
    return found


def _bootstrap_p(
    samples: Floats,
    mean: Floats,
    sizes: tuple[int, ...],
    *,
    stretch: float,
    draws: int,
    seed: int,
) -> Floats:
    import numpy as np

    above = np.zeros(samples.shape[1])
    below = np.zeros(samples.shape[1])
    for weights in _weights(sizes, draws, seed):
        drawn = np.round(mean + stretch * (weights @ samples) / len(samples), 9)
        above += (drawn >= 0).sum(axis=0)
        below += (drawn <= 0).sum(axis=0)
    return np.minimum(1.0, 2 * (np.minimum(above, below) + 1) / (draws + 1))


def _weights(sizes: tuple[int, ...], draws: int, seed: int) -> Iterator[Floats]:
    """For each draw, how much oftener than once it holds each value, stretched for few values."""
    if draws * sum(sizes) <= _KEPT:
        yield _kept_weights(sizes, draws, seed)
        return
    # A seed for each block: blocks need not know of each other.
    rows = max(1, _KEPT // sum(sizes))
    for number, start in enumerate(range(0, draws, rows)):
        yield _made_weights(sizes, min(rows, draws - start), seed + 1_000_003 * number)


@lru_cache(maxsize=2)
def _kept_weights(sizes: tuple[int, ...], draws: int, seed: int) -> Floats:
    return _made_weights(sizes, draws, seed)


def _made_weights(sizes: tuple[int, ...], draws: int, seed: int) -> Floats:
    import numpy as np

    bits = np.random.PCG64(seed)
    columns = []
    for size in sizes:
        counts = np.zeros((draws, size))
        start = 0
        for drawn in indices(bits, size, draws):
            rows = np.arange(start, start + len(drawn))[:, None]
            np.add.at(counts, (rows, drawn), 1.0)
            start += len(drawn)
        columns.append((counts - 1) * math.sqrt(size / (size - 1)))
    return np.concatenate(columns, axis=1)


def _clustered_changes(
    samples: Floats, sizes: tuple[int, ...], draws: int, confidence: float, seed: int
) -> PairedChanges:
    """Resample whole clusters of one sample, whose rows are sorted by cluster."""
    import numpy as np

    count, mean = len(sizes), samples.sum(axis=0) / len(samples)
    sums = np.array([p.sum() for p in np.split(samples[:, 0], np.cumsum(sizes)[:-1])])
    each = np.array(sizes, dtype=float)
    drawn = np.concatenate(
        [
            sums[i].sum(axis=1) / each[i].sum(axis=1)
            for i in indices(np.random.PCG64(seed), count, draws)
        ]
    )
    few = math.sqrt(count / (count - 1))
    quantile = t_quantile(0.5 + confidence / 2, count - 1)
    stretch = few * quantile / normal_quantile(0.5 + confidence / 2)
    moved = np.round(mean + stretch * (drawn - mean), 9)
    p = 2 * (min((moved >= 0).sum(), (moved <= 0).sum()) + 1) / (draws + 1)
    residuals = sums - mean * each
    error = np.array([few * math.sqrt(float((residuals**2).sum())) / len(samples)])
    return _settled(
        samples,
        PairedChanges(
            mean=mean,
            low=mean - quantile * error,
            high=mean + quantile * error,
            p=np.array([min(1.0, float(p))]),
            error=error,
        ),
    )


def _arranged(groups: Sequence[Hashable]) -> tuple[list[int], tuple[int, ...]]:
    """Sort places by stratum, and count each stratum."""
    merged = _merged(groups)
    first = {name: place for place, name in reversed(list(enumerate(merged)))}
    order = sorted(range(len(merged)), key=lambda i: (first[merged[i]], i))
    counted = Counter(merged)
    return order, tuple(counted[name] for name in sorted(counted, key=first.__getitem__))


def _merged(groups: Sequence[Hashable]) -> list[Hashable]:
    counted = Counter(groups)
    small = {name for name, n in counted.items() if n < LEAST}
    if not small or len(counted) == 1:
        return list(groups)
    # One that has no like joins the largest stratum: its own spread can hardly be known.
    into = ("",) if sum(counted[name] for name in small) >= LEAST else counted.most_common(1)[0][0]
    return [into if name in small else name for name in groups]


def _sizes(groups: Sequence[Hashable]) -> tuple[int, ...]:
    return tuple(Counter(groups).values())


def visible_drop(
    change: PairedChange,
    *,
    strata: Sequence[Hashable],
    margin: float,
    confidence: float = CONFIDENCE,
    power: float = POWER,
    draws: int = DRAWS,
) -> float | None:
    """Compute the smallest drop that would be called worse `power` of the time.

    Never less than the fewest probes that, lost alone, would be called so; None where no drop is.
    """
    if change.n < 2:
        return None
    _, sizes = _arranged(strata)
    least = _least_lost(sizes, round(1 - confidence, 9), margin, draws)
    if least is None:
        return None
    quantile = t_quantile(0.5 + confidence / 2, change.n - len(sizes))
    drop = max(margin, least / change.n, (quantile + normal_quantile(power)) * change.error)
    return round(drop, _DIGITS)


@lru_cache(maxsize=64)
def _least_lost(sizes: tuple[int, ...], alpha: float, margin: float, draws: int) -> int | None:
    import numpy as np

    n = sum(sizes)
    most = min(n, max(_MANY, math.ceil(margin * n)))
    samples = np.zeros((n, most))
    for lost in range(1, most + 1):
        samples[[place * n // lost for place in range(lost)], lost - 1] = -1.0
    found = paired_changes(samples, sizes, draws=draws)
    seen = (found.p <= alpha) & (found.mean <= -margin + 1e-9)
    return int(seen.argmax()) + 1 if seen.any() else None
