"""Let a statement of SQLite fail, or end the process at it, by a schedule."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

Mode = Literal["transient", "persistent", "crash", "power"]
"""One operation fails; it and all after it; the process ends there; the machine does."""


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


SQL_ERRORS = ("disk I/O error", "database is locked", "database or disk is full")


@contextmanager
def failing_database(schedule: Schedule) -> Iterator[None]:
    """Count the statements of connections opened meanwhile, and let some of them fail.

    Args:
        schedule: counts, and says what fails. A failure that passes is one of `SQL_ERRORS` by its
            number.
    """

    class Failing(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as its own
            _strike(schedule, sql)
            return super().execute(sql, *rest)

        def executemany(self, sql: str, *rest: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as its own
            _strike(schedule, sql)
            return super().executemany(sql, *rest)

        def executescript(self, sql: str) -> sqlite3.Cursor:
            _strike(schedule, sql)
            return super().executescript(sql)

    real = sqlite3.connect

    def connect(database: Any, **given: Any) -> sqlite3.Connection:  # noqa: ANN401 - as sqlite3.connect
        made: sqlite3.Connection = real(database, factory=Failing, **given)
        return made

    setattr(sqlite3, "connect", connect)  # noqa: B010 - the type checker knows it as a function
    try:
        yield
    finally:
        setattr(sqlite3, "connect", real)  # noqa: B010 - as above


def _strike(schedule: Schedule, sql: str) -> None:
    what = " ".join(sql.split()[:3])
    if what.startswith("ROLLBACK"):
        return  # undoing needs nothing new of the disk, and a process that has ended is undone
    if schedule.fails(what):
        if schedule.ends:
            raise SimulatedCrash(what)
        raise sqlite3.OperationalError(SQL_ERRORS[schedule.at % len(SQL_ERRORS)])
