"""Canaries that nobody planted are like any other, and stand where no script can."""

from __future__ import annotations

from memsim.canary import Matcher, is_control, mint, unplanted
from memsim.canary.mint import NOWHERE


def test_two_hundred_controls_come_from_the_seed() -> None:
    """The same seed gives the same, another gives others; none of them is like another."""
    controls = unplanted(7)

    assert len(controls) == 200
    assert controls == unplanted(7)
    assert controls[:5] == unplanted(7, 5)
    assert {c.token for c in controls}.isdisjoint(c.token for c in unplanted(8))
    assert len({c.token for c in controls}) == len({c.id for c in controls}) == 200


def test_controls_are_minted_as_all_are() -> None:
    """So what would find them by mistake would find others by mistake."""
    controls = unplanted(7, 3)

    assert list(controls) == [mint(7, NOWHERE, NOWHERE, str(n)) for n in range(3)]
    assert Matcher(controls).find(controls[1].statement)[0].canary == controls[1].id


def test_a_control_is_known_as_one() -> None:
    """No script's canary is."""
    assert all(map(is_control, unplanted(7, 3)))
    assert not is_control(mint(7, "clinic", "ana", "0"))
    assert not is_control(mint(7, "unplanted", "unplanted", "0"))
