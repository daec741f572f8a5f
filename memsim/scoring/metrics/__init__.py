"""Every metric of a case: each file of this folder defines one metric, or a family of them.

A new metric needs one new file::

    METRICS = {"long_answers": share("answers of more than 40 words", "lower")}


    def measure(records: CaseRecords) -> Mapping[str, Measure]:
        ...

`NEEDS_JUDGE = True` marks metrics that only runs with a judge have. `TURNS` names a class of
totals, where a file has one. It is given each turn as it is played, so that a script may have a
million of them, and `records.turn_totals` returns it. Metrics are measured from the records alone,
so values of a run and values read back from its folder are equal.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from memsim.scoring.metric import CaseRecords, Line, Measure, Metric, TurnRecords, TurnTotals

_ORDER = (
    *("answers", "evidence_shares", "ranked_evidence", "audits", "lost", "leaks", "unscored"),
    *("invalid_use", "store_contents"),
    *("context_tokens", "caching", "compactions", "model_calls", "cost"),
)
"""Files whose metrics are listed first, in this order; others follow by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFamily:
    """The metrics of one file."""

    metrics: Mapping[str, Metric]
    measure: Callable[[CaseRecords], Mapping[str, Measure]]
    needs_judge: bool = False
    turns: type[TurnTotals] | None = None


def _families() -> Iterator[MetricFamily]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    rank = {name: place for place, name in enumerate(_ORDER)}
    for name in sorted(names, key=lambda name: rank.get(name, len(rank))):
        module = importlib.import_module(f"{__name__}.{name}")
        needs_judge = getattr(module, "NEEDS_JUDGE", False)
        yield MetricFamily(
            metrics=module.METRICS,
            measure=module.measure,
            needs_judge=needs_judge,
            turns=getattr(module, "TURNS", None),
        )


FAMILIES = tuple(sorted(_families(), key=lambda family: family.needs_judge))
METRICS = {n: m for f in FAMILIES if not f.needs_judge for n, m in f.metrics.items()}
"""Metrics of every run, by name."""

JUDGED = {n: m for f in FAMILIES if f.needs_judge for n, m in f.metrics.items()}
"""Metrics of runs that have a judge; other runs do not have them at all."""


def turn_totals() -> dict[type[TurnTotals], TurnTotals]:
    """New totals over turns for all metrics that need some."""
    return {family.turns: family.turns() for family in FAMILIES if family.turns is not None}


def summarise(probes: Iterable[Line], turns: Iterable[Line] | TurnRecords) -> dict[str, Measure]:
    """Measure every metric of `METRICS`, in its order; then those of `JUDGED`, with a judge.

    Lines of several cases may be pooled: shares are then means over all their probes, counts and
    amounts are sums.
    """
    records = CaseRecords(probes, turns)
    found: dict[str, Measure] = {}
    for family in FAMILIES:
        found.update(family.measure(records))
    return found
