"""Update a baseline with the scores of a session, and keep its entries of other cases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from memsim.config import Settings
from memsim.errors import BaselineError
from memsim.gate.score_sheet import (
    CHANCE_REPEATS,
    Cell,
    ScoreSheet,
    SheetColumn,
    by_chance,
    pair_cells,
)
from memsim.pytest_plugin.scenario_session import ScenarioSession


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedEntries:
    """Entries of a baseline that no case uses any more."""

    scenarios: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the entries, for messages."""
        from memsim.gate.metric_comparison import variant

        return (*self.scenarios, *map(variant, self.cells))


def in_use(base: ScoreSheet, now: ScoreSheet) -> ScoreSheet:
    """The part of a baseline that a session compares, because it may play a part of the suite."""
    used = {pair.base for pair in pair_cells(base, now) if pair.now and pair.base}
    return replace(
        base,
        scenarios={name: text for name, text in base.scenarios.items() if name in now.scenarios},
        columns={cell: column for cell, column in base.columns.items() if cell in used},
    )


def unused_entries(base: ScoreSheet, now: ScoreSheet, session: ScenarioSession) -> UnusedEntries:
    """The entries of a baseline that a complete session did not use."""
    if session.narrowed or len(session.played) < len(session.planned):
        return UnusedEntries()
    config = session.config
    scenarios = [
        name
        for name in base.scenarios
        if name not in now.scenarios and _covered(config.rootpath / name.partition("::")[0], config)
    ]
    kept = {name for name in base.scenarios if name not in scenarios}
    if config.getoption("--memsim-strategy") or kept - now.scenarios.keys():
        return UnusedEntries(scenarios=tuple(scenarios))
    used = {pair.base for pair in pair_cells(base, now) if pair.now}
    return UnusedEntries(
        scenarios=tuple(scenarios), cells=tuple(c for c in base.columns if c not in used)
    )


def _covered(path: Path, config: pytest.Config) -> bool:
    asked = [str(argument) for argument in config.args]
    if any("::" in argument for argument in asked):
        return False
    here = config.invocation_params.dir
    folders = [(here / argument).resolve() for argument in asked]
    return any(path.resolve().is_relative_to(folder) for folder in folders)


def check_updatable(settings: Settings) -> None:
    """Refuse to update a baseline with too few repeats."""
    if by_chance(settings.model) and settings.repeat < CHANCE_REPEATS:
        message = (
            f"model {settings.model} answers by chance:"
            f" a baseline needs --memsim-repeat {CHANCE_REPEATS} or more"
        )
        raise BaselineError(message)


def updated(base: ScoreSheet | None, now: ScoreSheet, unused: UnusedEntries | None) -> ScoreSheet:
    """A baseline in which the session's scores replace those of the same cases."""
    if base is None:
        return now
    out = unused.scenarios if unused else ()
    cells: dict[Cell, SheetColumn | None] = dict.fromkeys(base.columns)
    for cell in unused.cells if unused else ():
        cells.pop(cell)
    for pair in pair_cells(base, now):
        if pair.now is not None and pair.base is not None and pair.now != pair.base:
            cells.pop(pair.base, None)  # its parameters changed: it is the same strategy
    columns = {
        cell: column
        for cell in dict.fromkeys((*cells, *now.columns))
        if (column := _merged(cell, base, now, out)).amounts
    }
    sheet = replace(
        now,
        columns=columns,
        scenarios=_scenarios(base, now, columns),
        strategies={
            ref: sha
            for ref, sha in (dict(base.strategies) | dict(now.strategies)).items()
            if any(ref == strategy for strategy, _ in columns)
        },
        noise={name: found for name, found in base.noise.items() if name not in _names(now)},
    )
    if base.instruments != now.instruments and sheet.columns.keys() - now.columns.keys():
        raise _mixed()
    if base.instruments != now.instruments and sheet.scenarios.keys() - now.scenarios.keys():
        raise _mixed()
    return sheet


def _mixed() -> BaselineError:
    message = "model, tokenizer or metrics changed: run all scenarios to update the baseline"
    return BaselineError(message)


def _merged(cell: Cell, base: ScoreSheet, now: ScoreSheet, out: tuple[str, ...]) -> SheetColumn:
    from memsim.gate.score_sheet import SheetColumn

    old, fresh = base.columns.get(cell, SheetColumn()), now.columns.get(cell, SheetColumn())
    gone = {*out, *fresh.amounts}
    probes = {unit: seen for unit, seen in old.probes.items() if unit[0] not in gone}
    amounts = {name: found for name, found in old.amounts.items() if name not in gone}
    return SheetColumn(
        probes=probes | dict(fresh.probes),
        amounts=amounts | dict(fresh.amounts),
        dataset=fresh.dataset or old.dataset,
    )


def _scenarios(
    base: ScoreSheet, now: ScoreSheet, columns: dict[Cell, SheetColumn]
) -> dict[str, str]:
    held = {name for column in columns.values() for name in column.amounts}
    texts = dict(base.scenarios) | dict(now.scenarios)
    return {name: text for name, text in texts.items() if name in held}


def _names(now: ScoreSheet) -> set[str]:
    from memsim.gate.metric_comparison import variant

    return {variant(cell) for cell in now.columns}
