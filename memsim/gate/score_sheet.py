"""The score sheet of a run: probe scores by strategy and budget, and what made them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memsim.errors import BaselineError
from memsim.gate.comparison import StalePart
from memsim.leakage import LEAKAGE
from memsim.scoring.metric import Metric
from memsim.scoring.metrics import JUDGED, METRICS, answers
from memsim.scoring.outcomes import UNMEASURED
from memsim.suite.cases import scenario_of
from memsim.suite.reader_limit import UNKNOWN, reader_limits, within_reach

if TYPE_CHECKING:
    from memsim.runs import Run
    from memsim.suite.cases import CaseResult
    from memsim.suite.reader_limit import ReaderLimit, SetOfProbes

Cell = tuple[str, int]
"""A strategy's ref and a budget."""

Unit = tuple[str, str]
"""A scenario, as `path::name`, and a probe of it."""

SECONDS = "seconds"
"""The time that a case took, comparable only on one machine."""

PAIRED = (frozenset(answers.METRICS) - {"answer_in_context"}) | {"judged"}
"""Metrics of answers, which a paired test compares probe by probe."""

CHANCE_REPEATS = 3
"""Fewest repeats for a baseline of a model that answers by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeScores:
    """One probe of one strategy, over its repeats.

    Attributes:
        scores: by metric, one for each repeat in which it was scored.
        unscored: repeats in which nothing could be scored.
        reason: why it was missed, in one word; of the first repeat that missed it.
    """

    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    unscored: int = 0
    reason: str = ""
    said: int | None = None
    gone: int | None = None

    def mean(self, metric: str) -> float | None:
        """Over the repeats; None where it was never scored."""
        values = self.scores.get(metric)
        return math.fsum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetColumn:
    """One strategy at one budget.

    Attributes:
        probes: by scenario and probe.
        amounts: by scenario: metrics of whole cases, one value for each repeat.
        questions, errors: probes times repeats, and how many of them could not be scored.
        unread: by metric, why answers of a set are `n/a (reader)`.
        runs: the column of each run that is pooled; empty for one run.
    """

    probes: Mapping[Unit, ProbeScores] = field(default_factory=dict)
    amounts: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    questions: int = 0
    errors: int = 0
    dataset: str = ""
    unread: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[SheetColumn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSheet:
    """A run or a baseline, as far as it is compared.

    Attributes:
        instruments: what measured: model, embedder, tokenizer, judge, metrics, each as a text.
        scenarios: fingerprint of each, by `path::name`.
        strategies: sha256 of each one's source, by ref; its parameters stand in the ref.
        created, commit: when and from what it was made; for information only.
        noise: how far runs that differ in nothing but their seed lay apart, by `strategy@budget`
            and metric.
        seeds: of each run that is pooled; empty for one run.
    """

    name: str
    place: str
    instruments: Mapping[str, str]
    scenarios: Mapping[str, str]
    strategies: Mapping[str, str]
    columns: Mapping[Cell, SheetColumn]
    seed: int = 0
    repeat: int = 1
    created: str = ""
    commit: str = ""
    noise: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()

    @property
    def by_chance(self) -> bool:
        """Whether a second run may give other answers."""
        return by_chance(self.instruments.get("model", ""))


def by_chance(model: str) -> bool:
    """Whether a model's answers differ between repeats."""
    name, _, parameters = model.partition(":")
    return name != "offline" or parameters.replace(" ", "") not in {"", "miss=0", "miss=0.0"}


def sheet_of_run(run: Run) -> ScoreSheet:
    """Make the score sheet of a saved run.

    Raises:
        RunFolderError: its records are damaged.
        BaselineError: it was recorded before fingerprints were.
    """
    return sheet_of(run.cases, run.probes(), run.info, name=run.id, place=str(run.folder))


