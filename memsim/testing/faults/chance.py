"""Chance that goes wrong: draws of another seed, none left, and names that were given before."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memsim.testing.faults.schedule import Schedule

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
