"""Find the largest setting that a test still passes, in few tries."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from memsim.fast_dataclass import fast_init

NEAR = 0.1
"""How near the answer is to the true one, as a share of it; and the share of a grid to play."""

FEW = 200
"""Settings of a dial below which steps are larger: a tenth of a short grid is little."""

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


def falling_fit(shares: Mapping[int, float]) -> dict[int, float]:
    """The curve nearest to the shares, by least squares, that never rises with the setting.

    This is isotonic regression by pooling adjacent violators. Where a share rises again, the
    settings that contradict each other have their mean.
    """
    blocks: list[tuple[float, int]] = []
    for setting in sorted(shares):
        block = shares[setting], 1
        while blocks and blocks[-1][0] < block[0]:
            before = blocks.pop()
            count = before[1] + block[1]
            block = (before[0] * before[1] + block[0] * block[1]) / count, count
        blocks.append(block)
    fitted = (share for share, count in blocks for _ in range(count))
    return dict(zip(sorted(shares), fitted, strict=True))


def limit_of(shares: Mapping[int, float], bar: float) -> StaircaseResult:
    """Where the falling curve through the shares crosses a bar."""
    holds, _ = _crossing(shares, bar)
    return StaircaseResult(holds=holds, open=holds == max(shares), tries=len(shares))


def staircase(least: int, most: int, bar: float) -> Staircase:
    """Enlarge the setting until the falling curve crosses the bar, and then close in on it.

    The setting is doubled, and on a dial of few settings the steps are three times as large each
    time. The gap at the crossing is halved until it is a tenth. As far as a tenth of all settings
    allows, settings a third and a sixth below and above the limit are tried too, where none has
    been. All that was tried moves the curve, and the gap is closed where the crossing is then.
    """
    shares: dict[int, float] = {}
    few = most - least < FEW
    setting, step = least, max(1, least)
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
        return None
    near = max(1, int(NEAR * low))
    if high is not None and high - low > near:
        return (low + high) // 2
    if len(shares) >= NEAR * (most - least + 1) - 1:
        return None
    beside = (low - low // 3, low - low // 6, low + low // 6, low + low // 3)
    return next(
        (one for one in beside if least <= one <= most and _is_new(one, shares, near)), None
    )


def _is_new(setting: int, shares: Mapping[int, float], near: int) -> bool:
    return all(abs(setting - tried) > near / 2 for tried in shares)


def _crossing(shares: Mapping[int, float], bar: float) -> tuple[int | None, int | None]:
    """The largest setting that holds on the falling curve, and the least that does not."""
    fit = falling_fit(shares)
    holds = [setting for setting, share in fit.items() if share >= bar - _SLIP]
    fails = [setting for setting, share in fit.items() if share < bar - _SLIP]
    return (max(holds) if holds else None), (min(fails) if fails else None)
