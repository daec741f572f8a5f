"""What stands at length among the latest messages, in fewer words: offloaded, shortened, said once.

What was said last is shown as it was said, and of what is very long as much as there is room for.
Once it has been answered, a reference to it and its beginning are enough for a window.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memsim.errors import StoreError
from memsim.memory.clipping import shorter
from memsim.memory.compaction.blobs import stored
from memsim.memory.compaction.chain import Chain
from memsim.memory.compaction.duplicates import Deduplicate
from memsim.memory.compaction.keeping import Keep
from memsim.memory.compaction.offload import Offload
from memsim.memory.compaction.results import ShortenResults
from memsim.memory.compaction.rolling import is_telling
from memsim.memory.compaction.shape import Means, State

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memsim.memory.compaction.blobs import Blobs
    from memsim.memory.compaction.shape import Compaction, Step
    from memsim.message import Message
    from memsim.tokens import TokenCounter

LARGE, LONG, LEAST = 5 * 1024, 2000, 1000
"""Characters beyond which any content is offloaded, and a tool's result shortened; and up to which,
in however small a window, nothing is done."""

MOST = 32 * 1024
"""Bytes of UTF-8 that the texts of one message may have in a window."""

_STEP = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinning:
    """Makes less of the latest messages, and never takes one as it came that is too large.

    Attributes:
        counter: token counts.
        room: tokens that a window usually has. What would take more than half of it is too long.
        offload: whether large content goes to a blob, with a reference in its place.
        shorten: whether the results of tools are shown by beginning and end.
        deduplicate: whether what one speaker says twice on a day, word for word, stands once.
    """

    counter: TokenCounter
    room: int
    offload: bool = True
    shorten: bool = True
    deduplicate: bool = False
    _chain: Chain = field(init=False, repr=False)

    def __post_init__(self) -> None:
        steps: list[Step] = []
        if self.deduplicate:
            steps.append(Deduplicate(last=1))
        half = max(LEAST, 2 * self.room)
        if self.offload:
            steps.append(Offload(over=LARGE, answered=True, last=1))
        if self.shorten:
            over = min(LONG, half)
            steps.append(ShortenResults(over=over, head=over // 5, tail=over // 10, last=1))
        if self.offload and half < LARGE:
            steps.append(Offload(over=half, answered=True, last=1))
        object.__setattr__(self, "_chain", Chain(steps=tuple(steps), name="thinning"))

    @property
    def over(self) -> int:
        """Characters up to which no message is too long."""
        return min(LONG, max(LEAST, 2 * self.room))

    def may_thin(self, message: Message) -> bool:
        """Whether there may be less of a message, once it has been answered."""
        return self.deduplicate or len(message.text) > self.over

    def __call__(self, history: Sequence[Message], blobs: Blobs, now: datetime) -> Compaction:
        """Make less of messages, oldest first.

        Raises:
            StoreError: something could not be offloaded; nothing has changed.
        """
        # Whoever spoke last has had an answer, where the assistant's words come after theirs.
        answered = bool(history) and history[-1].role == "assistant" and is_telling(history[-1])
        keep = Keep(current=not answered)
        means = Means(counter=self.counter, now=now, blobs=blobs, keep=keep)
        return self._chain(tuple(history), State(), means)

    def admitted(self, message: Message, blobs: Blobs, most: int = MOST) -> Message | None:
        """A message as it may stand in a window: itself, or cut where it is too large.

        What is cut is offloaded as a whole, if anything is; where that fails, it is on record.

        Args:
            message: what was said.
            blobs: of its conversation.
            most: bytes of UTF-8 that its texts may have.

        Returns:
            None where what makes it large are the arguments of a call, which cannot be shortened.
        """
        if size_of(message) <= most:
            return message
        short = _within(message, most)
        if short is not None and self.offload and not message.composed:
            with suppress(StoreError):
                blobs.put(stored((message,)))
        return short


def _within(message: Message, most: int) -> Message | None:
    share = most / size_of(message)
    while share * most >= 1:
        short = shorter(message, share)
        if size_of(short) <= most:
            return short
        share *= _STEP
    return None


def size_of(message: Message) -> int:
    """Bytes of UTF-8 that the texts of a message have."""
    return len(message.text.encode("utf-8", "surrogatepass"))
