"""Hold the messages of a long window in little memory.

The latest messages are kept as they are. Of those before them, the plain ones are kept as columns,
and are made anew when they are asked for. Plain is an original message of one text with an id such
as `m12`; all others stay as they are.
"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from memsim.memory.index.id_places import id_number
from memsim.message import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK = 1_000
"""Messages that are put into columns together."""
PLAIN = 20_000
"""Messages that are kept as they are before the first block is put into columns."""
_MADE = 1_024
"""Messages made anew that are kept: who asks for one again is given the same object."""

_ZERO = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_MOST_TURNS = 2**31

_Whose = tuple[Role, str, str]
"""The role, the principal and the session of a message: few of these differ."""


class MessageColumns:
    """Messages in the order in which they were added; places count from the oldest one, from 0."""

    __slots__ = ("_blocks", "_dropped", "_latest", "_made", "_whose")

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._latest: list[Message] = []
        self._dropped = 0
        """Messages before the oldest one that were in columns; those of whole blocks are gone."""
        self._made: dict[int, Message] = {}
        self._whose: dict[_Whose, _Whose] = {}

    def __len__(self) -> int:
        return len(self._latest) + self._packed if self._blocks else len(self._latest)

    def __getitem__(self, place: int) -> Message:
        if not self._blocks:
            return self._latest[place]
        latest = place - self._packed
        return self._latest[latest] if latest >= 0 else self._again(place + self._dropped)

    def append(self, message: Message) -> None:
        """Add a message."""
        latest = self._latest
        latest.append(message)
        if len(latest) >= PLAIN + BLOCK:
            self._blocks.append(_Block(latest[:BLOCK], self._whose))
            del latest[:BLOCK]

    def between(self, start: int, end: int) -> list[Message]:
        """The messages from one place to before another."""
        packed = self._packed
        if start >= packed:
            return self._latest[start - packed : end - packed]
        older = [self._again(at + self._dropped) for at in range(start, min(end, packed))]
        return older + self._latest[: max(0, end - packed)]

    def since(self, start: int) -> Iterator[Message]:
        """The messages from a place to the latest that there is now."""
        packed = self._packed
        latest = self._latest[max(0, start - packed) :]
        if start >= packed:
            return iter(latest)
        return _walk(self._blocks[:], start + self._dropped % BLOCK, latest)

    def drop(self, count: int) -> None:
        """Take out so many of the oldest messages."""
        packed = self._packed
        if count < packed:
            before = self._dropped // BLOCK
            self._dropped += count
            del self._blocks[: self._dropped // BLOCK - before]
            return
        del self._latest[: count - packed]
        self._blocks.clear()
        self._made.clear()
        self._dropped = 0

    @property
    def _packed(self) -> int:
        return BLOCK * len(self._blocks) - self._dropped % BLOCK

    def _again(self, at: int) -> Message:
        """A message in columns, made anew unless it was asked for a moment ago."""
        found = self._made.pop(at, None)
        if found is None:
            found = self._blocks[at // BLOCK - self._dropped // BLOCK].message(at % BLOCK)
            if len(self._made) >= _MADE:
                self._made.pop(next(iter(self._made)))
        self._made[at] = found
        return found


def _walk(blocks: list[_Block], start: int, latest: list[Message]) -> Iterator[Message]:
    for number in range(start // BLOCK, len(blocks)):
        for at in range(max(0, start - number * BLOCK), BLOCK):
            yield blocks[number].message(at)
    yield from latest


class _Block:
    """Messages as columns."""

    __slots__ = ("_ends", "_numbers", "_others", "_texts", "_times", "_turns", "_whose")

    def __init__(self, messages: Sequence[Message], known: dict[_Whose, _Whose]) -> None:
        plain = [m if _is_plain(m) else None for m in messages]
        self._others = {at: m for at, m in enumerate(messages) if plain[at] is None}
        texts = [m.text.encode("utf-8", "surrogatepass") if m else b"" for m in plain]
        self._texts = b"".join(texts)
        self._ends = array("Q", accumulate(map(len, texts)))
        self._numbers = array("q", (id_number(m.id) if m else 0 for m in plain))
        self._times = array("q", ((m.time - _ZERO) // _TICK if m else 0 for m in plain))
        self._turns = array("i", (m.turn if m else 0 for m in plain))
        whose = ((m.role, m.principal, m.session) if m else ("user", "", "") for m in plain)
        self._whose: list[_Whose] = [known.setdefault(each, each) for each in whose]

    def message(self, at: int) -> Message:
        """The message at a place of the block."""
        if at in self._others:
            return self._others[at]
        text = self._texts[self._ends[at - 1] if at else 0 : self._ends[at]]
        role, principal, session = self._whose[at]
        return Message(
            id=f"m{self._numbers[at]}",
            role=role,
            blocks=(Text(text.decode("utf-8", "surrogatepass")),),
            principal=principal,
            session=session,
            turn=self._turns[at],
            time=_ZERO + timedelta(microseconds=self._times[at]),
        )


def _is_plain(message: Message) -> bool:
    """Whether all of a message is in the columns: it is one of the kind that most are."""
    blocks, time = message.blocks, message.time
    return (
        type(message) is Message
        and not message.composed
        and not (message.quotes or message.derived_from or message.excerpts)
        and len(blocks) == 1
        and type(blocks[0]) is Text
        and id_number(message.id) > 0
        and type(message.turn) is int
        and 0 <= message.turn < _MOST_TURNS
        and type(time) is datetime
        and time.tzinfo is UTC
        and not time.fold
    )
