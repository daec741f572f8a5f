"""Whether two kinds of answers can be told apart by how long they take.

This is the only place in which time on the wall is looked at, so nothing of it goes into records
but one word, and that only where the two are far apart: a rerun has to give the same bytes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NOTABLE = 0.55
"""Lower bound of an area over which a timing is told of in the log."""
PLAIN = 0.75
"""Lower bound over which a record says so: far enough from chance, which is 0.5, to be found again
on a machine that is busy with something else."""
_Z = 1.96
_CHANCE = 4.5
"""Standard deviations from chance that a record needs besides: a few pairs never suffice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """How well a threshold tells two samples apart.

    Attributes:
        auc: area under the curve of the better direction: 0.5 is chance, 1 is always.
        low, high: its 95 % interval after Hanley and McNeil (1982).
        pairs: measurements of each kind.
    """

    auc: float
    low: float
    high: float
    pairs: int

    @property
    def plain(self) -> bool:
        """Whether a record may say so."""
        chance = math.sqrt((2 * self.pairs + 1) / 12) / self.pairs
        return self.low > PLAIN and self.auc > 0.5 + _CHANCE * chance

    def __str__(self) -> str:
        return f"AUC {self.auc:.3f} [{self.low:.3f}, {self.high:.3f}] of {self.pairs} pairs"


def apart(left: Sequence[float], right: Sequence[float]) -> Apart:
    """How well two samples are told apart, whichever of them is larger.

    Raises:
        ValueError: one of them is empty.
    """
    if not left or not right:
        raise ValueError("there is nothing to tell apart")
    area = _area(left, right)
    area = max(area, 1 - area)
    spread = _Z * math.sqrt(_variance(area, len(left), len(right)))
    return Apart(
        auc=area,
        low=max(0.0, area - spread),
        high=min(1.0, area + spread),
        pairs=min(len(left), len(right)),
    )


def taken(deed: Callable[[], object]) -> int:
    """Nanoseconds that something takes on the wall."""
    began = time.perf_counter_ns()
    deed()
    return time.perf_counter_ns() - began


def _area(left: Sequence[float], right: Sequence[float]) -> float:
    """The chance that one of the left is larger than one of the right; ties count half."""
    values = sorted([(value, 0) for value in right] + [(value, 1) for value in left])
    ranks, place = 0.0, 0
    while place < len(values):
        end = place
        while end < len(values) and values[end][0] == values[place][0]:
            end += 1
        ranks += sum(kind for _, kind in values[place:end]) * (place + 1 + end) / 2
        place = end
    return (ranks - len(left) * (len(left) + 1) / 2) / (len(left) * len(right))


def _variance(area: float, left: int, right: int) -> float:
    both, twice = area / (2 - area), 2 * area**2 / (1 + area)
    spread = (left - 1) * (both - area**2) + (right - 1) * (twice - area**2)
    return max(0.0, (area * (1 - area) + spread) / (left * right))
