"""Invariants of agent memory, for property tests of one's own: needs Hypothesis.

::

    from memsim.testing import assert_holds, check

    def test_mine():
        assert_holds(check("strategies/mine.py@Mine"))
"""

from __future__ import annotations

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
from memsim.testing.worlds import Subject, Trial, World

__all__ = [
    "PROFILES",
    "Case",
    "Checked",
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