def sheet_of(
    cases: Sequence[CaseResult],
    lines: Iterable[Mapping[str, Any]],
    info: Mapping[str, object],
    *,
    name: str,
    place: str = "",
) -> ScoreSheet:
    """Make a score sheet from cases and their probes.

    Args:
        cases: results; controls are left out, as they are never judged.
        lines: their probes, as `probes.jsonl` has them.
        info: what `run.json` says: `scenarios`, `strategies`, `instruments`, `settings`.
        name: of the run.
        place: where it lies.

    Raises:
        BaselineError: the fingerprints are missing.
    """
    parts = {key: info.get(key) for key in ("instruments", "scenarios", "strategies")}
    if not all(isinstance(part, Mapping) for part in parts.values()):
        message = f"{name} was recorded without fingerprints: it cannot be compared, run it again"
        raise BaselineError(message)
    settings = info.get("settings")
    known: Mapping[str, Any] = settings if isinstance(settings, Mapping) else {}
    tables = {key: dict(part) for key, part in parts.items() if isinstance(part, Mapping)}
    limits = reader_limits(cases)
    columns = _columns([c for c in within_reach(cases) if not c.control], lines, limits)
    compared = {strategy for strategy, _ in columns}
    return ScoreSheet(
        name=name,
        place=place,
        instruments=tables["instruments"],
        scenarios=tables["scenarios"],
        strategies={ref: sha for ref, sha in tables["strategies"].items() if ref in compared},
        columns=columns,
        seed=int(known.get("seed", 0)),
        repeat=int(known.get("repeat", 1)),
        created=str(info.get("created") or ""),
        commit=str(info.get("commit") or ""),
    )


def _columns(
    cases: Sequence[CaseResult],
    lines: Iterable[Mapping[str, Any]],
    limits: Mapping[SetOfProbes, ReaderLimit],
) -> dict[Cell, SheetColumn]:
    cell_of = {case.id: (case.strategy, case.budget) for case in cases}
    unread = {c.id: limits.get((c.dataset, c.budget), UNKNOWN).unread for c in cases}
    seen: dict[Cell, dict[Unit, list[Mapping[str, Any]]]] = {}
    for line in lines:
        # What an attack tried is no probe: its case's amounts tell what leaked.
        if "scores" in line and (cell := cell_of.get(line["case"])) is not None:
            unit = scenario_of(line["case"]), str(line["probe"])
            seen.setdefault(cell, {}).setdefault(unit, []).append(_read(line, unread))
    return {
        cell: _column([c for c in cases if cell_of[c.id] == cell], seen.get(cell, {}), limits)
        for cell in dict.fromkeys(cell_of.values())
    }


