"""A database that fails: every statement of SQLite goes through a schedule."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memsim.testing.faults.schedule import Crashed, Schedule

ERRORS = ("disk I/O error", "database is locked", "database or disk is full")


@contextmanager
def failing_database(schedule: Schedule) -> Iterator[None]:
    """Count the statements of connections opened meanwhile, and let some of them fail.

    Args:
        schedule: counts, and says what fails. A failure that passes is one of `ERRORS` by its
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
            raise Crashed(what)
        raise sqlite3.OperationalError(ERRORS[schedule.at % len(ERRORS)])
