"""The sixty invariants: named functions by family, found by number, name or tag.

A function takes a `Trial` of a strategy, or a case for a part of `memsim.memory`. It gives how much
it looked at, and raises `Violation` where the invariant does not hold.
"""

from __future__ import annotations

from memsim.testing.invariants import (
    acl,
    budget,
    budget_parts,
    coverage,
    coverage_parts,
    hygiene,
    ledger,
    offload,
    persistence,
    persistence_parts,
    pins,
    run,
    runs,
    structure,
    structure_parts,
    text,
)
from memsim.testing.registry import COUNT, Invariant, NotApplicable, Violation, invariant, known

__all__ = [
    "COUNT",
    "Invariant",
    "NotApplicable",
    "Violation",
    "acl",
    "budget",
    "budget_parts",
    "coverage",
    "coverage_parts",
    "hygiene",
    "invariant",
    "known",
    "ledger",
    "offload",
    "persistence",
    "persistence_parts",
    "pins",
    "run",
    "runs",
    "structure",
    "structure_parts",
    "text",
]
