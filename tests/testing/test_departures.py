"""What published designs break is declared, is really broken, and holds once it is repaired."""

from __future__ import annotations

import pytest

from memsim.testing import check
from memsim.testing.checking import subject_of

SYSTEMS = ("aegis", "agenticx", "agentscope", "cogtrix", "prx")
DEPARTING = [s for s in SYSTEMS if subject_of(s).claims.departs]


@pytest.mark.parametrize("system", DEPARTING)
def test_nothing_of_structure_is_broken_but_what_is_declared(system: str) -> None:
    """One that is not declared is red; that each is really broken, tests of fidelity show."""
    departs = subject_of(system).claims.departs
    checked = check(system, k=f"strategy and (structure or {' or '.join(departs)})")

    assert {r.invariant for r in checked.results if r.verdict == "declared"} <= set(departs)
    assert [] == [(r.invariant, r.why) for r in checked.results if r.verdict == "violated"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_repaired_holds(system: str) -> None:
    """With `fixed` nothing is declared, and nothing has to be."""
    repaired = f"{system}:fixed=true"
    checked = check(repaired, k="strategy and (structure or budget)")

    assert {} == subject_of(repaired).claims.departs
    assert [] == [(r.invariant, r.why) for r in checked.results if r.verdict == "violated"]
