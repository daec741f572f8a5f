"""The short-term memory of Python 1.0.21 as an agent has it, which compresses before it reasons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memsim.errors import ModelError
from memsim.memory.compaction import Summary
from memsim.memory.compaction.summary import absorbed
from memsim.memory.state import JSON
from memsim.memory.systems.agentscope.marked import (
    COMPRESSED,
    CompressionConfig,
    MarkedMemory,
    Row,
    compress_if_needed,
)
from memsim.memory.window import Window
from memsim.models import Request

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.message import Message
    from memsim.models import Model
    from memsim.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Marking:
    """A compression that is computed and not yet adopted.

    Attributes:
        memory: afterwards.
        sources: ids of the messages that it marked.
        window: what the model is shown.
    """

    memory: MarkedMemory
    sources: tuple[str, ...]
    window: Window
    detail: str = "marked as compressed"


class PythonAgentMemory:
    """Messages that are marked once they are compressed.

    Args:
        counter: tokens as contexts count them.
        names: by message id, the name of the tool whose answer it is.
        config: when and how it compresses; None for never.
        limit: tokens that a summary may have.
    """

    def __init__(
        self,
        counter: TokenCounter,
        names: Mapping[str, str],
        config: CompressionConfig | None,
        limit: int,
    ) -> None:
        self._counter = counter
        self._names = names
        self._config = config
        self._limit = limit
        self.revision = 0
        self._take(MarkedMemory(names))

    def add_message(self, message: Message) -> None:
        """Add a message; one that is there already is left out."""
        before = len(self.memory)
        self.memory.add([message], allow_duplicates=message.id not in self.ids)
        self.ids.add(message.id)
        if len(self.memory) > before:
            self.window.add(message)
            self.revision += 1

    def get_messages(self) -> tuple[Message, ...]:
        """The summary and the messages that are not compressed."""
        return tuple(self.window)

    def draft(self, model: Model, now: Callable[[], datetime]) -> Marking | None:
        """What a compression would come to, with nothing changed; None where none is due."""
        if self._config is None:
            return None
        memory = MarkedMemory(self._names)
        memory.content = list(self.memory.content)
        memory.summary, memory.sources = self.memory.summary, self.memory.sources

        def ask(_prompt: list[Row], older: tuple[Message, ...]) -> Mapping[str, str] | None:
            request = Request(task="summarise", messages=older, max_tokens=self._limit, now=now())
            try:
                reply = model.complete(request)
            except ModelError:
                return None
            if not reply.text.strip():
                return None
            memory.sources = absorbed(reply, older, Summary(), now()).sources
            return {"task_overview": reply.text}

        sources = compress_if_needed(memory, self._config, ask)
        return Marking(memory, sources, self._shown(memory)) if sources else None

    def adopt(self, marking: Marking) -> None:
        """Make a draft the memory; it is of the messages as they are now."""
        self._take(marking.memory)

    def delete_message(self, index: int) -> None:
        """Delete a message that is shown by its place; a place that there is not is ignored."""
        shown = self.get_messages()
        if 0 <= index < len(shown):
            self.memory.delete([shown[index].id])
            self._take(self.memory)

    def remove(self, ids: Collection[str]) -> tuple[str, ...]:
        """Take messages out, and the summary that may have been made from them."""
        wanted = frozenset(ids)
        gone = [m.id for m, _ in self.memory.content if m.id in wanted]
        marked = {m.id for m in self.memory.get_memory(COMPRESSED, prepend_summary=False)}
        if not wanted.isdisjoint((*marked, *self.memory.sources)):
            self.memory.summary, self.memory.sources = "", ()
        self.memory.delete(gone)
        self._take(self.memory)
        return tuple(gone)

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return self.memory.save()

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Take over a saved state in place of the present one.

        Raises:
            StateError: it is no such state.
        """
        memory = MarkedMemory(self._names)
        memory.load(saved)
        self._take(memory)

    def _take(self, memory: MarkedMemory) -> None:
        self.memory = memory
        self.ids = {m.id for m, _ in memory.content}
        self.window = self._shown(memory)
        self.revision += 1

    def _shown(self, memory: MarkedMemory) -> Window:
        window = Window(self._counter)
        for message in memory.get_memory(exclude_mark=COMPRESSED):
            window.add(message)
        return window
