"""Find the largest setting that a test still passes, in few tries."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import NamedTuple

from memsim.fast_dataclass import fast_init

NEAR = 0.1
"""How near the answer is to the true one, as a share of it."""

FEW = 200
"""Settings of a dial below which fewer are looked at again: a tenth of a short grid is little."""


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

    On a dial of few settings the steps are three times as large each time. Then settings a tenth
    apart are tried from two thirds of that on. The first that fails counts: a memory may break, and
    pass again behind it. Where one breaks still earlier is not noticed.

    With `start`, what is tried first is near it, in steps of a tenth that double: a like test broke
    there.
    """
    tries = _Tries(least, most)
    if start is None or start <= least:
        bracket = yield from _upwards(tries, least, max(1, least))
    else:
        step = max(1, int(NEAR * start))
        bracket = yield from _upwards(tries, start, step)
        if bracket.low is None:
            bracket = yield from _downwards(tries, start, step)
    bracket = yield from _halved(tries, bracket)
    while bracket.low is not None:
        earlier = yield from _earlier(tries, bracket.low)
        if earlier is None:
            break
        bracket = yield from _halved(tries, earlier)
    low = bracket.low
    return StaircaseResult(holds=low, open=low == most, tries=len(tries.known))


class _Bracket(NamedTuple):
    """The largest setting that passed, if any did, and the least that failed."""

    low: int | None
    high: int


@dataclass(slots=True)
class _Tries:
    least: int
    most: int
    known: dict[int, bool] = field(default_factory=dict)

    @property
    def few(self) -> bool:
        """Whether a tenth of all settings is little."""
        return self.most - self.least < FEW

    def passes(self, setting: int) -> Generator[int, bool, bool]:
        if setting not in self.known:
            self.known[setting] = yield setting
        return self.known[setting]


def _halved(tries: _Tries, bracket: _Bracket) -> Generator[int, bool, _Bracket]:
    """Halve the distance between what passed and what failed until it is a tenth."""
    low, high = bracket
    while low is not None and high <= tries.most and high - low > max(1, int(NEAR * low)):
        middle = (low + high) // 2
        if (yield from tries.passes(middle)):
            low = middle
        else:
            high = middle
    return _Bracket(low, high)


def _earlier(tries: _Tries, low: int) -> Generator[int, bool, _Bracket | None]:
    """The first of the settings from two thirds of one on that fails; None where all pass."""
    before, tried = None, max(tries.least, low - low // 3)
    while tried < low:
        if not (yield from tries.passes(tried)):
            if before is None:
                return (yield from _downwards(tries, tried, max(1, int(NEAR * tried))))
            return _Bracket(before, tried)
        before, tried = tried, tried + _stride(tries, tried)
    return None


def _stride(tries: _Tries, tried: int) -> int:
    """A tenth of a setting: rounded up where a dial has few settings, and else down."""
    return max(1, math.ceil(NEAR * tried) if tries.few else int(NEAR * tried))


def _upwards(tries: _Tries, start: int, step: int) -> Generator[int, bool, _Bracket]:
    """Go up from a setting, by steps that double, until one fails."""
    low, tried = None, start
    while (yield from tries.passes(tried)):
        low = tried
        if low == tries.most:
            return _Bracket(low, tries.most + 1)
        tried = min(tries.most, low + step)
        step *= 3 if tries.few else 2
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
