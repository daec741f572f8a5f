"""Clauses of the contract: their names, rules and needs, and where they are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.adapters.http_contract import Capability
    from memsim.certification.visit import Visit

KIT = 2
"""The version of the kit: another one where a clause is added, dropped or changed."""

AREAS = (
    *("identity", "reading", "idempotence", "ordering", "isolation", "update", "deletion"),
    *("restart", "clock", "languages", "limits", "concurrency"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractClause:
    """One promise of the contract.

    Attributes:
        name: area and a word, such as `deletion.message`.
        rule: what holds, in one sentence.
        needs: the capabilities without which it does not apply.
        check: tries it; raises where it does not hold.
    """

    name: str
    rule: str
    needs: tuple[Capability, ...]
    check: Callable[[Visit], None]

    @property
    def area(self) -> str:
        """The part of the contract that it belongs to."""
        return self.name.partition(".")[0]


_KNOWN: dict[str, ContractClause] = {}


def clause(name: str, *needs: Capability) -> Callable[[Callable[[Visit], None]], ContractClause]:
    """Make a clause of a function whose docstring is the rule."""

    def make(check: Callable[[Visit], None]) -> ContractClause:
        rule = (check.__doc__ or "").strip()
        _KNOWN[name] = made = ContractClause(name=name, rule=rule, needs=needs, check=check)
        return made

    return make


@lru_cache(maxsize=1)
def all_clauses() -> tuple[ContractClause, ...]:
    """Every clause, by area; within an area as its file has them."""
    package = importlib.import_module("memsim.certification.clauses")
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return tuple(sorted(_KNOWN.values(), key=lambda each: AREAS.index(each.area)))
