"""Compare a run with a baseline: exactly, or by a paired test where chance has a part.

====== ====================================== =================================================
layer  metrics                                a change counts
====== ====================================== =================================================
exact  tokens, counts, and whether evidence   from the margin on, as a share of the baseline's
       stood in the context                   amount, or as a difference of shares
paired what was answered                      from the margin on, and only if a bootstrap within
                                              scenarios (no spread: a sign test) says so after
                                              Holm's correction
====== ====================================== =================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memsim.config import GateSettings, show_budget
from memsim.errors import ConfigError, nearest
from memsim.gate.comparison import ChangeWord, Comparison, MetricChange, MovedProbe
from memsim.gate.pool import is_pooled, spread_between
from memsim.gate.score_sheet import (
    PAIRED,
    SECONDS,
    Cell,
    CellPair,
    ProbeScores,
    ScoreSheet,
    SheetColumn,
    Unit,
    common_scenarios,
    is_share,
    is_timed,
    lower_is_better,
    metric_of,
    pair_cells,
    stale_parts,
)
from memsim.scoring.metrics import METRICS, ranked_evidence
from memsim.stats.interval import t_quantile
from memsim.stats.paired_test import PairedChange, paired_change, visible_drop
from memsim.stats.run_spread import RunSpread, with_run_spread
from memsim.stats.significance import holm

GENERALISE_FROM = 10
"""Fewest scenarios for resampling whole ones."""

SECONDS_MARGIN = 0.25
"""Smallest relative change in time that counts."""

SECONDS_LEAST = 0.5
"""Smallest change in seconds per case that counts."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRules:
    """The settings of a comparison.

    Attributes:
        gate: metrics, margin, confidence, least pairs, tolerated errors.
        generalise: resample whole scenarios, as another suite would hold others.
        same_machine: seconds and dollars count too; never so against a file.
    """

    gate: GateSettings = field(default_factory=GateSettings)
    generalise: bool = False
    same_machine: bool = False


def check_metrics(metrics: Sequence[str], *, same_machine: bool = False) -> None:
    """Refuse metrics that cannot be compared.

    Raises:
        ConfigError: there is none, or one is unknown, or is seconds or dollars where the two are
            not of one job.
    """
    if not metrics:
        raise ConfigError("gate.metrics names no metric to compare")
    for metric in metrics:
        if metric_of(metric) is None:
            hint = nearest(metric, [*METRICS, SECONDS])
            raise ConfigError(f"gate.metrics: there is no metric {metric!r}", hint=hint)
        if is_timed(metric) and not same_machine:
            message = (
                f"gate.metrics: {metric} is compared only between two runs of the same job:"
                " memsim compare --same-machine"
            )
            raise ConfigError(message)


def check_generalise(scenarios: int) -> None:
    """Refuse a clustered comparison of too few scenarios.

    Raises:
        ConfigError: there are too few.
    """
    if scenarios < GENERALISE_FROM:
        message = f"--generalise needs {GENERALISE_FROM} scenarios, and there are {scenarios}"
        raise ConfigError(message)


def compare(base: ScoreSheet, now: ScoreSheet, rules: ComparisonRules) -> Comparison:
    """Compare a run with a baseline, or with another run.

    Raises:
        ConfigError: a metric cannot be compared, or there are too few scenarios to generalise.
    """
    check_metrics(rules.gate.metrics, same_machine=rules.same_machine)
    shared = common_scenarios(base, now)
    if rules.generalise:
        check_generalise(len(shared))
    stale = stale_parts(base, now)
    other = [s for s in stale if s.kind != "scenario"]
    why = ", ".join(f"{s.kind} {s.base or 'none'} then, {s.now or 'none'} now" for s in other)
    pairs = pair_cells(base, now)
    bench = _Bench(base=base, now=now, rules=rules, shared=shared, stale=why)
    metrics = tuple(dict.fromkeys(rules.gate.metrics))
    cells = [bench.found(pair, metric) for pair in pairs for metric in metrics]
    return Comparison(
        base=base.name,
        now=now.name,
        made=" ".join(part for part in (base.created[:10], base.commit[:7]) if part),
        cells=tuple(_corrected(cells, rules.gate.confidence)),
        stale=stale,
        new=tuple(sorted(now.scenarios.keys() - base.scenarios.keys())),
        gone=tuple(sorted(base.scenarios.keys() - now.scenarios.keys())),
        moved=() if other else tuple(_moved(base, now, pairs, shared)),
        confidence=rules.gate.confidence,
        clustered=rules.generalise,
    )


