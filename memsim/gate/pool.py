"""Pool runs into one side of a comparison: the same measurement, made with other seeds or days."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from memsim.errors import BaselineError
from memsim.gate.score_sheet import Cell, ProbeScores, ScoreSheet, SheetColumn, Unit
from memsim.stats.run_spread import RunSpread, spread_of_pairs, spread_of_sides


def pool_sheets(sheets: Sequence[ScoreSheet]) -> ScoreSheet:
    """Make one sheet of several runs; each probe has the scores of all of them.

    Raises:
        BaselineError: they are not the same measurement, or one says nothing new.
    """
    first, *others = sheets
    if not others:
        return first
    for place, sheet in enumerate(others, start=1):
        for why in _refusals(first, sheet, sheets[:place]):
            raise BaselineError(f"{sheet.name} cannot be pooled with {first.name}: {why}")
    return replace(
        first,
        name=f"{len(sheets)} runs from {first.name} on",
        columns={cell: _pooled([s.columns[cell] for s in sheets]) for cell in first.columns},
        seeds=tuple(sheet.seed for sheet in sheets),
        noise=_noise(sheets),
    )


def _refusals(first: ScoreSheet, sheet: ScoreSheet, before: Sequence[ScoreSheet]) -> Iterator[str]:
    """Why a sheet cannot be pooled with those before it, the most telling reason first."""
    for kind in sorted({*first.instruments, *sheet.instruments}):
        mine, theirs = first.instruments.get(kind), sheet.instruments.get(kind)
        if mine != theirs:
            yield f"its {kind} is {theirs}, not {mine}"
    yield from _other_parts("scenario", first.scenarios, sheet.scenarios)
    yield from _other_parts("source of", first.strategies, sheet.strategies)
    if first.columns.keys() != sheet.columns.keys():
        yield "it has other budgets"
    if first.repeat != sheet.repeat:
        yield f"it has --repeat {sheet.repeat}, not {first.repeat}"
    if any((sheet.place, sheet.name) == (other.place, other.name) for other in before):
        yield "it is there twice"
    if not sheet.by_chance and any(sheet.seed == other.seed for other in before):
        model = sheet.instruments.get("model", "")
        yield f"it has seed {sheet.seed} again, with which {model} answers the same: try --seed"


def _other_parts(kind: str, mine: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*mine, *theirs}):
        if name not in theirs:
            yield f"it lacks {name}"
        elif name not in mine:
            yield f"it has {name} besides"
        elif mine[name] != theirs[name]:
            yield f"{kind} {name} differs"


def _noise(sheets: Sequence[ScoreSheet]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for sheet in sheets:
        for variant, metrics in sheet.noise.items():
            mine = found.setdefault(variant, {})
            for metric, value in metrics.items():
                mine[metric] = max(mine.get(metric, 0.0), value)
    return found


def _pooled(columns: Sequence[SheetColumn]) -> SheetColumn:
    units: dict[Unit, list[ProbeScores]] = {}
    amounts: dict[str, dict[str, tuple[float, ...]]] = {}
    for column in columns:
        for unit, seen in column.probes.items():
            units.setdefault(unit, []).append(seen)
        for scenario, metrics in column.amounts.items():
            mine = amounts.setdefault(scenario, {})
            for metric, values in metrics.items():
                mine[metric] = (*mine.get(metric, ()), *values)
    return replace(
        columns[0],
        probes={unit: _joined(seen) for unit, seen in units.items()},
        amounts=amounts,
        questions=sum(column.questions for column in columns),
        errors=sum(column.errors for column in columns),
        unread={metric: why for column in columns for metric, why in column.unread.items()},
        runs=tuple(columns),
    )


def _joined(seen: Sequence[ProbeScores]) -> ProbeScores:
    scores: dict[str, tuple[float, ...]] = {}
    for one in seen:
        for metric, values in one.scores.items():
            scores[metric] = (*scores.get(metric, ()), *values)
    missed = next((one for one in seen if one.reason), seen[0])
    return replace(missed, scores=scores, unscored=sum(one.unscored for one in seen))


def is_pooled(before: SheetColumn, after: SheetColumn) -> bool:
    """Whether either of two columns is of several runs."""
    return bool(before.runs or after.runs)


def spread_between(
    base: ScoreSheet,
    now: ScoreSheet,
    cells: tuple[Cell, Cell],
    value: Callable[[SheetColumn], float | None],
) -> RunSpread:
    """How far runs of two sheets lie apart; runs of one seed are partners.

    Args:
        base: one sheet.
        now: the other; at least one of them is of several runs.
        cells: the cell of each.
        value: what a run has to say of its column; None for nothing.
    """
    before = _values(base, cells[0], value)
    after = _values(now, cells[1], value)
    if len(before) == len(base.seeds) and sorted(base.seeds) == sorted(now.seeds):
        mine, theirs = dict(before), dict(after)
        if len(mine) == len(before) and mine.keys() == theirs.keys():
            return spread_of_pairs([theirs[seed] - mine[seed] for seed in sorted(mine)])
    return spread_of_sides([v for _, v in before], [v for _, v in after])


def _values(
    sheet: ScoreSheet, cell: Cell, value: Callable[[SheetColumn], float | None]
) -> list[tuple[int, float]]:
    column = sheet.columns[cell]
    seeds = sheet.seeds or (sheet.seed,)
    found = zip(seeds, map(value, column.runs or (column,)), strict=True)
    return [(seed, each) for seed, each in found if each is not None]
