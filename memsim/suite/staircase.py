"""Find the largest setting that a test still passes, in few tries."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

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


def staircase(least: int, most: int, start: int | None = None) -> Staircase:
    """Double the setting until it fails, then halve the distance to the last that passed.

    With `start`, what is tried first is near it, in steps of a tenth that double: a like test broke
    there. A test that passes again behind a failure is not noticed: the limit is one that is met.
    """
    tries = _Tries(least, most)
    if start is None or start <= least:
        bracket = yield from _upwards(tries, least, max(1, least))
    else:
        step = max(1, int(NEAR * start))
        bracket = yield from _upwards(tries, start, step)
        if bracket.low is None:
            bracket = yield from _downwards(tries, start, step)
    low, high = bracket
    while low is not None and high <= most and high - low > max(1, int(NEAR * low)):
        middle = (low + high) // 2
        if (yield from tries.passes(middle)):
            low = middle
        else:
            high = middle
    return StaircaseResult(holds=low, open=low == most, tries=tries.made)


class _Bracket(NamedTuple):
    """The largest setting that passed, if any did, and the least that failed."""

    low: int | None
    high: int


@dataclass(slots=True)
class _Tries:
    least: int
    most: int
    made: int = 0

    def passes(self, setting: int) -> Generator[int, bool, bool]:
        self.made += 1
        return (yield setting)


def _upwards(tries: _Tries, start: int, step: int) -> Generator[int, bool, _Bracket]:
    """Go up from a setting, by steps that double, until one fails."""
    low, tried = None, start
    while (yield from tries.passes(tried)):
        low = tried
        if low == tries.most:
            return _Bracket(low, tries.most + 1)
        tried = min(tries.most, low + step)
        step *= 2
    return _Bracket(low, tried)


def _downwards(tries: _Tries, failed: int, step: int) -> Generator[int, bool, _Bracket]:
    """Go down from a setting that failed, by steps that double, until one passes."""
    high = failed
    while high > tries.least:
        tried = max(tries.least, high - step)
        if (yield from tries.passes(tried)):
            return _Bracket(tried, high)
        high, step = tried, 2 * step
    return _Bracket(None, high)