def _read(line: Mapping[str, Any], unread: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
    """A line without the scores that the reader bounds."""
    hidden = unread[line["case"]]
    if not hidden:
        return line
    scores = {name: value for name, value in line["scores"].items() if name not in hidden}
    return {**line, "scores": scores}


def _column(
    cases: Sequence[CaseResult],
    seen: Mapping[Unit, Sequence[Mapping[str, Any]]],
    limits: Mapping[SetOfProbes, ReaderLimit],
) -> SheetColumn:
    amounts: dict[str, dict[str, list[float]]] = {}
    for case in cases:
        mine = amounts.setdefault(scenario_of(case.id), {})
        for metric, value in (*case.metrics.items(), (SECONDS, case.seconds)):
            if value is not None and case.state == "scored":
                mine.setdefault(metric, []).append(value)
    return SheetColumn(
        probes={unit: _seen(lines) for unit, lines in seen.items()},
        amounts={
            scenario: {metric: tuple(values) for metric, values in mine.items()}
            for scenario, mine in amounts.items()
        },
        questions=sum(c.counts.get("probes", 0) for c in cases),
        errors=sum(max(c.counts.get("errors", 0), int(c.state != "scored")) for c in cases),
        dataset=_dataset(cases),
        unread={
            metric: str(limit)
            for case in cases
            for limit in (limits.get((case.dataset, case.budget), UNKNOWN),)
            for metric in limit.unread
        },
    )


def _dataset(cases: Sequence[CaseResult]) -> str:
    names = {case.dataset for case in cases if case.dataset != LEAKAGE}
    return names.pop() if len(names) == 1 else ""


def _seen(lines: Sequence[Mapping[str, Any]]) -> ProbeScores:
    scores: dict[str, list[float]] = {}
    for line in lines:
        for metric, value in line["scores"].items():
            if value is not None:
                scores.setdefault(metric, []).append(value)
    missed = next((x for x in lines if x["scores"].get("recall") == 0), lines[0])
    turns = [piece["turn"] for piece in missed["evidence"] if piece["turn"] is not None]
    return ProbeScores(
        scores={metric: tuple(values) for metric, values in scores.items()},
        unscored=sum(line["outcome"] in UNMEASURED for line in lines),
        reason=missed["reason"] or "",
        said=max(turns, default=None),
        gone=gone_from(missed["evidence"]),
    )


def gone_from(evidence: Sequence[Mapping[str, Any]]) -> int | None:
    """Find the turn from which evidence was out of the context; the latest of several."""
    left = [piece["path"][-1] for piece in evidence if len(piece["path"]) > 1]
    return max((turn for turn, presence, _ in left if presence == "absent"), default=None)


_SECONDS = Metric(about="what a case took", better="lower", unit="count")


def metric_of(name: str) -> Metric | None:
    """Look up a metric of memory, of leakage, or of time; None where there is none."""
    if name == SECONDS:
        return _SECONDS
    if found := METRICS.get(name) or JUDGED.get(name):
        return found
    # Only who names one of these pays for reading what an attack is.
    from memsim.leakage.scores import LEAK_METRICS

    return LEAK_METRICS.get(name)


def lower_is_better(name: str) -> bool:
    """Whether a smaller value of a metric is better."""
    found = metric_of(name)
    return found is not None and found.better == "lower"


def is_share(name: str) -> bool:
    """Whether a metric goes from 0 to 1, and its changes are points."""
    found = metric_of(name)
    return found is not None and found.unit == "share"


def is_timed(name: str) -> bool:
    """Whether a metric depends on a machine or a price list."""
    found = metric_of(name)
    return name == SECONDS or (found is not None and found.unit == "dollars")


# Pairs of strategies, scenarios and probes of two sheets.


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPair:
    """A strategy at a budget, in both sheets or in one.

    Attributes:
        base, now: its cell in each; None where there is none.
        altered: what differs of the strategy.
    """

    base: Cell | None
    now: Cell | None
    altered: tuple[str, ...] = ()


def pair_cells(base: ScoreSheet, now: ScoreSheet) -> tuple[CellPair, ...]:
    """Pair the strategies of two sheets, in the candidate's order.

    A strategy is its ref. Where parameters changed, the only one of that name on either side is
    still the same strategy: a window that was halved is what a gate is there to see.
    """
    renamed = _renamed(base, now)
    pairs = [CellPair(base=_of(base, cell, renamed), now=cell) for cell in now.columns]
    taken = {pair.base for pair in pairs}
    pairs = [
        CellPair(base=p.base, now=p.now, altered=_altered(base, now, p.base, p.now)) for p in pairs
    ]
    return (*pairs, *(CellPair(base=c, now=None) for c in base.columns if c not in taken))


def _of(base: ScoreSheet, cell: Cell, renamed: Mapping[Cell, Cell]) -> Cell | None:
    return cell if cell in base.columns else renamed.get(cell)


def _renamed(base: ScoreSheet, now: ScoreSheet) -> dict[Cell, Cell]:
    only_now = _by_name(c for c in now.columns if c not in base.columns)
    only_base = _by_name(c for c in base.columns if c not in now.columns)
    return {
        mine[0]: theirs[0]
        for name, mine in only_now.items()
        if len(mine) == 1 and len(theirs := only_base.get(name, [])) == 1
    }


def _by_name(cells: Iterator[Cell]) -> dict[Cell, list[Cell]]:
    found: dict[Cell, list[Cell]] = {}
    for strategy, budget in cells:
        found.setdefault((strategy.partition(":")[0], budget), []).append((strategy, budget))
    return found


def _altered(
    base: ScoreSheet, now: ScoreSheet, before: Cell | None, after: Cell | None
) -> tuple[str, ...]:
    if before is None or after is None:
        return ()
    altered = ["parameters"] if before[0] != after[0] else []
    if base.strategies.get(before[0]) != now.strategies.get(after[0]):
        altered.append("source")
    return tuple(altered)


def stale_parts(base: ScoreSheet, now: ScoreSheet) -> tuple[StalePart, ...]:
    """List the instruments that differ, then the scenarios whose text changed."""
    kinds = sorted({*base.instruments, *now.instruments})
    instruments = [
        StalePart(kind=kind, base=base.instruments.get(kind, ""), now=now.instruments.get(kind, ""))
        for kind in kinds
        if base.instruments.get(kind) != now.instruments.get(kind)
    ]
    changed = [
        StalePart(kind="scenario", name=name)
        for name, fingerprint in now.scenarios.items()
        if base.scenarios.get(name, fingerprint) != fingerprint
    ]
    return (*instruments, *changed)


def common_scenarios(base: ScoreSheet, now: ScoreSheet) -> frozenset[str]:
    """List the scenarios that both sheets have with the same text."""
    return frozenset(n for n, f in now.scenarios.items() if base.scenarios.get(n) == f)
