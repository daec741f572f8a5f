"""What is said: messages made of blocks, by principals, in sessions, with their provenance.

A message that the script said is *original*: its text stands for itself. A message that a strategy
composed (a summary, a list of recalled lines) says where its text came from: `quotes` names the
originals that stand in it verbatim, `derived_from` those that it was made from in other words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from memsim.fast_dataclass import fast_init


def utc(moment: datetime) -> datetime:
    """The instant in UTC.

    Raises:
        ValueError: the moment carries no time zone.
    """
    if moment.tzinfo is None:
        message = f"{moment.isoformat()} has no time zone"
        raise ValueError(message)
    return moment.astimezone(UTC)


Role = Literal["system", "user", "assistant", "tool"]

EPOCH = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""When a script begins that does not say so itself: a Monday morning."""


@fast_init
@dataclass(frozen=True, slots=True)
class Text:
    """Plain words."""

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
    """What a tool answered to the call with the same id."""

    id: str
    text: str
    is_error: bool = False


Block = Text | ToolUse | ToolResult


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One role's utterance.

    Attributes:
        id: unique within a case; originals are numbered by the script, such as `m12` or `D3:7`.
        principal: who said it, or whose assistant or tool did.
        turn: the turn it belongs to, counted from 1; 0 before the first.
        time: when it was said, in UTC, on the virtual clock.
        quotes: ids of original messages whose text stands verbatim in this composed message.
        derived_from: ids of original messages that this composed message was made from.
        excerpts: those of `derived_from` of which a part stands here in its own words.
        composed: true for what a strategy wrote itself, whether or not it can say from what.
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
    """All blocks as one text, parted by newlines."""

    def __post_init__(self) -> None:
        blocks = self.blocks
        if len(blocks) == 1 and type(blocks[0]) is Text:
            object.__setattr__(self, "text", blocks[0].text)
        else:
            object.__setattr__(self, "text", "\n".join(map(block_text, blocks)))

    @property
    def spoken(self) -> str:
        """Its text blocks, parted by newlines: without what tools are asked and answer."""
        return "\n".join(b.text for b in self.blocks if isinstance(b, Text))

    @property
    def verbatim(self) -> tuple[str, ...]:
        """Ids of the original messages whose own words stand in this one."""
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
    """A block as the words that a reader would see."""
    if isinstance(block, Text | ToolResult):
        return block.text
    return f"{block.name}({block.arguments})"


def said(
    role: Role,
    text: str,
    *,
    id: str,  # noqa: A002 - the record's own field name
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
    id: str,  # noqa: A002 - the record's own field name
    quotes: tuple[str, ...] = (),
    derived_from: tuple[str, ...] = (),
    excerpts: tuple[str, ...] = (),
    time: datetime = EPOCH,
    principal: str = "memory",
) -> Message:
    """A message that a strategy wrote, with what it can say of its provenance.

    Args:
        role: who it speaks as; `system` or `user`, as the strategy's original design has it.
        text: the words.
        id: an id that is not an original's, such as `summary:14`.
        quotes: ids of the originals that stand in it verbatim.
        derived_from: ids of the originals that it was made from.
        excerpts: ids of the originals of which a part stands in it verbatim; they count as derived.
        time: when it was composed, on the virtual clock.
        principal: whose message it is.
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
    """The messages without tool calls that no result answers, and results without their call.

    A call that stands in the last message is kept: its results are still to come.
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
        # A message that goes may orphan another: the results of a call that was answered in part.
        if len(kept) == len(messages):
            return kept
        messages = kept
