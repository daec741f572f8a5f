"""The conversations as they go: their latest messages, their summaries, and who is in which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from memsim.memory.session import Session
from memsim.memory.state import JSON, reading

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.message import Message

FIRST = "s1"
"""The conversation of who has not said anything yet."""


class Conversations:
    """The sessions of a memory, by name.

    Args:
        make: makes an empty session of a name.
    """

    def __init__(self, make: Callable[[str], Session]) -> None:
        self._make = make
        self._sessions: dict[str, Session] = {}
        self._latest: dict[str, str] = {}

    def __iter__(self) -> Iterator[tuple[str, Session]]:
        return iter(self._sessions.items())

    def is_new(self, message: Message) -> bool:
        """Whether a message is not among the latest of its conversation.

        Raises:
            ValueError: another one is there under its id.
        """
        session = self._sessions.get(message.session)
        return session is None or session.is_new(message)

    def add(self, message: Message, now: datetime) -> str | None:
        """A message was said; the conversation that its principal has left for it, if any."""
        before = self._latest.get(message.principal)
        self._latest[message.principal] = message.session
        session = self._sessions.get(message.session)
        if session is None:
            session = self._sessions[message.session] = self._make(message.session)
        session.add(message, now)
        return None if before == message.session else before

    def get(self, name: str) -> Session | None:
        """A conversation by its name."""
        return self._sessions.get(name)

    def latest(self, principal: str) -> str:
        """The name of the conversation that a principal spoke in last."""
        return self._latest.get(principal, FIRST)

    def remove(self, sources: Collection[str], principal: str) -> int:
        """Take a principal's messages out of every conversation; how many are gone."""
        return sum(len(s.remove(sources, principal)) for s in self._sessions.values())

    def touch(self, name: str, now: datetime) -> None:
        """The latest messages of a conversation were shown, and last longer for it."""
        if name in self._sessions:
            self._sessions[name].touch(now)

    def sweep(self, now: datetime) -> None:
        """Drop the latest messages of every conversation that nobody has used for too long."""
        for session in self._sessions.values():
            session.sweep(now)

    def tidy(self) -> None:
        """Remove what is offloaded and belongs to no message.

        Raises:
            StoreError: it cannot be removed.
        """
        for session in self._sessions.values():
            session.tidy()

    def save(self) -> JSON:
        """The whole state as JSON values."""
        latest: dict[str, JSON] = {who: self._latest[who] for who in sorted(self._latest)}
        sessions: dict[str, JSON] = {n: self._sessions[n].save() for n in sorted(self._sessions)}
        return {"latest": latest, "sessions": sessions}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state in place of the present one.

        Raises:
            StateError: it is no such state; nothing has changed.
        """
        sessions: dict[str, Session] = {}
        with reading("its conversations are damaged"):
            for name, part in saved["sessions"].items():
                sessions[name] = self._make(name)
                sessions[name].load(part)
            latest = {"" + who: "" + name for who, name in saved["latest"].items()}
        self._sessions, self._latest = sessions, latest
