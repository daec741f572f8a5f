"""A clock, random numbers and drawn names that fail by a schedule."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from memsim.clock import Clock

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.testing.faults import Schedule

ChanceFault = Literal["another", "exhausted"]
"""What another seed gives; nothing but zeros."""


class FailingRandom(random.Random):
    """Random numbers whose draws are on a schedule.

    Args:
        seed: of the numbers.
        schedule: says which draws fail; persistently, all from one on.
        fault: what a failing draw gives.
    """

    def __init__(self, seed: int, schedule: Schedule, fault: ChanceFault) -> None:
        super().__init__(seed)
        self._schedule = schedule
        self._other = random.Random(f"another/{seed}") if fault == "another" else None

    def random(self) -> float:
        """A number from 0 up to 1, or what the fault is."""
        drawn = super().random()
        if not self._schedule.fails("random"):
            return drawn
        return self._other.random() if self._other else 0.0

    def getrandbits(self, k: int, /) -> int:
        """So many random bits, or what the fault is."""
        drawn = super().getrandbits(k)
        if not self._schedule.fails("getrandbits"):
            return drawn
        return self._other.getrandbits(k) if self._other else 0


@contextmanager
def failing_names(schedule: Schedule) -> Iterator[None]:
    """Names of new files and folders, which the system draws, are now and then those of before.

    Args:
        schedule: counts the names, and says which are the first one again.
    """
    real = secrets.token_hex
    first: list[str] = []

    def token_hex(nbytes: int | None = None) -> str:
        drawn = real(nbytes)
        first.append(drawn)
        return first[0] if schedule.fails("name") else drawn

    setattr(secrets, "token_hex", token_hex)  # noqa: B010 - the type checker knows it as a function
    try:
        yield
    finally:
        setattr(secrets, "token_hex", real)  # noqa: B010 - as above


ClockFault = Literal["back", "leap", "still"]
"""An hour ago; in ten years; the very instant of the reading before."""

_OFF = {"back": timedelta(hours=-1), "leap": timedelta(days=3652)}


class FailingClock(Clock):
    """A clock whose readings are on a schedule; it goes on with another, as that is set.

    Args:
        clock: the right time.
        schedule: says which readings are wrong; persistently, all from one on.
        fault: how they are wrong.
    """

    def __init__(self, clock: Clock, schedule: Schedule, fault: ClockFault) -> None:
        super().__init__(clock.now())
        self._clock = clock
        self._schedule = schedule
        self._fault = fault
        self._before = clock.now()

    def now(self) -> datetime:
        """The present instant, or another."""
        right = self._clock.now()
        if not self._schedule.fails("now"):
            self._before = right
            return right
        return self._before if self._fault == "still" else right + _OFF[self._fault]

    def advance(self, by: timedelta) -> datetime:
        """Move the clock that it goes by."""
        return self._clock.advance(by)

    def set(self, now: datetime) -> datetime:
        """Move the clock that it goes by to an instant."""
        return self._clock.set(now)
