"""What an interval is, and how surely it is meant."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

CONFIDENCE = 0.95

_DIGITS = 12


class Interval(NamedTuple):
    """Where the true value lies, as far as the confidence asked for goes."""

    low: float
    high: float


def interval(low: float, high: float) -> Interval:
    """An interval without its last digits, which differ with the order in which a machine adds."""
    return Interval(round(low, _DIGITS) + 0.0, round(high, _DIGITS) + 0.0)


def check_confidence(confidence: float) -> None:
    """Refuse what is no confidence.

    Raises:
        ValueError: it does not lie between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, and {confidence} does not")


@lru_cache(maxsize=64)
def normal_quantile(p: float) -> float:
    """The standard normal distribution's quantile, for 0 < p < 1."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)
