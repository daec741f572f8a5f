"""A clock that goes wrong: some of its readings are of another time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from memsim.clock import Clock

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.testing.faults.schedule import Schedule

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
