"""Power: which drops a suite of a given size and spread can show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memsim.stats.interval import CONFIDENCE, normal_quantile

POWER = 0.8


def smallest_drop(
    differences: Sequence[float], *, power: float = POWER, confidence: float = CONFIDENCE
) -> float | None:
    """Compute the smallest true drop that such pairs show `power` of the time.

    None where there are fewer than two differences, or they do not differ.

    Args:
        differences: of pairs that did not really change, or changed alike.
        power: share of the times.
        confidence: of the interval that has to lie off 0.
    """
    spread = _spread(differences)
    if not spread:
        return None
    factor = normal_quantile(0.5 + confidence / 2) + normal_quantile(power)
    return round(factor * spread / math.sqrt(len(differences)), 12)


def probes_for_drop(
    differences: Sequence[float],
    drop: float,
    *,
    power: float = POWER,
    confidence: float = CONFIDENCE,
) -> int | None:
    """Compute how many such probes show a drop of this size `power` of the time.

    None as in `smallest_drop`.

    Args:
        differences: of pairs that did not really change, or changed alike.
        drop: the drop to see, above 0.
        power: share of the times.
        confidence: of the interval that has to lie off 0.
    """
    spread = _spread(differences)
    if not spread:
        return None
    factor = normal_quantile(0.5 + confidence / 2) + normal_quantile(power)
    return math.ceil(round((factor * spread / drop) ** 2, 9))


def _spread(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
