"""Means with intervals, and who beats whom: the one door from reports to statistics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from memsim.report.answers import Unit
from memsim.report.rows import Estimate
from memsim.stats import differences, holm, mean_interval, permutation_p, wilson

Sample = dict[Unit, float]
"""Scores by scenario and probe."""

SIGNIFICANT = 0.05


def mean_of(sample: Sample) -> Estimate:
    """The mean of a sample, without an interval."""
    if not sample:
        return Estimate()
    return Estimate(mean=math.fsum(sample.values()) / len(sample), n=len(sample))


def estimate(sample: Sample, *, clustered: bool) -> Estimate:
    """The mean of a sample with its 95 % interval.

    Args:
        sample: scores.
        clustered: whole scenarios are resampled, as for a dataset; otherwise the probes within
            each scenario, as for a suite that stays as it is. Where all probes went the same way
            the interval is Wilson's.
    """
    mean = mean_of(sample)
    values = list(sample.values())
    scenarios = [scenario for scenario, _ in sample]
    if set(values) in ({0.0}, {1.0}):
        # A bootstrap of constants would say that there is no doubt.
        found = wilson(round(sum(values)), len(values))
    elif clustered:
        found = mean_interval(values, clusters=scenarios)
    else:
        found = mean_interval(values, strata=_strata(scenarios))
    if found is None:
        return mean
    return Estimate(mean=mean.mean, low=found.low, high=found.high, n=mean.n)


def _strata(scenarios: Sequence[str]) -> list[str]:
    # A scenario with one probe has nothing to be drawn from: all such make one stratum.
    counted = Counter(scenarios)
    return [name if counted[name] > 1 else "" for name in scenarios]


def beaten(samples: Mapping[str, Sample]) -> dict[str, tuple[str, ...]]:
    """For each row, the letters of those that it beats.

    Paired by probe, a permutation test for each pair of rows, Holm over all of them.

    Args:
        samples: by the rows' letters.
    """
    pairs = list(combinations(samples, 2))
    tests = [_paired(samples[a], samples[b]) for a, b in pairs]
    adjusted = holm([p for _, p in tests])
    wins: dict[str, list[str]] = {letter: [] for letter in samples}
    for (a, b), (difference, _), p in zip(pairs, tests, adjusted, strict=True):
        if p <= SIGNIFICANT:
            winner, loser = (a, b) if difference > 0 else (b, a)
            wins[winner].append(loser)
    place = {letter: i for i, letter in enumerate(samples)}
    return {letter: tuple(sorted(beat, key=place.__getitem__)) for letter, beat in wins.items()}


def _paired(one: Sample, other: Sample) -> tuple[float, float]:
    common = [unit for unit in one if unit in other]
    found = differences([one[u] for u in common], [other[u] for u in common])
    p = permutation_p(found)
    return math.fsum(found), 1.0 if p is None else p
