"""Everything that was said, with the indexes to find it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memsim.memory.state import JSON
from memsim.memory.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memsim.memory.retrieval import Ranker
    from memsim.message import Message
    from memsim.tokens import TokenCounter


class Archive:
    """A log of messages, and rankers of their texts.

    A text is indexed with the name of who said it, `principal: text`, since questions name people.

    Args:
        counter: token counts.
        rankers: empty indexes.
    """

    def __init__(self, counter: TokenCounter, *rankers: Ranker) -> None:
        self.log = Window(counter)
        self.rankers: Sequence[Ranker] = rankers

    def add(self, message: Message) -> None:
        """Keep a message and index it."""
        self.log.add(message)
        text = f"{message.principal}: {message.text}"
        for ranker in self.rankers:
            ranker.add(message.id, text)

    def remove(self, ids: Iterable[str]) -> tuple[Message, ...]:
        """Take messages out of the log and the indexes, with their tool calls or results."""
        gone = self.log.remove(ids)
        for message in gone:
            for ranker in self.rankers:
                ranker.remove(message.id)
        return gone

    def save(self) -> JSON:
        """The messages as JSON values; the indexes are made from them again."""
        return self.log.save()

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved messages; called on an empty archive.

        Raises:
            StateError: they are none.
        """
        found = Window(self.log.counter)
        found.load(saved)
        for message in found:
            self.add(message)

    def close(self) -> None:
        """Release what the indexes hold open."""
        for ranker in self.rankers:
            ranker.close()
