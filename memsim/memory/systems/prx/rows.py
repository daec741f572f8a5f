"""What PRX's table of memories holds: its rows, which of them are meant, and when they are from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from memsim.clock import utc
from memsim.errors import StoreError

FIELDS = (
    "rowid, id, key, content, category, session_id, useful_count, visibility, sensitivity,"
    " risk_signals, channel, chat_type, chat_id, sender_id, topic_id, created_at, updated_at,"
    " archived, sources, space"
)
NAMES = tuple(name.strip() for name in FIELDS.split(","))


class Row(NamedTuple):
    """One memory, as the table has it."""

    number: int
    id: str
    key: str
    content: str
    category: str
    session: str | None
    useful: int
    visibility: str
    sensitivity: str
    risks: str
    channel: str | None
    chat_type: str | None
    chat_id: str | None
    sender: str | None
    topic: str | None
    created: str
    updated: str
    archived: int
    origins: str
    space: str

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the messages that it came from."""
        return tuple(json.loads(self.origins))


class Clause(NamedTuple):
    """Which rows are meant: a condition over `m`, and its parameters."""

    sql: str = "1 = 1"
    given: tuple[str | int, ...] = ()

    def __and__(self, other: Clause) -> Clause:
        """Rows that both mean."""
        if EVERY in {self, other}:
            return other if self == EVERY else self
        return Clause(f"({self.sql}) AND ({other.sql})", self.given + other.given)


EVERY = Clause()


class Mirror(Protocol):
    """Another place where rows are kept."""

    def change(self, before: Sequence[Row], after: Sequence[Row]) -> None:
        """Some rows are no longer as they were."""
        ...

    def renew(self, rows: Sequence[Row]) -> None:
        """These are all the rows there are."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Whose a row is and who may see it; a write without one leaves all of it as it was."""

    channel: str | None = None
    chat_type: str | None = None
    chat_id: str | None = None
    sender_id: str | None = None
    raw_sender: str | None = None
    topic_id: str | None = None
    visibility: str = "private"
    sensitivity: str = "normal"
    risk_signals: str = "[]"


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def failing() -> Iterator[None]:
    """Turns what goes wrong in the database into a `StoreError` that says it in its words."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(str(error)) from error
    except UnicodeEncodeError as error:
        raise StoreError("a text cannot be encoded as UTF-8") from error


def moment(now: datetime) -> str:
    """An instant as rows have it: RFC 3339 of one length, so that texts sort it."""
    return utc(now).isoformat(timespec="microseconds")