def _corrected(cells: Sequence[MetricChange], confidence: float) -> Iterator[MetricChange]:
    """Correct the p values of the cells after Holm, and choose their words."""
    tested = [c.p for c in cells if c.p is not None]
    adjusted = iter(holm(tested))
    for cell in cells:
        if cell.p is None:
            yield cell
            continue
        p = next(adjusted)
        change, low, high = (x or 0.0 for x in (cell.change, cell.low, cell.high))
        if lower_is_better(cell.metric):
            change, low, high = -change, -high, -low
        word = word_of(change, (low, high), p, margin=cell.margin, confidence=confidence)
        yield replace(cell, p=p, word=word)


def word_of(
    change: float,
    interval: tuple[float, float],
    p: float,
    *,
    margin: float,
    confidence: float,
) -> ChangeWord:
    """Choose the word for a change that was tested.

    Args:
        change: mean over the pairs; below 0 is for the worse.
        interval: of it.
        p: of no change, corrected for how many were tested.
        margin: the smallest change that matters.
        confidence: how sure the test has to be.
    """
    if p <= 1 - confidence + _ROUNDING:
        if change <= -margin + _ROUNDING:
            return "worse"
        if change >= margin - _ROUNDING:
            return "better"
    low, high = interval
    return "same" if -low <= margin + _ROUNDING and high <= margin + _ROUNDING else "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """Two sheets, and how they are compared.

    Attributes:
        shared: scenarios that may be compared.
        stale: why nothing may be; empty when something may.
    """

    base: ScoreSheet
    now: ScoreSheet
    rules: ComparisonRules
    shared: frozenset[str]
    stale: str

    def found(self, pair: CellPair, metric: str) -> MetricChange:
        """One metric of a strategy; paired cells still need Holm's correction."""
        cell = pair.now or pair.base
        assert cell is not None  # noqa: S101 - a pair has at least one side
        blank = MetricChange(
            variant=variant(cell), metric=metric, word="stale", altered=pair.altered
        )
        if pair.now is None or pair.base is None:
            return replace(blank, word="new" if pair.base is None else "gone")
        if self.stale:
            return replace(blank, why=self.stale)
        before, after = self.base.columns[pair.base], self.now.columns[pair.now]
        margin = self._margin(metric, pair.base)
        blank = replace(blank, margin=margin)
        if not self._comparable(before, after):
            return replace(blank, why="no scenario is the same in both")
        if said := self._unmeasured(metric, before, after):
            return replace(blank, word="unmeasured", why=said)
        if metric in PAIRED:
            return self._paired(blank, (pair.base, pair.now))
        return self._exact(blank, (pair.base, pair.now))

    def _margin(self, metric: str, cell: Cell) -> float:
        least = SECONDS_MARGIN if metric == SECONDS else self.rules.gate.margin
        noise = max(
            (s.noise.get(variant(cell), {}).get(metric, 0.0) for s in (self.base, self.now)),
            default=0.0,
        )
        return max(least, noise)

    def _comparable(self, before: SheetColumn, after: SheetColumn) -> bool:
        return any(s in self.shared for s in before.amounts) or not after.amounts

    def _unmeasured(self, metric: str, before: SheetColumn, after: SheetColumn) -> str:
        unread = after.unread.get(metric) or before.unread.get(metric)
        return unread or self._unscored(before, after)

    def _unscored(self, before: SheetColumn, after: SheetColumn) -> str:
        allowed = self.rules.gate.max_errors
        for column, whose in ((before, self.base.name), (after, self.now.name)):
            most = allowed * column.questions if allowed < 1 else allowed
            if column.errors > most:
                return (
                    f"{column.errors} of {column.questions} probes of {whose} could not be scored"
                )
        return ""

    def _paired(self, blank: MetricChange, cells: tuple[Cell, Cell]) -> MetricChange:
        metric, gate = blank.metric, self.rules.gate
        before, after = self.base.columns[cells[0]], self.now.columns[cells[1]]
        units = [u for u in after.probes if u in before.probes and u[0] in self.shared]
        both = [(u, before.probes[u].mean(metric), after.probes[u].mean(metric)) for u in units]
        scored = [(u, b, n) for u, b, n in both if b is not None and n is not None]
        if len(scored) < gate.min_probes:
            why = f"{len(scored)} pairs, fewer than {gate.min_probes} (gate.min_probes)"
            return replace(blank, word="unmeasured", pairs=len(scored), why=why)
        differences = [n - b for _, b, n in scored]
        scenarios = [u[0] for u, _, _ in scored]
        clustered = self._clustered(after, scenarios)
        change = paired_change(
            differences,
            strata=None if clustered else scenarios,
            clusters=scenarios if clustered else None,
            confidence=gate.confidence,
            seed=self.now.seed,
            most=1.0 if is_share(metric) else math.inf,
        )
        if is_pooled(before, after):
            groups = len(set(scenarios)) if clustered else len(scored)
            change = self._over_runs(change, cells, metric, [u for u, _, _ in scored], groups)
        sign = -1 if lower_is_better(metric) else 1
        visible = visible_drop(
            change, strata=scenarios, margin=blank.margin, confidence=gate.confidence
        )
        return replace(
            blank,
            layer="paired",
            base=_mean([b for _, b, _ in scored]),
            now=_mean([n for _, _, n in scored]),
            change=change.mean,
            low=change.low,
            high=change.high,
            p=change.p,
            pairs=change.n,
            lost=sum(sign * d < 0 for d in differences),
            kept=sum(sign * d > 0 for d in differences),
            visible=visible,
        )

    def _exact_over_runs(
        self, blank: MetricChange, change: float, spread: RunSpread
    ) -> MetricChange:
        """The change with the interval that its runs give it, if they differ at all."""
        if not spread.variance or spread.freedom < 1:
            return blank
        quantile = t_quantile(0.5 + self.rules.gate.confidence / 2, math.floor(spread.freedom))
        wide = quantile * math.sqrt(spread.variance)
        return replace(blank, low=change - wide, high=change + wide)

    def _over_runs(
        self,
        change: PairedChange,
        cells: tuple[Cell, Cell],
        metric: str,
        units: Sequence[Unit],
        groups: int,
    ) -> PairedChange:
        """The change with an interval that allows for its runs."""

        def mean(column: SheetColumn) -> float | None:
            found = [column.probes[u].mean(metric) for u in units if u in column.probes]
            values = [value for value in found if value is not None]
            return _mean(values) if values else None

        return with_run_spread(
            change,
            spread_between(self.base, self.now, cells, mean),
            units=groups,
            confidence=self.rules.gate.confidence,
            most=1.0 if is_share(metric) else math.inf,
        )

    def _clustered(self, after: SheetColumn, scenarios: Sequence[str]) -> bool:
        # Of a dataset, another part would hold other conversations.
        return self.rules.generalise or (
            bool(after.dataset) and len(set(scenarios)) >= GENERALISE_FROM
        )

    def _exact(self, blank: MetricChange, cells: tuple[Cell, Cell]) -> MetricChange:
        metric = blank.metric
        before, after = self.base.columns[cells[0]], self.now.columns[cells[1]]
        values = {
            scenario: (_mean(before.amounts[scenario][metric]), _mean(amounts[metric]))
            for scenario, amounts in after.amounts.items()
            if scenario in self.shared
            and metric in amounts
            and metric in before.amounts.get(scenario, {})
        }
        if not values:
            return replace(blank, word="unmeasured", why=f"{metric} was not measured in both")
        whole = max if metric.endswith("_peak") else _mean
        base, now = whole([b for b, _ in values.values()]), whole([n for _, n in values.values()])
        change = now - base if is_share(metric) else _relative(base, now)
        if metric == SECONDS and abs(now - base) < SECONDS_LEAST:
            change = 0.0
        sign = -1 if lower_is_better(metric) else 1
        if is_pooled(before, after):
            scale = 1.0 if is_share(metric) else abs(base) or 1.0

            def value(column: SheetColumn) -> float | None:
                kept = [column.amounts.get(scenario, {}).get(metric) for scenario in values]
                return whole([_mean(each) for each in kept if each]) / scale if all(kept) else None

            spread = spread_between(self.base, self.now, cells, value)
            blank = self._exact_over_runs(blank, change, spread)
        return replace(
            blank,
            layer="exact",
            word=_exact_word(sign * change, blank),
            base=base,
            now=now,
            change=change,
            pairs=len(values),
            lost=sum(sign * (n - b) < -_ROUNDING for b, n in values.values()),
            kept=sum(sign * (n - b) > _ROUNDING for b, n in values.values()),
        )


