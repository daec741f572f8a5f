"""Messages: blocks of text and tool traffic, with speaker, session, time and provenance.

A message of the script is *original*: its text is its own. A message that a strategy composed, such
as a summary or a list of recalled lines, names its sources. `quotes` lists the originals that it
contains verbatim, and `derived_from` those that it puts into other words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from memsim.fast_dataclass import fast_init


def utc(moment: datetime) -> datetime:
    """The instant in UTC.

    Raises:
        ValueError: the moment has no time zone.
    """
    if moment.tzinfo is None:
        message = f"{moment.isoformat()} has no time zone"
        raise ValueError(message)
    return moment.astimezone(UTC)


Role = Literal["system", "user", "assistant", "tool"]

EPOCH = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""Default start of a script: a Monday morning."""


@fast_init
@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """An assistant's call of a tool."""

    id: str
    name: str
    arguments: str
    """The arguments as canonical JSON text, as providers send them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The answer of a tool to the call with the same id."""

    id: str
    text: str
    is_error: bool = False


Block = Text | ToolUse | ToolResult


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of one role.

    Attributes:
        id: unique within a case; originals are numbered by the script, such as `m12` or `D3:7`.
        principal: the speaker, or the owner of the assistant or tool that speaks.
        turn: the turn it belongs to, counted from 1; 0 before the first.
        time: the time in UTC, on the virtual clock.
        quotes: ids of original messages that this composed message contains verbatim.
        derived_from: ids of original messages that this composed message puts into other words.
        excerpts: those of `derived_from` of which it contains a part verbatim.
        composed: whether a strategy wrote the message, with or without naming its sources.
    """

    id: str
    role: Role
    blocks: tuple[Block, ...]
    principal: str = "user"
    session: str = "s1"
    turn: int = 0
    time: datetime = EPOCH
    quotes: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()
    composed: bool = False
    text: str = field(init=False, compare=False, repr=False)
    """All blocks as one text, separated by newlines."""

    def __post_init__(self) -> None:
        blocks = self.blocks
        if len(blocks) == 1 and type(blocks[0]) is Text:
            object.__setattr__(self, "text", blocks[0].text)
        else:
            object.__setattr__(self, "text", "\n".join(map(block_text, blocks)))

    @property
    def spoken(self) -> str:
        """The text blocks, separated by newlines, without tool calls and results."""
        return "\n".join(b.text for b in self.blocks if isinstance(b, Text))

    @property
    def verbatim(self) -> tuple[str, ...]:
        """Ids of the original messages whose own words are in this one."""
        return self.quotes if self.composed else (self.id,)

    @property
    def calls(self) -> tuple[str, ...]:
        """Ids of the tool calls that this message makes."""
        return tuple(b.id for b in self.blocks if isinstance(b, ToolUse))

    @property
    def results(self) -> tuple[str, ...]:
        """Ids of the tool calls that this message answers."""
        return tuple(b.id for b in self.blocks if isinstance(b, ToolResult))


def block_text(block: Block) -> str:
    """A block as text for a reader."""
    if isinstance(block, Text | ToolResult):
        return block.text
    return f"{block.name}({block.arguments})"


def said(
    role: Role,
    text: str,
    *,
    id: str,  # noqa: A002 - the name of the field
    principal: str = "user",
    session: str = "s1",
    turn: int = 0,
    time: datetime = EPOCH,
) -> Message:
    """An original message of one text block; the arguments are the fields of `Message`."""
    return Message(
        id=id,
        role=role,
        blocks=(Text(text),),
        principal=principal,
        session=session,
        turn=turn,
        time=time,
    )


def composed(
    role: Role,
    text: str,
    *,
    id: str,  # noqa: A002 - the name of the field
    quotes: tuple[str, ...] = (),
    derived_from: tuple[str, ...] = (),
    excerpts: tuple[str, ...] = (),
    time: datetime = EPOCH,
    principal: str = "memory",
) -> Message:
    """A message that a strategy wrote, with its provenance.

    Args:
        role: the speaker's role: `system` or `user`, as in the strategy's original design.
        text: the text.
        id: an id that no original has, such as `summary:14`.
        quotes: ids of the originals that it contains verbatim.
        derived_from: ids of the originals that it puts into other words.
        excerpts: ids of the originals of which it contains a part verbatim; they count as derived.
        time: when it was composed, on the virtual clock.
        principal: the owner of the message.
    """
    return Message(
        id=id,
        role=role,
        blocks=(Text(text),),
        principal=principal,
        time=time,
        quotes=quotes,
        derived_from=tuple(dict.fromkeys((*derived_from, *excerpts))),
        excerpts=excerpts,
        composed=True,
    )


def paired(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages without unanswered tool calls and without results that have no call.

    A call in the last message is kept, because its results are still to come.
    """
    if not any(m.role == "tool" or m.calls for m in messages):
        return messages
    pending = set(messages[-1].calls) if messages else set()
    while True:
        called = {c for m in messages for c in m.calls}
        answered = {r for m in messages for r in m.results} | pending
        kept = tuple(
            m for m in messages if called.issuperset(m.results) and answered.issuperset(m.calls)
        )
        # Removing a message can leave another one unpaired: the results of a partly answered call.
        if len(kept) == len(messages):
            return kept
        messages = kept
