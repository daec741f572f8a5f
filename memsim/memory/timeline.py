"""What recall has to know of each message that was said: its place, length, speaker and successor.

A conversation's order says nothing of any other conversation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memsim.memory.retrieval.recall import About
from memsim.memory.retrieval.talk import Talk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.memory.entry import Entry
    from memsim.memory.retrieval.talk import Lent


class _Said(NamedTuple):
    source: str
    session: str
    about: About


class Timeline:
    """The entries of messages by conversation, in the order in which they were said."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all of it."""
        self._talk = Talk()
        self._said: dict[str, _Said] = {}
        self._of: dict[str, list[str]] = {}
        self._sessions: dict[str, int] = {}
        self._count = 0

    def __contains__(self, entry: object) -> bool:
        return entry in self._said

    def __len__(self) -> int:
        return len(self._said)

    def add(self, entry: Entry, *, tokens: int, turn: int) -> None:
        """A message was said, or a passage of one; what is known already stays as it is.

        Args:
            entry: what holds it; its first source is the message.
            tokens: its length as it would be quoted.
            turn: the exchange that it belongs to.
        """
        source, session, name = entry.sources[0], entry.session, entry.id
        if name in self._said:
            return
        about = About(order=self._count, tokens=tokens, time=entry.created, principal=entry.owner)
        self._said[name] = _Said(source, session, about)
        self._of.setdefault(source, []).append(name)
        self._sessions[session] = self._sessions.get(session, 0) + 1
        self._talk.add(name, entry.text, session=session, tokens=tokens, turn=turn)
        self._count += 1

    def remove(self, entries: Iterable[str]) -> None:
        """Forget messages; their neighbours then stand beside each other."""
        for entry in entries:
            said = self._said.pop(entry, None)
            if said is not None:
                self._talk.remove(entry)
                self._of[said.source].remove(entry)
                self._sessions[said.session] -= 1

    def succeed(self, source: str, successor: str | None) -> None:
        """Note that all that a message stated has been superseded by what another states.

        Args:
            source: the message.
            successor: the other; None where the message is in force again.
        """
        heir = next(iter(self._of.get(successor, ())), None) if successor else None
        for entry in self._of.get(source, ()):
            said = self._said[entry]
            self._said[entry] = said._replace(about=replace(said.about, successor=heir))

    def source(self, entry: str) -> str | None:
        """The id of the message that an entry holds; None where it holds none."""
        said = self._said.get(entry)
        return None if said is None else said.source

    def session(self, entry: str) -> str | None:
        """The conversation of the message that an entry holds; None where it holds none."""
        said = self._said.get(entry)
        return None if said is None else said.session

    def about(self, entry: str) -> About | None:
        """What is known of the message that an entry holds; None where it holds none."""
        said = self._said.get(entry)
        return None if said is None else said.about

    def beside(self, entry: str) -> Lent:
        """The messages around one, each with the share of its relevance that it is lent."""
        return self._talk.beside(entry)

    def has(self, session: str) -> bool:
        """Whether anything that was said in a conversation is known."""
        return self._sessions.get(session, 0) > 0
