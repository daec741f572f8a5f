"""Find the largest setting that a test still passes, in few tries."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from memsim.fast_dataclass import fast_init

NEAR = 0.1
"""How near the answer is to the true one, as a share of it; and the share of a grid to play."""

FEW = 200
"""Settings of a dial below which steps are larger: a tenth of a short grid is little."""

BEGIN = 4
"""Settings above the least at which a staircase begins."""

TRIES = 10
"""Settings that may be tried of any dial. Closing in on the limit of a long one may take more."""

_SLIP = 1e-9
"""What a sum of shares may lack of the bar by rounding."""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseResult:
    """Where a test breaks.

    Attributes:
        holds: the largest setting that passed; None where even the least failed.
        open: whether the largest setting of all that were tried passed: the limit is beyond it.
        tries: how many settings were tried.
    """

    holds: int | None
    open: bool
    tries: int


Staircase = Generator[int, float, StaircaseResult]
"""Yields settings to try, and is sent the share of the test that each passed."""


class Level(NamedTuple):
    """Settings that stand side by side on a falling curve, and the share of all of them."""

    share: float
    settings: tuple[int, ...]

    @property
    def middle(self) -> float:
        """Where the curve has the share for certain: the middle of the settings."""
        return fmean(self.settings)


def falling_fit(shares: Mapping[int, float]) -> tuple[Level, ...]:
    """The curve nearest to the shares, by least squares, that never rises with the setting.

    This is isotonic regression by pooling adjacent violators. Where a share rises again, the
    settings that contradict each other have their mean.
    """
    levels: list[Level] = []
    for setting in sorted(shares):
        level = Level(shares[setting], (setting,))
        while levels and levels[-1].share < level.share:
            before = levels.pop()
            settings = before.settings + level.settings
            count = len(before.settings)
            share = (before.share * count + level.share * len(level.settings)) / len(settings)
            level = Level(share, settings)
        levels.append(level)
    return tuple(levels)


def limit_of(shares: Mapping[int, float], bar: float) -> StaircaseResult:
    """Where the falling curve through the shares crosses a bar, in the last level that holds.

    Between the middles of two levels the curve is straight. So one share more or less, where
    shares go up and down around the bar, does not move the limit from one end of them to the other.
    """
    levels = falling_fit(shares)
    above = [level for level in levels if level.share >= bar - _SLIP]
    if len(above) in {0, len(levels)}:
        holds = max(shares) if above else None
        return StaircaseResult(holds=holds, open=bool(above), tries=len(shares))
    last, below = above[-1], levels[len(above)]
    way = max(0.0, last.share - bar) / (last.share - below.share)
    crossed = int(last.middle + way * (below.middle - last.middle) + _SLIP)
    holds = min(crossed, last.settings[-1])
    return StaircaseResult(holds=holds, open=False, tries=len(shares))


def staircase(least: int, most: int, bar: float) -> Staircase:
    """Enlarge the setting until the falling curve crosses the bar, and then close in on it.

    It begins a few settings above the least, which most memories hold. The setting is doubled, and
    on a dial of few settings the steps are three times as large each time. The gap at the crossing
    is halved until it is a tenth, in no more tries than a tenth of all settings, or ten. Then
    settings a sixth, a third and a half below and above the limit are tried too, up to ten in all.
    All that was tried moves the curve, and the gap is closed where the crossing is then.
    """
    shares: dict[int, float] = {}
    few = most - least < FEW
    setting = min(most, least + BEGIN)
    step = max(1, setting)
    shares[setting] = yield setting
    while setting < most and _crossing(shares, bar)[1] is None:
        setting, step = min(most, setting + step), step * (3 if few else 2)
        shares[setting] = yield setting
    while (tried := _next(shares, bar, least, most)) is not None:
        shares[tried] = yield tried
    return limit_of(shares, bar)


def _next(shares: Mapping[int, float], bar: float, least: int, most: int) -> int | None:
    """The next setting to try; None once the limit is known near enough."""
    low, high = _crossing(shares, bar)
    if low is None:
        return None if least in shares else least
    near = max(1, int(NEAR * low))
    if high is not None and high - low > near:
        enough = max(TRIES, int(NEAR * (most - least + 1)))
        return (low + high) // 2 if len(shares) < enough else None
    if len(shares) >= TRIES:
        return None
    beside = (way * (low // part) for part in (6, 3, 2) for way in (-1, 1))
    return next(
        (
            one
            for one in (low + far for far in beside)
            if least <= one <= most and all(abs(one - tried) > near / 3 for tried in shares)
        ),
        None,
    )


def _crossing(shares: Mapping[int, float], bar: float) -> tuple[int | None, int | None]:
    """The largest setting that holds on the falling curve, and the least that does not."""
    levels = falling_fit(shares)
    holds = [level.settings[-1] for level in levels if level.share >= bar - _SLIP]
    fails = [level.settings[0] for level in levels if level.share < bar - _SLIP]
    return (holds[-1] if holds else None), (fails[0] if fails else None)
