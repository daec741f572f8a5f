"""What a model is shown of the messages that it is to summarise, where that is not all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.language.graphemes import head, tail
from memsim.message import Text

if TYPE_CHECKING:
    from memsim.memory.compaction.shape import History
    from memsim.message import Message, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Messages as a model is to read them: some roles only, long ones by their beginning and end.

    Attributes:
        roles: whose words are shown.
        over: characters beyond which a message is shown in part.
        first: so many characters of its beginning are shown then.
        last: so many characters of its end are.
        gap: stands between the two.
        total: characters of all messages together; the latest that fit are shown. None for all.
    """

    roles: tuple[Role, ...] = ("user", "assistant")
    over: int = 2000
    first: int = 1000
    last: int = 500
    gap: str = " [...] "
    total: int | None = None

    def __call__(self, messages: History) -> History:
        """The messages as they are shown, under their own ids."""
        shown = [self._message(m) for m in messages if m.role in self.roles and m.text.strip()]
        if self.total is None:
            return tuple(shown)
        room, start = self.total, len(shown)
        while start > 0 and len(shown[start - 1].text) <= room:
            start -= 1
            room -= len(shown[start].text)
        return tuple(shown[start:])

    def _message(self, message: Message) -> Message:
        text = message.text
        if len(text) <= self.over:
            return message
        short = f"{head(text, self.first)}{self.gap}{tail(text, self.last)}"
        return replace(message, blocks=(Text(short),))
