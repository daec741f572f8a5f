"""Invariants of agent memory, for property tests of one's own: needs Hypothesis.

::

    from memsim.testing import assert_holds, check

    def test_mine():
        assert_holds(check("strategies/mine.py@Mine"))

`memsim.testing.doubles`, memories that are broken on purpose, needs nothing but memsim.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.testing import invariants
    from memsim.testing.cases import (
        Case,
        Elapse,
        FileCase,
        Forgotten,
        Granted,
        Kept,
        LedgerCase,
        LedgerOp,
        RunCase,
        ShelfCase,
        Turn,
    )
    from memsim.testing.checking import (
        PROFILES,
        Checked,
        Profile,
        Result,
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
    "Checked",
    "CompactionMachine",
    "Elapse",
    "FileCase",
    "Forgotten",
    "Granted",
    "Invariant",
    "Kept",
    "LedgerCase",
    "LedgerOp",
    "NotApplicable",
    "Profile",
    "Result",
    "RunCase",
    "ShelfCase",
    "Subject",
    "Trial",
    "Turn",
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
    "Case": "memsim.testing.cases",
    "Checked": "memsim.testing.checking",
    "CompactionMachine": "memsim.testing.machine",
    "Elapse": "memsim.testing.cases",
    "FileCase": "memsim.testing.cases",
    "Forgotten": "memsim.testing.cases",
    "Granted": "memsim.testing.cases",
    "Invariant": "memsim.testing.invariants",
    "Kept": "memsim.testing.cases",
    "LedgerCase": "memsim.testing.cases",
    "LedgerOp": "memsim.testing.cases",
    "NotApplicable": "memsim.testing.invariants",
    "PROFILES": "memsim.testing.checking",
    "Profile": "memsim.testing.checking",
    "Result": "memsim.testing.checking",
    "RunCase": "memsim.testing.cases",
    "ShelfCase": "memsim.testing.cases",
    "Subject": "memsim.testing.worlds",
    "Trial": "memsim.testing.worlds",
    "Turn": "memsim.testing.cases",
    "Violation": "memsim.testing.invariants",
    "World": "memsim.testing.worlds",
    "assert_holds": "memsim.testing.checking",
    "cases": "memsim.testing.generators",
    "check": "memsim.testing.checking",
    "conversations": "memsim.testing.generators",
    "verify": "memsim.testing.checking",
    "world_of": "memsim.testing.checking",
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
