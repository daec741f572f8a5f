"""When something was said: written before what the model reads of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memsim.message import Text

if TYPE_CHECKING:
    from memsim.message import Message

SHOWN = "[%Y-%m-%d %H:%M:%S UTC] "
STORED = "%Y-%m-%dT%H:%M:%SZ"


def stored(time: datetime) -> str:
    """A time as the history file holds it."""
    return time.astimezone(UTC).strftime(STORED)


def read(stamp: str) -> datetime:
    """The time that `stored` wrote.

    Raises:
        ValueError: it wrote no such thing.
    """
    time = datetime.fromisoformat(stamp)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def shown(message: Message, *, users_only: bool = False, known: bool = True) -> Message:
    """A message as the model reads it.

    Tool traffic is not stamped: only what the user submits, and what the model says.

    Args:
        message: an original.
        users_only: stamp what users say, and nothing else.
        known: whether its time is known.
    """
    text = message.spoken
    told = message.role == "user" or (
        message.role == "assistant" and bool(text.strip()) and not message.calls and not users_only
    )
    blocks = message.blocks
    if told and known:
        stamp = message.time.astimezone(UTC).strftime(SHOWN)
        blocks = (Text(stamp + text), *(b for b in blocks if not isinstance(b, Text)))
    # Marked as composed, no date of the context's own is written before it.
    return replace(message, blocks=blocks, quotes=(message.id,), composed=True)
