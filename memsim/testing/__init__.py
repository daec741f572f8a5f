"""Property tests of a memory against invariants; needs Hypothesis.

::

    from memsim.testing import assert_holds, check

    def test_mine():
        assert_holds(check("strategies/mine.py@Mine"))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.testing import invariants
    from memsim.testing.check_cases import (
        Case,
        CaseElapse,
        CaseForget,
        CaseGrant,
        CaseTurn,
        FileCase,
        LedgerCase,
        LedgerOp,
        RunCase,
        ShelfCase,
        ShelfEntry,
    )
    from memsim.testing.checks import (
        PROFILES,
        CheckProfile,
        CheckReport,
        CheckResult,
        assert_holds,
        check,
        verify,
        world_of,
    )
    from memsim.testing.generators import cases, conversations
    from memsim.testing.invariants import Invariant, NotApplicable, Violation
    from memsim.testing.machine import CompactionMachine
    from memsim.testing.worlds import Subject, Trial, World

__all__ = [
    "PROFILES",
    "Case",
    "CaseElapse",
    "CaseForget",
    "CaseGrant",
    "CaseTurn",
    "CheckProfile",
    "CheckReport",
    "CheckResult",
    "CompactionMachine",
    "FileCase",
    "Invariant",
    "LedgerCase",
    "LedgerOp",
    "NotApplicable",
    "RunCase",
    "ShelfCase",
    "ShelfEntry",
    "Subject",
    "Trial",
    "Violation",
    "World",
    "assert_holds",
    "cases",
    "check",
    "conversations",
    "invariants",
    "verify",
    "world_of",
]

_LATE = {
    "Case": "memsim.testing.check_cases",
    "CheckReport": "memsim.testing.checks",
    "CompactionMachine": "memsim.testing.machine",
    "CaseElapse": "memsim.testing.check_cases",
    "FileCase": "memsim.testing.check_cases",
    "CaseForget": "memsim.testing.check_cases",
    "CaseGrant": "memsim.testing.check_cases",
    "Invariant": "memsim.testing.invariants",
    "ShelfEntry": "memsim.testing.check_cases",
    "LedgerCase": "memsim.testing.check_cases",
    "LedgerOp": "memsim.testing.check_cases",
    "NotApplicable": "memsim.testing.invariants",
    "PROFILES": "memsim.testing.checks",
    "CheckProfile": "memsim.testing.checks",
    "CheckResult": "memsim.testing.checks",
    "RunCase": "memsim.testing.check_cases",
    "ShelfCase": "memsim.testing.check_cases",
    "Subject": "memsim.testing.worlds",
    "Trial": "memsim.testing.worlds",
    "CaseTurn": "memsim.testing.check_cases",
    "Violation": "memsim.testing.invariants",
    "World": "memsim.testing.worlds",
    "assert_holds": "memsim.testing.checks",
    "cases": "memsim.testing.generators",
    "check": "memsim.testing.checks",
    "conversations": "memsim.testing.generators",
    "verify": "memsim.testing.checks",
    "world_of": "memsim.testing.checks",
}

if not TYPE_CHECKING:  # for a type checker the names above are all there are

    def __getattr__(name: str) -> object:
        # Hypothesis is an extra, and what does without it has to stay importable without it.
        if name == "invariants":
            return importlib.import_module("memsim.testing.invariants")
        if name in _LATE:
            return getattr(importlib.import_module(_LATE[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
