"""Large content goes to a blob, and a reference with its beginning stands where it stood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.memory.compaction.blobs import Blobs, reference_of, referenced, reload, stored
from memsim.memory.compaction.fences import escaped
from memsim.memory.compaction.graphemes import head
from memsim.memory.compaction.keeping import plan
from memsim.memory.compaction.rolling import is_telling
from memsim.memory.compaction.shape import Compaction, Means, State, changed, unchanged
from memsim.memory.compaction.summary import originals
from memsim.message import Text, ToolResult

if TYPE_CHECKING:
    from memsim.memory.compaction.shape import History
    from memsim.message import Block, Message


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
    """

    over: int = 5 * 1024
    preview: int = 200
    answered: bool = False
    last: int | None = None
    name: str = "offload"

    def __call__(self, history: History, state: State, means: Means) -> Compaction:
        """Offload large content, as `Step` has it.

        Raises:
            ValueError: there is nowhere to keep it.
            StoreError: it could not be kept.
        """
        means = means.keeping(self.last)
        if means.blobs is None:
            raise ValueError("offloading needs somewhere to keep what is offloaded")
        stubs = self._stubs(history, means)
        if not stubs:
            return unchanged(self.name, history, state, means, "no content is large")
        left = tuple(stubs.get(place, m) for place, m in enumerate(history))
        sources = tuple(history[place].id for place in stubs)
        done = changed(self.name, (history, state), (left, state), means, sources)
        if done.changed:
            for place in stubs:
                means.blobs.put(stored((history[place],)))
        return done

    def _stubs(self, history: History, means: Means) -> dict[int, Message]:
        planned = plan(history, means.keep, means.counter)
        end = _answer(history) if self.answered else len(history)
        stubs: dict[int, Message] = {}
        for place in planned.taken:
            message = history[place]
            if place < end and not message.composed and self._is_large(message):
                stub = self._stub(message)
                if means.counter.message(stub) < means.counter.message(message):
                    stubs[place] = stub
        return stubs

    def _is_large(self, message: Message) -> bool:
        return any(_length(block) > self.over for block in message.blocks)

    def _stub(self, message: Message) -> Message:
        data = stored((message,))
        return replace(
            message,
            blocks=tuple(self._short(block, data) for block in message.blocks),
            derived_from=originals(message),
            composed=True,
        )

    def _short(self, block: Block, data: bytes) -> Block:
        if not isinstance(block, Text | ToolResult) or len(block.text) <= self.over:
            return block
        begun = escaped(head(block.text, self.preview))
        where = reference_of(data, len(block.text))
        return replace(block, text=f"{begun}...\n{where}" if begun else where)


def restored(message: Message, blobs: Blobs) -> Message:
    """The message that was offloaded, as it was; itself where it was not.

    Raises:
        StoreError: its blob is gone, or is another session's.
        StateError: its blob is damaged.
    """
    for digest in referenced((message,)):
        for original in reload(digest, blobs):
            if original.id == message.id:
                return original
    return message


def _length(block: Block) -> int:
    return len(block.text) if isinstance(block, Text | ToolResult) else 0


def _answer(history: History) -> int:
    for place in range(len(history) - 1, -1, -1):
        if history[place].role == "assistant" and is_telling(history[place]):
            return place
    return 0
