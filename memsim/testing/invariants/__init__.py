"""The sixty invariants: named functions by family, found by number, name or tag.

A function takes a `Trial` of a strategy, or a case for a part of `memsim.memory`. It gives how much
it looked at, and raises `Violation` where the invariant does not hold.
"""

from __future__ import annotations

from memsim.testing.invariant_catalogue import (
    COUNT,
    Invariant,
    NotApplicable,
    Violation,
    invariant,
    known,
)
from memsim.testing.invariants import (
    attribution,
    budget,
    characters,
    compaction_steps,
    failure_reports,
    growth,
    injection_ledger,
    isolation,
    own_delimiters,
    persistence,
    pins,
    processes,
    refusals,
    repetition,
    reproducibility,
    revocation,
    saved_states,
    store_hygiene,
    structure,
    summary_coverage,
    summary_replies,
)

__all__ = [
    "COUNT",
    "Invariant",
    "NotApplicable",
    "Violation",
    "attribution",
    "budget",
    "characters",
    "compaction_steps",
    "failure_reports",
    "growth",
    "injection_ledger",
    "invariant",
    "isolation",
    "known",
    "own_delimiters",
    "persistence",
    "pins",
    "processes",
    "refusals",
    "repetition",
    "reproducibility",
    "revocation",
    "saved_states",
    "store_hygiene",
    "structure",
    "summary_coverage",
    "summary_replies",
]