def _exact_word(improved: float, blank: MetricChange) -> ChangeWord:
    margin, low, high = blank.margin, blank.low, blank.high
    if abs(improved) > margin + _ROUNDING and low is not None and high is not None:
        uncertain = low <= 0 <= high  # the runs of one side differ by as much
        return "unsure" if uncertain else "worse" if improved < 0 else "better"
    if improved < -margin - _ROUNDING:
        return "worse"
    return "better" if improved > margin + _ROUNDING else "same"


def _relative(base: float, now: float) -> float:
    if base == now:
        return 0.0
    # From nothing, any amount is all there is.
    return (now - base) / abs(base) if base else math.copysign(1.0, now - base)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def variant(cell: Cell) -> str:
    """`strategy@budget`."""
    return f"{cell[0]}@{show_budget(cell[1])}"


# -- probes that changed sides


def _moved(
    base: ScoreSheet, now: ScoreSheet, pairs: Sequence[CellPair], shared: frozenset[str]
) -> Iterator[MovedProbe]:
    found = [m for pair in pairs for m in _moved_of(base, now, pair, shared)]
    yield from sorted(found, key=lambda m: not m.lost)


def _moved_of(
    base: ScoreSheet, now: ScoreSheet, pair: CellPair, shared: frozenset[str]
) -> Iterator[MovedProbe]:
    if pair.base is None or pair.now is None:
        return
    before: Mapping[Unit, ProbeScores] = base.columns[pair.base].probes
    for unit, seen in now.columns[pair.now].probes.items():
        if unit[0] not in shared or unit not in before:
            continue
        then, after = before[unit].mean("recall"), seen.mean("recall")
        if then is None or after is None or (then > 0.5) == (after > 0.5):
            continue
        lost = after < then
        teller = seen if lost else before[unit]
        named = variant(pair.now)
        yield MovedProbe(
            id=f"{unit[0]}[{named}]::{unit[1]}",
            variant=named,
            probe=unit[1],
            lost=lost,
            base=then,
            now=after,
            reason=teller.reason,
            said=teller.said,
            gone=teller.gone,
        )


def noise_between(runs: Sequence[ScoreSheet]) -> dict[str, dict[str, float]]:
    """Measure how far runs differ that share everything but their seeds.

    Returns:
        By `strategy@budget` and metric, the largest change between the first and any other: a
        difference of shares, or a share of the first one's amount.
    """
    first, *others = runs
    metrics = tuple(m for m in METRICS if m not in ranked_evidence.METRICS and not is_timed(m))
    gate = GateSettings(metrics=metrics, min_probes=1, max_errors=1 << 30)
    floor: dict[str, dict[str, float]] = {}
    for other in others:
        for cell in compare(first, other, ComparisonRules(gate=gate)).cells:
            if cell.change is not None:
                mine = floor.setdefault(cell.variant, {})
                mine[cell.metric] = max(mine.get(cell.metric, 0.0), round(abs(cell.change), 6))
    return floor
