"""Which operation fails, how, and for how long: one countdown for every seam."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["transient", "persistent", "crash", "power"]
"""One operation fails; it and all after it; the process ends there; the machine does."""

MOST = 2_000
"""Operations after which it is not believed that something ever completes."""


class Crashed(BaseException):
    """The process ended here; nothing that is not in a file is left."""


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
            raise Crashed(what)
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
