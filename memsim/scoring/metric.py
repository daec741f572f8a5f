"""What a metric is, and the records of a case that it is measured on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, Protocol, TypeVar

Unit = Literal["share", "tokens", "count", "dollars"]
Better = Literal["higher", "lower"]
Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number of a case."""

    about: str
    better: Better
    unit: Unit

    def __str__(self) -> str:
        return f"{self.about} ({self.unit}, {self.better} is better)"


def share(about: str, better: Better = "higher") -> Metric:
    """A metric from 0 to 1."""
    return Metric(about=about, better=better, unit="share")


def amount(about: str, unit: Unit, better: Better = "lower") -> Metric:
    """A metric that counts or adds up."""
    return Metric(about=about, better=better, unit=unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A metric's value for a case.

    Attributes:
        value: None where there was nothing to measure.
        n: number of probes, turns or contexts behind the value.
        reason: why there is no value; empty when there is one.
        note: a caveat for readers of the value; empty when there is none.
    """

    value: float | None
    n: int
    reason: str = ""
    note: str = ""


@lru_cache(maxsize=1 << 10, typed=True)
def measured(value: float, n: int) -> Measure:
    """A value and its n; cached, because most values are 0 or 1."""
    return Measure(value=value, n=n)


@lru_cache(maxsize=1 << 10)
def unmeasured(reason: str, n: int = 0) -> Measure:
    """No value, and the reason."""
    return Measure(value=None, n=n, reason=reason)


def mean_of(values: Sequence[float], reason: str) -> Measure:
    """The mean of some values; the reason when there are none."""
    return measured(math.fsum(values) / len(values), len(values)) if values else unmeasured(reason)


class TurnTotals(Protocol):
    """What one metric, or a family of them, needs of the turns: added up a turn at a time."""

    def add(self, line: Line) -> None:
        """Add a line of `turns.jsonl`."""
        ...


_Totals = TypeVar("_Totals", bound=TurnTotals)


class TurnRecords(Protocol):
    """Lines of `turns.jsonl` that are too many to hold, with the totals that were made of them."""

    def __iter__(self) -> Iterator[Line]:
        """The lines, those of each case in order."""
        ...

    def totals(self, kind: type[_Totals]) -> _Totals | None:
        """The totals of a kind over all lines; None where nobody made them."""
        ...


class CaseRecords:
    """The records of one case, or of several cases that are pooled.

    Attributes:
        probes: lines of `probes.jsonl`.
        turns: lines of `turns.jsonl`, those of each case in order.
    """

    def __init__(self, probes: Iterable[Line], turns: Iterable[Line] | TurnRecords = ()) -> None:
        self.probes = list(probes)
        self._made = turns if not isinstance(turns, list) and hasattr(turns, "totals") else None
        self.turns: Iterable[Line] = self._made or list(turns)

    def turn_totals(self, kind: type[_Totals]) -> _Totals:
        """The totals of a kind over all turns."""
        found = self._made.totals(kind) if self._made is not None else None
        if found is None:
            found = kind()
            for line in self.turns:
                found.add(line)
        return found

    @cached_property
    def scores(self) -> Mapping[str, list[float]]:
        """By name, the scores that the probes have."""
        columns: dict[str, list[float]] = {}
        for line in self.probes:
            for name, value in line["scores"].items():
                if value is not None:
                    columns.setdefault(name, []).append(value)
        return columns

    def mean(self, name: str, reason: str) -> Measure:
        """The mean of one score over the probes that have it."""
        if not self.probes:
            return unmeasured("no probe was asked")
        return mean_of(self.scores.get(name, ()), reason)
