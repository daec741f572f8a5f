"""Large content goes to a blob, and a reference with its beginning stands where it stood."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.context import defused, escaped
from memsim.errors import StateError, StoreError
from memsim.language.graphemes import head, tail
from memsim.memory.compaction.blobs import (
    Blobs,
    Referring,
    is_made,
    reference_of,
    referenced,
    reload,
    stored,
)
from memsim.memory.compaction.plan import plan
from memsim.memory.compaction.rolling_summary import is_telling
from memsim.memory.compaction.step import Compaction, CompactionState, Means, changed, unchanged
from memsim.memory.compaction.summary import originals
from memsim.message import Text, ToolResult, ToolUse

if TYPE_CHECKING:
    from memsim.memory.compaction.step import History
    from memsim.message import Block, Message

    Until = Callable[[History], int]
    Cut = Callable[[str, int], str]


# Long results of tools by their beginning and end, the rest told by its length and digest.


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortenResults:
    """Shortens every tool result that is too long; call and result stay a pair.

    In what else such a message says, delimiters are taken apart.
    """

    over: int = 2000
    head: int = 1000
    tail: int = 500
    last: int | None = None
    name: str = "shorten results"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Shorten results, as `Step` has it."""
        means = means.keeping(self.last)
        planned = plan(history, means.keep, means.counter)
        shorter: dict[int, Message] = {}
        for place in planned.taken:
            message = history[place]
            if not message.composed and message.results:
                made = self._shortened(message)
                if means.counter.message(made) < means.counter.message(message):
                    shorter[place] = made
        if not shorter:
            return unchanged(self.name, history, state, means, "no result is long")
        left = tuple(shorter.get(place, m) for place, m in enumerate(history))
        sources = tuple(history[place].id for place in shorter)
        return changed(self.name, (history, state), (left, state), means, sources)

    def _shortened(self, message: Message) -> Message:
        shorter = tuple(map(self._block, message.blocks))
        if shorter == message.blocks:
            return message
        both = zip(message.blocks, shorter, strict=True)
        blocks = tuple(defused(old) if new is old else new for old, new in both)
        return replace(message, blocks=blocks, derived_from=originals(message), composed=True)

    def _block(self, block: Block) -> Block:
        if not isinstance(block, ToolResult) or len(block.text) <= self.over:
            return block
        short = shortened(block.text, self.head, self.tail)
        return block if short == block.text else replace(block, text=short)


