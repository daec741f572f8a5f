"""Which entries of a baseline a session used, and which nothing uses any more.

An entry is unused only where the session could have used it: nothing was deselected, and its file
lies below what pytest was asked to run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.gate.pairing import pair_cells

if TYPE_CHECKING:
    import pytest

    from memsim.gate.sheet import Cell, Sheet
    from memsim.pytest_plugin.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """Entries of a baseline that nothing uses any more.

    Attributes:
        scenarios: as `path::name`.
        cells: strategies at a budget.
    """

    scenarios: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What a reader calls them."""
        from memsim.gate.comparing import variant

        return (*self.scenarios, *map(variant, self.cells))


def in_use(base: Sheet, now: Sheet) -> Sheet:
    """A baseline without what a session does not compare: it may have run a part."""
    used = {pair.base for pair in pair_cells(base, now) if pair.now and pair.base}
    return replace(
        base,
        scenarios={name: text for name, text in base.scenarios.items() if name in now.scenarios},
        columns={cell: column for cell, column in base.columns.items() if cell in used},
    )


def unused_entries(base: Sheet, now: Sheet, session: Session) -> Unused:
    """The entries of a baseline that a session could have used, and did not."""
    if session.narrowed or len(session.played) < len(session.planned):
        return Unused()
    config = session.config
    scenarios = [
        name
        for name in base.scenarios
        if name not in now.scenarios and _covered(config.rootpath / name.partition("::")[0], config)
    ]
    kept = {name for name in base.scenarios if name not in scenarios}
    if config.getoption("--memsim-strategy") or kept - now.scenarios.keys():
        return Unused(scenarios=tuple(scenarios))
    used = {pair.base for pair in pair_cells(base, now) if pair.now}
    return Unused(scenarios=tuple(scenarios), cells=tuple(c for c in base.columns if c not in used))


def _covered(path: Path, config: pytest.Config) -> bool:
    asked = [str(argument) for argument in config.args]
    if any("::" in argument for argument in asked):
        return False
    here = config.invocation_params.dir
    folders = [(here / argument).resolve() for argument in asked]
    return any(path.resolve().is_relative_to(folder) for folder in folders)
