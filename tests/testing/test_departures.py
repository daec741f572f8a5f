"""What published designs break is declared, is really broken, and holds once it is repaired."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memsim.testing import PROFILES, check
from memsim.testing.subjects import subject_of

SYSTEMS = ("aegis", "agenticx", "agentscope", "cogtrix", "prx")
AS_FOUND = replace(PROFILES["commit"], patience=0)
"""The default profile, but that no case is made simpler: which case shows it is not looked at."""
DEPARTING = [s for s in SYSTEMS if subject_of(s).claims.departs]

RARE = {
    "agenticx": {"progress"},
    "agentscope": {"failure_keeps_state", "progress", "within_budget"},
    "cogtrix": {"progress"},
    "prx": {"grant_and_revoke", "non_interference"},
}
"""What so few cases do not come upon: `tests/fidelity/breaking.py` plays each in a conversation."""


@pytest.mark.parametrize("system", DEPARTING)
def test_what_is_declared_is_broken_and_nothing_else_of_structure_is(system: str) -> None:
    """A departure that no case shows any more is taken back; one that is not declared is red."""
    departs = subject_of(system).claims.departs
    wanted = f"strategy and (structure or {' or '.join(departs)})"
    checked = check(system, k=wanted, profile=AS_FOUND)

    found = {r.invariant for r in checked.results if r.verdict == "declared"}
    assert set(departs) - RARE.get(system, set()) == found
    assert [] == [(r.invariant, r.why) for r in checked.results if r.verdict == "violated"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_repaired_holds(system: str) -> None:
    """With `fixed` nothing is declared, and nothing has to be."""
    repaired = f"{system}:fixed=true"
    checked = check(repaired, k="strategy and (structure or budget)", profile=AS_FOUND)

    assert {} == subject_of(repaired).claims.departs
    assert [] == [(r.invariant, r.why) for r in checked.results if r.verdict == "violated"]
