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
    from memsim.testing.twists import assert_steady, twist
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
    "assert_steady",
    "cases",
    "check",
    "conversations",
    "invariants",
    "twist",
    "verify",
    "world_of",
]

_HOMES = {
    "check_cases": (
        *("Case", "CaseElapse", "CaseForget", "CaseGrant", "CaseTurn", "FileCase", "LedgerCase"),
        *("LedgerOp", "RunCase", "ShelfCase", "ShelfEntry"),
    ),
    "checks": (
        *("PROFILES", "CheckProfile", "CheckReport", "CheckResult", "assert_holds", "check"),
        *("verify", "world_of"),
    ),
    "generators": ("cases", "conversations"),
    "invariants": ("Invariant", "NotApplicable", "Violation"),
    "machine": ("CompactionMachine",),
    "twists": ("assert_steady", "twist"),
    "worlds": ("Subject", "Trial", "World"),
}
_LATE = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}

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
