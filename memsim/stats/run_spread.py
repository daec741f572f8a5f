"""Widen an interval by how far whole runs lie apart: a run is a cluster of answers.

Two levels have a part in the error of a pooled change. Probes vary within a scenario, which
`paired_test` computes from their means over the runs. Runs vary as wholes, by their seeds and days,
which is the variance of their means. Both are added; degrees of freedom are Satterthwaite's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import variance

from memsim.stats.interval import t_quantile, t_tails
from memsim.stats.paired_test import PairedChange

_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpread:
    """How far the mean of a change may lie off because of its runs.

    Attributes:
        variance: of the mean.
        freedom: degrees of freedom of that variance; 0 where it could not be known.
    """

    variance: float
    freedom: float


def spread_of_pairs(differences: Sequence[float]) -> RunSpread:
    """The spread of runs that have a partner on the other side, as they share their seed.

    Args:
        differences: the mean change of each pair of runs.
    """
    runs = len(differences)
    if runs < 2:
        return RunSpread(variance=0.0, freedom=0)
    return RunSpread(variance=variance(differences) / runs, freedom=runs - 1)


def spread_of_sides(base: Sequence[float], now: Sequence[float]) -> RunSpread:
    """The spread of runs without partners; a single run varies as those of the other side do.

    Args:
        base: the mean of each run of one side.
        now: those of the other.
    """
    known = [variance(side) if len(side) > 1 else None for side in (base, now)]
    other = next((found for found in known if found is not None), None)
    if other is None:
        return RunSpread(variance=0.0, freedom=0)
    parts = [
        (found if found is not None else other) / len(side)
        for found, side in zip(known, (base, now), strict=True)
    ]
    freedoms = [max(len(side), 1) - 1 for side in (base, now)]
    least = min(df for df in freedoms if df)
    return RunSpread(
        variance=math.fsum(parts),
        freedom=_satterthwaite(parts, [df or least for df in freedoms]),
    )


def _satterthwaite(parts: Sequence[float], freedoms: Sequence[float]) -> float:
    """Degrees of freedom of a sum of variances."""
    below = math.fsum(p**2 / df for p, df in zip(parts, freedoms, strict=True) if df)
    return math.fsum(parts) ** 2 / below if below else math.fsum(freedoms)


def with_run_spread(
    change: PairedChange,
    spread: RunSpread,
    *,
    units: int,
    confidence: float,
    most: float = math.inf,
) -> PairedChange:
    """The change with an interval and a p value that allow for its runs; never narrower.

    Args:
        change: over probes.
        spread: of its runs.
        units: what the error over probes was computed from: probes or scenarios.
        confidence: of the interval.
        most: the largest change that is possible.
    """
    if not spread.variance or change.low is None or change.high is None or change.p is None:
        return change
    parts = [change.error**2, spread.variance]
    error = math.sqrt(math.fsum(parts))
    freedom = max(1, math.floor(_satterthwaite(parts, [max(units - 1, 1), spread.freedom])))
    wide = t_quantile(0.5 + confidence / 2, freedom) * error
    low = max(min(change.low, change.mean - wide), -most)
    high = min(max(change.high, change.mean + wide), most)
    return replace(
        change,
        low=round(low, _DIGITS) + 0.0,
        high=round(high, _DIGITS) + 0.0,
        p=max(change.p, t_tails(change.mean / error, freedom)),
        error=round(error, _DIGITS),
    )
