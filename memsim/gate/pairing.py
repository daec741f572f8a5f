"""Which strategies, scenarios and probes of two sheets belong together, and which do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memsim.gate.findings import Stale
from memsim.gate.sheet import Cell, Sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A strategy at a budget, in both sheets or in one.

    Attributes:
        base, now: its cell in each; None where there is none.
        altered: what differs of the strategy.
    """

    base: Cell | None
    now: Cell | None
    altered: tuple[str, ...] = ()


def pair_cells(base: Sheet, now: Sheet) -> tuple[Pair, ...]:
    """The strategies of two sheets, the candidate's first, in its order.

    A strategy is its ref. Where parameters changed, the only one of that name on either side is
    still the same strategy: a window that was halved is what a gate is there to see.
    """
    renamed = _renamed(base, now)
    pairs = [Pair(base=_of(base, cell, renamed), now=cell) for cell in now.columns]
    taken = {pair.base for pair in pairs}
    pairs = [
        Pair(base=p.base, now=p.now, altered=_altered(base, now, p.base, p.now)) for p in pairs
    ]
    return (*pairs, *(Pair(base=c, now=None) for c in base.columns if c not in taken))


def _of(base: Sheet, cell: Cell, renamed: Mapping[Cell, Cell]) -> Cell | None:
    return cell if cell in base.columns else renamed.get(cell)


def _renamed(base: Sheet, now: Sheet) -> dict[Cell, Cell]:
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
        found.setdefault((_name(strategy), budget), []).append((strategy, budget))
    return found


def _name(strategy: str) -> str:
    return strategy.partition(":")[0]


def _altered(base: Sheet, now: Sheet, before: Cell | None, after: Cell | None) -> tuple[str, ...]:
    if before is None or after is None:
        return ()
    altered = ["parameters"] if before[0] != after[0] else []
    if base.strategies.get(before[0]) != now.strategies.get(after[0]):
        altered.append("source")
    return tuple(altered)


def stale_parts(base: Sheet, now: Sheet) -> tuple[Stale, ...]:
    """What measured otherwise in the two, then the scenarios whose text changed."""
    kinds = sorted({*base.instruments, *now.instruments})
    instruments = [
        Stale(kind=kind, base=base.instruments.get(kind, ""), now=now.instruments.get(kind, ""))
        for kind in kinds
        if base.instruments.get(kind) != now.instruments.get(kind)
    ]
    changed = [
        Stale(kind="scenario", name=name)
        for name, fingerprint in now.scenarios.items()
        if base.scenarios.get(name, fingerprint) != fingerprint
    ]
    return (*instruments, *changed)


def common_scenarios(base: Sheet, now: Sheet) -> frozenset[str]:
    """The scenarios that both have, word for word."""
    return frozenset(n for n, f in now.scenarios.items() if base.scenarios.get(n) == f)
