"""Puts what a session found into a baseline, and leaves there what the session did not touch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.errors import BaselineError
from memsim.gate.pairing import pair_cells
from memsim.gate.sheet import CHANCE_REPEATS, by_chance

if TYPE_CHECKING:
    from memsim.config import Settings
    from memsim.gate.sheet import Cell, Column, Sheet
    from memsim.pytest_plugin.coverage import Unused


def check_updatable(settings: Settings) -> None:
    """Refuse to make a baseline of what says too little.

    Raises:
        BaselineError: the model answers by chance, and is asked too seldom.
    """
    if by_chance(settings.model) and settings.repeat < CHANCE_REPEATS:
        message = (
            f"model {settings.model} answers by chance:"
            f" a baseline needs --memsim-repeat {CHANCE_REPEATS} or more"
        )
        raise BaselineError(message)


def updated(base: Sheet | None, now: Sheet, unused: Unused | None) -> Sheet:
    """A baseline with a session's scores in place of those of the same cases.

    Args:
        base: the baseline as it is; None where there is none.
        now: what was played, and may be kept.
        unused: entries of the baseline that are taken out.

    Raises:
        BaselineError: other entries would have been measured by other means.
    """
    if base is None:
        return now
    out = unused.scenarios if unused else ()
    cells: dict[Cell, Column | None] = dict.fromkeys(base.columns)
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
    message = "model, tokenizer or metrics changed: update the baseline by a session of everything"
    return BaselineError(message)


def _merged(cell: Cell, base: Sheet, now: Sheet, out: tuple[str, ...]) -> Column:
    from memsim.gate.sheet import Column

    old, fresh = base.columns.get(cell, Column()), now.columns.get(cell, Column())
    gone = {*out, *fresh.amounts}
    probes = {unit: seen for unit, seen in old.probes.items() if unit[0] not in gone}
    amounts = {name: found for name, found in old.amounts.items() if name not in gone}
    return Column(
        probes=probes | dict(fresh.probes),
        amounts=amounts | dict(fresh.amounts),
        dataset=fresh.dataset or old.dataset,
    )


def _scenarios(base: Sheet, now: Sheet, columns: dict[Cell, Column]) -> dict[str, str]:
    held = {name for column in columns.values() for name in column.amounts}
    texts = dict(base.scenarios) | dict(now.scenarios)
    return {name: text for name, text in texts.items() if name in held}


def _names(now: Sheet) -> set[str]:
    from memsim.gate.comparing import variant

    return {variant(cell) for cell in now.columns}