def shortened(text: str, first: int, last: int) -> str:
    """A text by its beginning and end, with a line between that gives its length and sha256.

    No cluster of characters is split, and a text that is no longer is given back as it is.
    """
    begun = head(text, first)
    ended = tail(text[len(begun) :], last)
    left = len(text) - len(begun) - len(ended)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    line = f"[shortened: {left} of {len(text)} characters left out, sha256 {digest}]"
    short = "\n".join(part for part in (escaped(begun), line, escaped(ended)) if part)
    return short if len(short) < len(text) else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Offload:
    """Offloads every block of text or tool result that is too long.

    The message keeps its id, role, calls and place; it is composed, and derived from itself. Its
    blob holds the whole message as it was.

    Attributes:
        over: characters beyond which a block is offloaded.
        preview: so many characters of its beginning stay.
        answered: only what stands before the latest words of the assistant.
        last: so many of the latest messages stay; None for as many as the means say.
        until: only what stands before the place that it gives for a history; None for all.
        reference: how what stands there refers to the blob.
        length: how long a text is; `cut` gives its beginning.
        whole: all results of a message, or else all its texts, count together, and of these one
            block is left; otherwise each counts for itself.
        composed: offload what was composed before as well.
        calling: offload the words of messages that call tools as well.
        escape: take delimiters apart, in the beginning and in all blocks that stay, but for those
            of a message that was made before, which may hold references of its own.
        smaller: offload only what has fewer tokens then.
    """

    over: int = 5 * 1024
    preview: int = 200
    answered: bool = False
    last: int | None = None
    until: Until | None = None
    reference: Referring = reference_of
    length: Callable[[str], int] = len
    cut: Cut = head
    whole: bool = False
    composed: bool = False
    calling: bool = True
    escape: bool = True
    smaller: bool = True
    name: str = "offload"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Offload large content, as `Step` has it.

        Raises `ValueError` if there is nowhere to keep it, or `StoreError` if it could not be kept.
        """
        means = means.keeping(self.last)
        if means.blobs is None:
            raise ValueError("offloading needs somewhere to keep what is offloaded")
        stubs = self._stubs(history, means)
        if not stubs:
            return unchanged(self.name, history, state, means, "no content is large")
        left = tuple(stubs.get(place, m) for place, m in enumerate(history))
        sources = tuple(history[place].id for place in stubs)
        old, new = (history, state), (left, state)
        done = changed(self.name, old, new, means, sources, smaller=self.smaller)
        if done.changed:
            for place in stubs:
                means.blobs.put(stored((history[place],)))
        return done

    def _stubs(self, history: History, means: Means) -> dict[int, Message]:
        planned = plan(history, means.keep, means.counter)
        end = _answer(history) if self.answered else len(history)
        if self.until is not None:
            end = min(end, self.until(history))
        stubs: dict[int, Message] = {}
        for place in planned.taken:
            message = history[place]
            if place < end and self._may(message) and self._is_large(message):
                stub = self._stub(message)
                less = means.counter.message(stub) < means.counter.message(message)
                if less or not self.smaller:
                    stubs[place] = stub
        return stubs

    def _may(self, message: Message) -> bool:
        return (self.composed or not message.composed) and (self.calling or not message.calls)

    def _is_large(self, message: Message) -> bool:
        return any(self._length(block) > self.over for block in self._parts(message))

    def _parts(self, message: Message) -> tuple[Block, ...]:
        return joined(message) if self.whole else message.blocks

    def _stub(self, message: Message) -> Message:
        data = stored((message,))
        parts = self._parts(message)
        if self.escape and not is_made(message):
            parts = tuple(b if self._length(b) > self.over else defused(b) for b in parts)
        return replace(
            message,
            blocks=tuple(self._short(block, data) for block in parts),
            derived_from=originals(message),
            composed=True,
        )

    def _short(self, block: Block, data: bytes) -> Block:
        if not isinstance(block, Text | ToolResult) or self._length(block) <= self.over:
            return block
        begun = self.cut(block.text, self.preview)
        begun = escaped(begun) if self.escape else begun
        where = self.reference(data, len(block.text))
        return replace(block, text=f"{begun}...\n{where}" if begun else where)

    def _length(self, block: Block) -> int:
        return self.length(block.text) if isinstance(block, Text | ToolResult) else 0


def restored(message: Message, blobs: Blobs) -> Message:
    """The message that was offloaded, as it was; itself where it was not.

    Raises `StoreError` if its blob is gone, or is another session's. Raises `StateError` if its
    blob is damaged.
    """
    fault: StoreError | StateError | None = None
    for digest in referenced((message,)):
        try:
            found = reload(digest, blobs)
        except (StoreError, StateError) as error:
            # It may be forged; which one is ours, only what is behind it tells.
            fault = fault or error
            continue
        for original in found:
            if original.id == message.id:
                return original
    if fault is not None:
        raise fault
    return message


def joined(message: Message) -> tuple[Text | ToolResult, ...]:
    """All results of a message as one block, or all its texts where it has none; or nothing."""
    if len(message.blocks) == 1:
        only = message.blocks[0]
        return () if isinstance(only, ToolUse) else (only,)
    results = [b for b in message.blocks if isinstance(b, ToolResult)]
    if results:
        return (replace(results[0], text="".join(b.text for b in results)),)
    texts = [b.text for b in message.blocks if isinstance(b, Text)]
    return (Text("\n".join(texts)),) if texts else ()


def _answer(history: History) -> int:
    for place in range(len(history) - 1, -1, -1):
        if history[place].role == "assistant" and is_telling(history[place]):
            return place
    return 0
