"""Measure how long calls of a strategy take: counts by duration that can be added up.

Durations are counted in steps of 5 %, so that the counts of many cases, machines and shards add up
to a median without their single values. Nothing in a run's results depends on them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Counts = Mapping[str, int]
"""Calls by step of duration; a step is a text, because JSON has no other keys."""

Latency = Mapping[str, Counts]
"""By name, such as `query.real`, the calls of one kind on one clock."""

OPERATIONS = {"write": "write", "maintain": "maintain", "search": "query"}
"""The name of an operation by the phase in which the strategy is called."""

REAL, PROCESSOR = "real", "processor"

_STEP = math.log(1.05)
_LEAST_NS = 100


def step_of(nanoseconds: int) -> int:
    """The step in which a duration is counted."""
    return round(math.log(max(nanoseconds, _LEAST_NS)) / _STEP)


def add_latency(several: Iterable[Latency]) -> dict[str, dict[str, int]]:
    """Add up the counts of several cases."""
    total: dict[str, dict[str, int]] = {}
    for latency in several:
        for name, counts in latency.items():
            mine = total.setdefault(name, {})
            for step, count in counts.items():
                mine[step] = mine.get(step, 0) + count
    return total


def quantile(counts: Counts, share: float) -> float | None:
    """The duration in milliseconds below which a share of the calls stays; None without calls."""
    rank = math.ceil(share * sum(counts.values()))
    for step in sorted(counts, key=int):
        rank -= counts[step]
        if rank <= 0:
            return math.exp(int(step) * _STEP) / 1e6
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyRow:
    """How long one operation of a strategy took, in milliseconds."""

    operation: str
    clock: str
    calls: int
    p50: float
    p95: float


def latency_rows(latency: Latency) -> tuple[LatencyRow, ...]:
    """The median and the 95th percentile of each operation on each clock, in a fixed order."""
    rows = []
    for operation in OPERATIONS.values():
        for clock in (REAL, PROCESSOR):
            counts = latency.get(f"{operation}.{clock}", {})
            p50, p95 = quantile(counts, 0.5), quantile(counts, 0.95)
            if p50 is not None and p95 is not None:
                row = LatencyRow(
                    operation=operation, clock=clock, calls=sum(counts.values()), p50=p50, p95=p95
                )
                rows.append(row)
    return tuple(rows)


class CallTimer:
    """Times calls by phase.

    Attributes:
        counts: what was measured so far.
    """

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = {}
        self._began = (0, 0)

    def start(self) -> None:
        """Begin to time a call."""
        self._began = (time.perf_counter_ns(), time.process_time_ns())

    def stop(self, phase: str) -> None:
        """Count the call that ends now."""
        real, processor = time.perf_counter_ns(), time.process_time_ns()
        name = OPERATIONS[phase]
        self._add(f"{name}.{REAL}", real - self._began[0])
        self._add(f"{name}.{PROCESSOR}", processor - self._began[1])

    def _add(self, name: str, nanoseconds: int) -> None:
        counts = self.counts.setdefault(name, {})
        step = str(step_of(nanoseconds))
        counts[step] = counts.get(step, 0) + 1
