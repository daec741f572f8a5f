"""Everything that checks are tried on, made by Hypothesis and shrunk by it."""

from __future__ import annotations

from memsim.testing.generators.configuring import behaviours, cases
from memsim.testing.generators.parts import files, ledgers, runs, shelves, values
from memsim.testing.generators.talking import conversations, written
from memsim.testing.generators.texts import odd, sayings

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
