"""What is still to be done with what was said, so that a failure loses none of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memsim.clock import utc
from memsim.memory.state import JSON, pack, reading, unpack

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from memsim.message import Message

UNREAD = 64
"""Latest messages of a conversation that are read for facts again where the model failed; of older
ones they are given up, since a model that keeps failing must not make each request longer than the
last."""


@dataclass(slots=True, kw_only=True)
class Backlog:
    """What a memory has yet to do; each part is taken out when it is done.

    Attributes:
        said: messages that the store does not hold yet, oldest first.
        unread: recorded messages of which no facts were extracted yet.
        left: conversations that are over for a principal, to be concluded: who, and which.
        open: when a principal last spoke in a conversation of which not all stands in an episode.
        joined: conversations that somebody has joined, whose entries are to be opened to them.
        unnamed: messages whose names working memory does not have yet.
    """

    said: list[Message] = field(default_factory=list)
    unread: list[Message] = field(default_factory=list)
    left: dict[tuple[str, str], None] = field(default_factory=dict)
    open: dict[tuple[str, str], datetime] = field(default_factory=dict)
    joined: dict[str, None] = field(default_factory=dict)
    unnamed: list[Message] = field(default_factory=list)

    def said_by(self, principal: str | None) -> list[Message]:
        """What is to be recorded of a principal's, or of everybody's."""
        return [m for m in self.said if principal in {None, m.principal}]

    def recorded(self, messages: Collection[Message], *, read: bool) -> None:
        """Messages are in the store now.

        Args:
            messages: which.
            read: whether facts are to be extracted from them.
        """
        done = {id(m) for m in messages}
        self.said = [m for m in self.said if id(m) not in done]
        if read:
            self.unread = [*self.unread, *messages]

    def unread_of(self, principal: str | None) -> dict[tuple[str, str], list[Message]]:
        """What facts are to be extracted from, by principal and conversation, each apart."""
        return _grouped(self.unread, principal)

    def read(self, messages: Collection[Message]) -> None:
        """Facts were extracted from messages."""
        done = {id(m) for m in messages}
        self.unread = [m for m in self.unread if id(m) not in done]

    def unreadable(self, messages: Collection[Message]) -> None:
        """The model failed at messages of one conversation: only the latest are tried again."""
        given_up = {id(m) for m in [*messages][:-UNREAD]}
        self.unread = [m for m in self.unread if id(m) not in given_up]

    def unnamed_of(self, principal: str | None) -> dict[tuple[str, str], list[Message]]:
        """Recorded messages whose names are to be noted, as `unread_of`; each once."""
        waiting = {(m.principal, m.id) for m in self.said}
        once = {(m.principal, m.id): m for m in self.unnamed}
        return _grouped((m for of, m in once.items() if of not in waiting), principal)

    def named(self, messages: Collection[Message]) -> None:
        """The names in messages have been noted, or are given up."""
        done = {(m.principal, m.id) for m in messages}
        self.unnamed = [m for m in self.unnamed if (m.principal, m.id) not in done]

    def concluded(self, principal: str, session: str) -> None:
        """All that a principal said in a conversation has been read for its episode."""
        self.left.pop((principal, session), None)
        self.open.pop((principal, session), None)

    def remove(self, sources: Collection[str], principal: str) -> int:
        """Take a principal's messages out, whatever was to be done with them; how many."""
        before = len(self.said) + len(self.unread)
        self.said = [m for m in self.said if m.principal != principal or m.id not in sources]
        self.unread = [m for m in self.unread if m.principal != principal or m.id not in sources]
        self.unnamed = [m for m in self.unnamed if m.principal != principal or m.id not in sources]
        return before - len(self.said) - len(self.unread)

    def take_over(self, other: Backlog) -> None:
        """Have what another has to be done in place of what there was."""
        self.said, self.unread = other.said, other.unread
        self.left, self.open, self.joined = other.left, other.open, other.joined
        self.unnamed = other.unnamed

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            "said": pack(self.said),
            "unread": pack(self.unread),
            "left": [[who, session] for who, session in self.left],
            "open": [
                [who, session, last.isoformat()] for (who, session), last in self.open.items()
            ],
            "joined": [*self.joined],
            "unnamed": pack(self.unnamed),
        }

    @classmethod
    def load(cls, saved: Any) -> Backlog:  # noqa: ANN401 - what was read from a file may be anything
        """What was saved.

        Raises:
            StateError: it is no such state.
        """
        with reading("what was still to be done is damaged"):
            return cls(
                said=unpack(saved["said"]),
                unread=unpack(saved["unread"]),
                left={("" + who, "" + session): None for who, session in saved["left"]},
                open={
                    ("" + who, "" + session): utc(datetime.fromisoformat(last))
                    for who, session, last in saved.get("open", ())
                },
                joined={"" + session: None for session in saved["joined"]},
                unnamed=unpack(saved.get("unnamed", ())),
            )


def _grouped(
    messages: Iterable[Message], principal: str | None
) -> dict[tuple[str, str], list[Message]]:
    groups: dict[tuple[str, str], list[Message]] = {}
    for message in messages:
        if principal in {None, message.principal}:
            groups.setdefault((message.principal, message.session), []).append(message)
    return groups
