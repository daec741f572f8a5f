"""Defects of contexts: each broken diary is found at the default profile, the honest one not."""

from __future__ import annotations

import pytest

from memsim.testing import PROFILES, Case, Violation
from memsim.testing.checks import case_of
from memsim.testing.claims import claims_of
from memsim.testing.invariants import invariant
from memsim.testing.worlds import Subject, Trial
from tests.doubles.context_faults import CONTEXT_FAULTS
from tests.doubles.diary import Diary
from tests.doubles.text_faults import TEXT_FAULTS

COMMIT = PROFILES["commit"]
FAULTS = {**TEXT_FAULTS, **CONTEXT_FAULTS}
PAIRS = [(name, kind) for name, kinds in FAULTS.items() for kind in kinds]
QUICK = [(name, kinds[0]) for name, kinds in FAULTS.items() if name in {"order", "adjacency"}]


def broken(name: str, kind: type[Diary], case: Case) -> str:
    """What an invariant finds in a case; empty where it holds."""
    subject = Subject(ref=kind.__name__, make=kind, claims=claims_of(kind, "diary", {}))
    trial = Trial(subject, case)
    try:
        invariant(name).measure(trial)
    except Violation as found:
        return str(found)
    finally:
        trial.close()
    return ""


def found_in(name: str, kind: type[Diary]) -> Case:
    """The first case of the default profile that tells."""
    for number in range(COMMIT.examples):
        case = case_of("strategy", COMMIT.steps, 7, number)
        assert isinstance(case, Case)
        if broken(name, kind, case):
            return case
    raise AssertionError(f"{kind.__name__} is not found by {name}")


@pytest.mark.parametrize(("name", "kind"), QUICK)
def test_a_broken_diary_is_found(name: str, kind: type[Diary]) -> None:
    """And in the case that tells, nothing is found in the honest diary."""
    assert not broken(name, Diary, found_in(name, kind))


@pytest.mark.parametrize(("name", "kind"), [pair for pair in PAIRS if pair not in QUICK])
def test_each_defect_of_a_context_is_found(name: str, kind: type[Diary]) -> None:
    """By the invariant that names it, which accuses the honest diary of nothing."""
    assert not broken(name, Diary, found_in(name, kind))
