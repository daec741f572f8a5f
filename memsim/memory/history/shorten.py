"""What stands at length among the latest messages, in fewer words: offloaded, shortened, said once.

What was said last is shown as it was said, and of what is very long as much as there is room for.
Once it has been answered, a reference to it and its beginning are enough for a window.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memsim.context import ContextBuilder, Section
from memsim.errors import StoreError
from memsim.language.graphemes import head, tail
from memsim.memory.compaction.blobs import stored
from memsim.memory.compaction.merge import Deduplicate
from memsim.memory.compaction.offload import Offload, ShortenResults
from memsim.memory.compaction.plan import KeepRule
from memsim.memory.compaction.rolling_summary import is_telling
from memsim.memory.compaction.step import Chain, CompactionState, Means
from memsim.memory.compaction.summary import originals
from memsim.memory.history.window import text_bytes
from memsim.message import ToolUse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memsim.context import SectionName
    from memsim.memory.compaction.blobs import Blobs
    from memsim.memory.compaction.step import Compaction, CompactionStep
    from memsim.memory.options import MemoryOptions
    from memsim.message import Block, Message, Text, TokenCounter, ToolResult


# What is too long to stand whole, as what was said last may be: each text's beginning and end.


LEAST_CLIPPED = 40
"""Characters to which a text is shortened at most; where that is not enough, nothing is shown."""

_BEGINNING = 2 / 3
"""Share of what is left of a text that is its beginning."""

_CLIP_STEP = 0.8


def clip_messages(
    messages: Sequence[Message], counter: TokenCounter, budget: int, layer: SectionName = "window"
) -> Section:
    """Messages that are more than a budget, each by the beginning and the end of its texts.

    What tools were asked stays as it is, and calls keep their results. Returns an empty section
    where even short texts do not fit.
    """
    build = ContextBuilder(counter)
    share = budget / max(1, build.tokens(messages))
    longest = max((len(b.text) for m in messages for b in _texts(m)), default=0)
    while share * longest >= LEAST_CLIPPED:
        section = build.section(layer, [shorten_message(m, share) for m in messages])
        if section.tokens <= budget:
            return section
        share *= _CLIP_STEP
    return build.section(layer, ())


def _texts(message: Message) -> list[Text | ToolResult]:
    return [b for b in message.blocks if not isinstance(b, ToolUse)]


def shorten_message(message: Message, share: float) -> Message:
    """A message with the beginning and end of each of its texts, as `clip_messages` cuts them.

    `share` of each text is kept, 0 to 1; never less than `LEAST_CLIPPED` characters.
    """
    blocks = tuple(_short(block, share) for block in message.blocks)
    if blocks == message.blocks:
        return message
    return replace(
        message,
        blocks=blocks,
        composed=True,
        derived_from=originals(message),
        excerpts=originals(message),
    )


def _short(block: Block, share: float) -> Block:
    if isinstance(block, ToolUse):
        return block
    kept = max(LEAST_CLIPPED, int(len(block.text) * share))
    begun = head(block.text, int(kept * _BEGINNING))
    ended = tail(block.text[len(begun) :], kept - len(begun))
    left = len(block.text) - len(begun) - len(ended)
    text = f"{begun}\n[{left} characters are left out here]\n{ended}"
    return replace(block, text=text) if len(text) < len(block.text) else block


LARGE, LONG, LEAST = 5 * 1024, 2000, 1000
"""Characters beyond which any content is offloaded, and a tool's result shortened; and up to which,
in however small a window, nothing is done."""

MOST = 32 * 1024
"""Bytes of UTF-8 that the texts of one message may have in a window."""

_STEP = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortener:
    """Makes less of the latest messages, and never takes one as it came that is too large.

    Attributes:
        counter: token counts.
        room: tokens that a window usually has. What would take more than half of it is too long.
        options: whether large content is offloaded, the results of tools are shortened, and what
            one speaker says twice on a day, word for word, stands once.
    """

    counter: TokenCounter
    room: int
    options: MemoryOptions
    _chain: Chain = field(init=False, repr=False)

    def __post_init__(self) -> None:
        steps: list[CompactionStep] = []
        if self.options.deduplicate:
            steps.append(Deduplicate(last=1))
        half = max(LEAST, 2 * self.room)
        if self.options.offload:
            steps.append(Offload(over=LARGE, answered=True, last=1))
        if self.options.shorten:
            over = min(LONG, half)
            steps.append(ShortenResults(over=over, head=over // 5, tail=over // 10, last=1))
        if self.options.offload and half < LARGE:
            steps.append(Offload(over=half, answered=True, last=1))
        object.__setattr__(self, "_chain", Chain(steps=tuple(steps), name="thinning"))

    @property
    def over(self) -> int:
        """Characters up to which no message is too long."""
        return min(LONG, max(LEAST, 2 * self.room))

    def may_thin(self, message: Message) -> bool:
        """Whether there may be less of a message, once it has been answered."""
        return self.options.deduplicate or len(message.text) > self.over

    def __call__(self, history: Sequence[Message], blobs: Blobs, now: datetime) -> Compaction:
        """Make less of messages, oldest first.

        Raises `StoreError` if something could not be offloaded; nothing has changed.
        """
        # Whoever spoke last has had an answer, where the assistant's words come after theirs.
        answered = bool(history) and history[-1].role == "assistant" and is_telling(history[-1])
        keep = KeepRule(current=not answered)
        means = Means(counter=self.counter, now=now, blobs=blobs, keep=keep)
        return self._chain(tuple(history), CompactionState(), means)

    def admitted(self, message: Message, blobs: Blobs, most: int = MOST) -> Message | None:
        """A message as it may stand in a window: itself, or cut where it is too large.

        What is cut is offloaded as a whole, if anything is; where that fails, it is on record.
        `most` is in bytes of UTF-8. Returns None where what makes it large are the arguments of a
        call, which cannot be shortened.
        """
        if text_bytes(message) <= most:
            return message
        short = _within(message, most)
        if short is not None and self.options.offload and not message.composed:
            with suppress(StoreError):
                blobs.put(stored((message,)))
        return short


def _within(message: Message, most: int) -> Message | None:
    share = most / text_bytes(message)
    while share * most >= 1:
        short = shorten_message(message, share)
        if text_bytes(short) <= most:
            return short
        share *= _STEP
    return None
