"""Mark what a context quotes although it was replaced since, wholly or in part.

The mark stands in the head of a line, after the day on which the message was said:

    [2026-06-01, partly replaced 2026-06-03] ana: 12 on the Nordkapp and 7 on the Sula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.memory.recall.timeline import MessageFacts

    About = Callable[[str], MessageFacts | None]
    """What is known of the message that an entry holds, as far as the reader may know it."""


def replaced_mark(entry: str, about: About) -> str:
    """What the head of a message's line says of its replacement; empty while all is in force."""
    said = about(entry)
    if said is None:
        return ""
    whole = said.successor is not None
    changes = (said.successor,) if said.successor is not None else said.stale
    known = (about(change) for change in changes)
    days = [change.time.date() for change in known if change is not None and change.time]
    if not days:
        return ""
    return f"{'' if whole else 'partly '}replaced {max(days).isoformat()}"


def replaced_marks(entries: Iterable[tuple[str, str]], about: About) -> dict[str, str]:
    """The marks of messages, each given as its entry and its id; those in force have none."""
    marks = ((message, replaced_mark(entry, about)) for entry, message in entries)
    return {message: mark for message, mark in marks if mark}
