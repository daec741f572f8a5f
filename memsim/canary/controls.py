"""Canaries that nobody planted: finding one means that the matcher is wrong, not the memory."""

from __future__ import annotations

from memsim.canary.mint import Canary, mint

UNPLANTED = 200
NOWHERE = "\x00unplanted"
"""A scenario and an owner that no script can have."""


def unplanted(seed: int, count: int = UNPLANTED) -> tuple[Canary, ...]:
    """The negative controls of a run: to be searched for on every surface, and found on none.

    Args:
        seed: of the run.
        count: how many.
    """
    return tuple(mint(seed, NOWHERE, NOWHERE, str(number)) for number in range(count))


def is_control(canary: Canary) -> bool:
    """Whether it was never planted."""
    return canary.owner == NOWHERE
