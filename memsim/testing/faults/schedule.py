"""Decide which operation fails, how, and for how long."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from memsim.clock import Clock

if TYPE_CHECKING:
    from datetime import datetime


Mode = Literal["transient", "persistent", "crash", "power"]
"""One operation fails; it and all after it; the process ends there; the machine does."""

MOST = 2_000
"""Operations after which it is not believed that something ever completes."""


class SimulatedCrash(BaseException):
    """The process ended here; only files are left."""


@dataclass(slots=True)
class Schedule:
    """Counts operations, and tells which fail.

    Attributes:
        at: the number of the operation that fails, from 1; 0 for none.
        mode: how it fails.
        seen: the operations so far, by what they were.
        dead: the process has ended: nothing it still does reaches anything.
    """

    at: int = 0
    mode: Mode = "transient"
    seen: list[str] = field(default_factory=list)
    dead: bool = False

    @property
    def fired(self) -> bool:
        """Whether anything failed."""
        return 0 < self.at <= len(self.seen)

    @property
    def ends(self) -> bool:
        """Whether a failure is the end of the process."""
        return self.mode in {"crash", "power"}

    def fails(self, what: str) -> bool:
        """Count an operation; whether it fails."""
        if self.dead:
            raise SimulatedCrash(what)
        self.seen.append(what)
        number = len(self.seen)
        hit = number >= self.at > 0 if self.mode == "persistent" else number == self.at
        self.dead = hit and self.ends
        return hit


def one_after_another(
    attempt: Callable[[Schedule], None], mode: Mode, *, step: int = 1
) -> Iterator[Schedule]:
    """Let the first operation fail, then the second, and so on until one attempt completes.

    Args:
        attempt: does everything anew, with whatever fails; what it raises is its own affair.
        mode: how operations fail.
        step: 1 for every operation, 2 for every other.

    Yields:
        The schedule of each attempt in which something failed.

    Raises:
        AssertionError: no attempt ever completes.
    """
    for at in range(1, MOST, step):
        schedule = Schedule(at=at, mode=mode)
        attempt(schedule)
        if not schedule.fired:
            return
        yield schedule
    raise AssertionError(f"more than {MOST} operations, and none completes")


# Chance that goes wrong: draws of another seed, none left, and names that were given before.


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


# A clock that goes wrong: some of its readings are of another time.


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
