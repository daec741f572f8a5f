"""Long results of tools by their beginning and end, the rest told by its length and digest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.language.graphemes import head, tail
from memsim.memory.compaction.fences import defused, escaped
from memsim.memory.compaction.keeping import plan
from memsim.memory.compaction.shape import Compaction, Means, State, changed, unchanged
from memsim.memory.compaction.summary import originals
from memsim.message import ToolResult

if TYPE_CHECKING:
    from memsim.memory.compaction.shape import History
    from memsim.message import Block, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortenResults:
    """Shortens every tool result that is too long; call and result stay a pair.

    In what else such a message says, delimiters are taken apart.

    Attributes:
        over: characters beyond which a result is shortened.
        head: so many characters of its beginning stay.
        tail: so many characters of its end stay.
        last: so many of the latest messages stay; None for as many as the means say.
    """

    over: int = 2000
    head: int = 1000
    tail: int = 500
    last: int | None = None
    name: str = "shorten results"

    def __call__(self, history: History, state: State, means: Means) -> Compaction:
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

    Args:
        text: the text.
        first: characters of its beginning, at most; no cluster of characters is split.
        last: characters of its end, at most.

    Returns:
        The text itself where that is no longer.
    """
    begun = head(text, first)
    ended = tail(text[len(begun) :], last)
    left = len(text) - len(begun) - len(ended)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    line = f"[shortened: {left} of {len(text)} characters left out, sha256 {digest}]"
    short = "\n".join(part for part in (escaped(begun), line, escaped(ended)) if part)
    return short if len(short) < len(text) else text
