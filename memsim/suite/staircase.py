"""Find the largest setting that a test still passes, in few tries."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from memsim.fast_dataclass import fast_init

NEAR = 0.1
"""How near the answer is to the true one, as a share of it."""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseResult:
    """Where a test breaks.

    Attributes:
        holds: the largest setting that passed; None where even the least failed.
        open: whether the largest setting of all passed, so that the limit is beyond it.
        tries: how many settings were tried.
    """

    holds: int | None
    open: bool
    tries: int


Staircase = Generator[int, bool, StaircaseResult]
"""Yields settings to try, and is sent whether each passed."""


def staircase(least: int, most: int) -> Staircase:
    """Double the setting until it fails, then halve the distance to the last that passed.

    A test that passes again behind a failure is not noticed: the limit is the first that is met.
    """
    passed = yield least
    tries = 1
    if not passed:
        return StaircaseResult(holds=None, open=False, tries=tries)
    low, step = least, max(1, least)
    high = most + 1
    while low < most:
        tried = min(most, low + step)
        tries += 1
        if not (yield tried):
            high = tried
            break
        low, step = tried, 2 * step
    while high <= most and high - low > max(1, int(NEAR * low)):
        middle = (low + high) // 2
        tries += 1
        if (yield middle):
            low = middle
        else:
            high = middle
    return StaircaseResult(holds=low, open=low == most, tries=tries)
