"""Hypothesis strategies that generate and shrink the cases of checks."""

from __future__ import annotations

from memsim.testing.generators.awkward_texts import odd
from memsim.testing.generators.generated_cases import (
    behaviours,
    cases,
    files,
    ledgers,
    runs,
    shelves,
    values,
)
from memsim.testing.generators.generated_conversations import conversations, sayings, written

__all__ = [
    "behaviours",
    "cases",
    "conversations",
    "files",
    "ledgers",
    "odd",
    "runs",
    "sayings",
    "shelves",
    "values",
    "written",
]
