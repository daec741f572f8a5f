"""The records of a recorded conversation, which every format is read into and written from.

The roles of a message::

    system       instructions that the agent was given
    user         what a person said
    assistant    what the agent said, with its tool calls
    tool         the result of a tool call
    recall       what the agent's memory was asked for (`text`), and the `documents` it returned
    compaction   from here on earlier messages were not sent any more, but `text` in their place
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from memsim.fast_dataclass import fast_init

TraceRole = Literal["system", "user", "assistant", "tool", "recall", "compaction"]
TRACE_ROLES: tuple[TraceRole, ...] = get_args(TraceRole)

SPOKEN: frozenset[TraceRole] = frozenset({"user", "assistant", "tool"})
"""Roles of messages that are played; the others say what the agent's own memory sent."""


@fast_init
@dataclass(frozen=True, slots=True)
class TraceCall:
    """A tool call; `arguments` is the text that the agent wrote, JSON or not."""

    id: str
    name: str
    arguments: str = "{}"


@fast_init
@dataclass(frozen=True, slots=True)
class TraceDocument:
    """One result of a memory, with its id and score where the trace has them."""

    text: str
    id: str = ""
    score: float | None = None


@fast_init
@dataclass(frozen=True, slots=True)
class TraceMessage:
    """One message of a recorded conversation.

    Attributes:
        time: when it was sent, in UTC; None where the trace does not say.
        calls: tool calls of an assistant's message.
        answers: for a tool's message, the id of the call.
        speaker: who speaks, where several people take part; else empty.
        documents: for `recall`, what the memory returned, best first.
    """

    role: TraceRole
    text: str = ""
    time: datetime | None = None
    calls: tuple[TraceCall, ...] = ()
    answers: str = ""
    is_error: bool = False
    speaker: str = ""
    documents: tuple[TraceDocument, ...] = ()


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class TraceConversation:
    """One recorded session.

    Attributes:
        id: its id in the trace; empty where the trace has none.
        person: the user whose conversation it is; empty where the trace does not say.
    """

    id: str
    messages: tuple[TraceMessage, ...]
    person: str = ""
    title: str = ""
