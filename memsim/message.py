"""Messages, with speaker, session, time and provenance, and the tokens that they count.

A message of the script is *original*: its text is its own. A message that a strategy composed, such
as a summary or a list of recalled lines, names its sources. `quotes` lists the originals that it
contains verbatim, and `derived_from` those that it puts into other words.

Tokens are counted by a named tokenizer, offline. `o200k_base`, `cl100k_base` and `p50k_base` are
exact: tiktoken reads the encodings that litellm ships, so nothing is downloaded. `chars/4` is the
estimate of AgentScope and others: the number of characters divided by four, rounded up.
"""

from __future__ import annotations

import importlib.util
import os
from binascii import a2b_base64
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from memsim.errors import RefError, nearest
from memsim.fast_dataclass import fast_init

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


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
        blocks = self.blocks
        if len(blocks) == 1 and type(blocks[0]) is Text:  # as of most messages
            return ()
        return tuple([b.id for b in blocks if isinstance(b, ToolUse)])

    @property
    def results(self) -> tuple[str, ...]:
        """Ids of the tool calls that this message answers."""
        blocks = self.blocks
        if len(blocks) == 1 and type(blocks[0]) is Text:  # as of most messages
            return ()
        return tuple([b.id for b in blocks if isinstance(b, ToolResult)])


_FIELDS = tuple(each.name for each in fields(Message) if each.init)
fields_of: Callable[[Message], tuple[Any, ...]] = attrgetter(*_FIELDS)
"""The fields of a message, in the order of `message_of`."""


def message_of(*given: Any) -> Message:  # noqa: ANN401 - the fields of a message
    """A message of its fields, in their order."""
    return Message(**dict(zip(_FIELDS, given, strict=True)))


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


def paired(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages without unanswered tool calls and without results that have no call.

    A result answers the latest open call before it that has its id: agents use ids again. A call in
    the last message is kept, because its results are still to come.
    """
    messages = tuple(messages)
    if not any(m.role == "tool" or m.calls for m in messages):
        return messages
    # Removing a message can leave another one unpaired: the results of a partly answered call.
    while unpaired := _unpaired(messages):
        messages = tuple(m for place, m in enumerate(messages) if place not in unpaired)
    return messages


def _unpaired(messages: tuple[Message, ...]) -> set[int]:
    """The places of messages with a call that has no result, or a result that has no call."""
    waiting: dict[str, int] = {}
    found: set[int] = set()
    for place, message in enumerate(messages):
        results, calls = message.results, message.calls
        if not (results or calls):
            continue
        if not waiting.keys() >= set(results):
            found.add(place)
            continue
        for result in results:
            waiting.pop(result, None)
        found.update(waiting[call] for call in calls if call in waiting)
        waiting.update(dict.fromkeys(calls, place))
    return found | (set(waiting.values()) - {len(messages) - 1})


# Tokens of texts and messages.


DEFAULT_TOKENIZER = "o200k_base"
ENCODINGS = ("cl100k_base", "o200k_base", "p50k_base")
MESSAGE_OVERHEAD = 4
"""Tokens for the role (1) and the separators (3) of a message, as OpenAI documents them."""

_PIECE = 1 << 15
"""Number of characters that are counted at a time in a long text."""

_REMEMBERED = 1 << 23
"""Number of characters whose counts are cached: enough for any window, constant for any history."""


@runtime_checkable
class Tokenizer(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """The name by which `load_tokenizer` finds it."""
        ...

    def count(self, text: str) -> int:
        """Tokens in the text."""
        ...


class CharsOverFour:
    """Characters divided by four, rounded up: no vocabulary, no dependency."""

    name = "chars/4"

    def count(self, text: str) -> int:
        """Tokens in the text."""
        return (len(text) + 3) // 4


class Encoding:
    """An exact byte-pair encoding.

    Args:
        name: one of `ENCODINGS`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._encode = _bundled(name)

    def count(self, text: str) -> int:
        """Tokens in the text; text that looks like a control token counts as plain text."""
        try:
            return len(self._encode(text, disallowed_special=()))
        except ValueError:
            # A megabyte of blanks would overflow the stack of the pattern.
            pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
            return sum(len(self._encode(piece, disallowed_special=())) for piece in pieces)


class _Encode(Protocol):
    def __call__(self, text: str, *, disallowed_special: tuple[str, ...]) -> list[int]: ...


@lru_cache(maxsize=len(ENCODINGS))
def _bundled(name: str) -> _Encode:
    # litellm is located but not imported: an import takes seconds.
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        message = (
            f"tokenizer {name} needs the encodings that litellm ships, and litellm is not installed"
        )
        raise RefError(message)
    root = Path(spec.submodule_search_locations[0])
    for folder in ("litellm_core_utils/tokenizers", "llms/tokenizers"):
        if (root / folder).is_dir():
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(root / folder))
            break
    import tiktoken
    from tiktoken_ext import openai_public  # type: ignore[import-untyped]

    # tiktoken's own loader takes longer than the rest of the start of a small run.
    own = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = _ranks
    try:
        return tiktoken.get_encoding(name).encode
    finally:
        openai_public.load_tiktoken_bpe = own


def _ranks(file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Parse a vocabulary: a base 64 token and a rank per line."""
    from tiktoken.load import read_file_cached

    words = read_file_cached(file, expected_hash).split()
    return dict(zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True))


@lru_cache(maxsize=8)
def load_tokenizer(name: str = DEFAULT_TOKENIZER) -> Tokenizer:
    """The tokenizer of that name.

    Raises:
        RefError: there is no such tokenizer.
    """
    if name == CharsOverFour.name:
        return CharsOverFour()
    if name in ENCODINGS:
        return Encoding(name)
    known = (*ENCODINGS, CharsOverFour.name)
    message = f"unknown tokenizer {name!r}; known tokenizers are {', '.join(known)}"
    raise RefError(message, hint=nearest(name, known))


class TokenCounter:
    """Counts texts and messages, and caches the counts.

    Args:
        tokenizer: counts the tokens.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known: dict[str, int] = {}
        self._room = _REMEMBERED

    @property
    def name(self) -> str:
        """The tokenizer's name."""
        return self.tokenizer.name

    def text(self, text: str) -> int:
        """Tokens in a text."""
        known = self._known.get(text)
        if known is None:
            self._room -= len(text)
            if self._room < 0:
                self._known.clear()
                self._room = _REMEMBERED
            known = self._known[text] = self.tokenizer.count(text)
        return known

    def message(self, message: Message) -> int:
        """Tokens of a message.

        Its text, its tool calls' names and arguments, and `MESSAGE_OVERHEAD`.
        """
        return self.text(message.text) + MESSAGE_OVERHEAD

    def messages(self, messages: Iterable[Message]) -> int:
        """Tokens of several messages."""
        text = self.text
        return sum(text(m.text) + MESSAGE_OVERHEAD for m in messages)
