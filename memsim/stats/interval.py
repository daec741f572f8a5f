"""Intervals and quantiles: Wilson, exact binomial, normal and Student."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

CONFIDENCE = 0.95

_DIGITS = 12


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def interval(low: float, high: float) -> Interval:
    """Round an interval, because its last digits depend on the order of additions."""
    return Interval(round(low, _DIGITS) + 0.0, round(high, _DIGITS) + 0.0)


def check_confidence(confidence: float) -> None:
    """Refuse a number that is no confidence.

    Raises:
        ValueError: it does not lie between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, and {confidence} does not")


@lru_cache(maxsize=64)
def normal_quantile(p: float) -> float:
    """Compute the standard normal quantile for 0 < p < 1."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


# Intervals of a share, and the quantiles that they need.

_NORMAL_FROM = 2000
"""Degrees of freedom above which Student's distribution is taken as normal."""


def wilson(successes: int, n: int, *, confidence: float = CONFIDENCE) -> Interval | None:
    """Compute Wilson's score interval of a share; None where n is 0.

    Raises:
        ValueError: the counts or the confidence make no sense.
    """
    _check_counts(successes, n, confidence)
    if n == 0:
        return None
    z = normal_quantile(0.5 + confidence / 2)
    share, z2 = successes / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == n else min(1.0, middle + half)
    return interval(low, high)


def clopper_pearson(successes: int, n: int, *, confidence: float = CONFIDENCE) -> Interval | None:
    """Compute the exact (Clopper-Pearson) interval of a share; None where n is 0.

    Raises:
        ValueError: the counts or the confidence make no sense.
    """
    _check_counts(successes, n, confidence)
    if n == 0:
        return None
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else _beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes == n else _beta_quantile(1 - tail, successes + 1, n - successes)
    return interval(low, high)


@lru_cache(maxsize=256)
def t_quantile(p: float, df: int) -> float:
    """Compute Student's quantile for 0.5 < p < 1 and at least one degree of freedom.

    Raises:
        ValueError: there is no degree of freedom.
    """
    if df < 1:
        raise ValueError("a spread needs at least two values")
    if df > _NORMAL_FROM:
        return normal_quantile(p)
    x = _beta_quantile(2 * (1 - p), df / 2, 0.5)
    return math.sqrt(df * (1 - x) / x)


def t_tails(t: float, df: int) -> float:
    """Compute the share of Student's distribution that lies as far from 0 as `t`, on both sides.

    Raises:
        ValueError: there is no degree of freedom.
    """
    if df < 1:
        raise ValueError("a spread needs at least two values")
    return _beta_share(df / (df + t * t), df / 2, 0.5)


def _check_counts(successes: int, n: int, confidence: float) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    check_confidence(confidence)


def _beta_quantile(p: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    # 60 halvings leave less than the last digit of a float.
    for _ in range(60):
        middle = (low + high) / 2
        if _beta_share(middle, a, b) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_share(x: float, a: float, b: float) -> float:
    """Compute the regularised incomplete beta function by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(front + a * math.log(x) + b * math.log1p(-x)) / a
    return front / _beta_fraction(x, a, b)


def _beta_fraction(x: float, a: float, b: float) -> float:
    # Lentz's method.
    c, d, value = 1.0, 0.0, 1.0
    for step in range(1, 500):
        m = step // 2
        if step == 1:
            term = -(a + b) * x / (a + 1)
        elif step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + term * d)
        c = 1 + term / c
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
