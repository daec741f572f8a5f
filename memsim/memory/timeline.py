"""What is known of each message that was said: its place, length, speaker and successor.

A conversation's order says nothing of any other conversation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memsim.memory.repeating import words_of
from memsim.memory.retrieval.asking import asked
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
    words: bytes | None


class Timeline:
    """The entries of messages by conversation, in the order in which they were said.

    Messages of two principals may have one id: each is known by who said it as well.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all of it."""
        self._talk = Talk()
        self._said: dict[str, _Said] = {}
        self._of: dict[tuple[str, str], list[str]] = {}
        self._speaker: dict[tuple[str, str], str] = {}
        self._sessions: dict[str, dict[str, None]] = {}
        self._made: dict[str, str] = {}
        self._episodes: dict[str, tuple[str, str]] = {}
        self._waiting: dict[tuple[str, str], dict[str, None]] = {}
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
        text = entry.text.removeprefix(f"{entry.owner}: ")
        about = About(
            order=self._count,
            tokens=tokens,
            time=entry.created,
            principal=entry.owner,
            asked=asked(text),
        )
        words = words_of(entry.owner, entry.created, text)
        self._said[name] = _Said(source, session, about, words)
        self._of.setdefault((entry.owner, source), []).append(name)
        self._speaker.setdefault((session, source), entry.owner)
        self._sessions.setdefault(session, {})[name] = None
        self._waiting.setdefault((entry.owner, session), {})[name] = None
        self._talk.add(name, entry.text, session=session, tokens=tokens, turn=turn)
        self._count += 1

    def made(self, entry: Entry) -> None:
        """Something was made of what was said in a conversation: a fact, or an episode."""
        if entry.session:
            self._made[entry.id] = entry.session
            self._sessions.setdefault(entry.session, {})[entry.id] = None
        if entry.layer == "episodic":
            of = self._episodes[entry.id] = entry.owner, entry.session
            concluded = set(entry.sources)
            waiting = self._waiting.pop(of, {})
            left = {i: None for i in waiting if self._said[i].source not in concluded}
            if left:
                self._waiting[of] = left

    def remove(self, entries: Iterable[str]) -> None:
        """Forget messages, and what was made; neighbours then stand beside each other.

        The messages of an episode that is forgotten wait for another.
        """
        reopened: set[tuple[str, str]] = set()
        for entry in entries:
            said = self._said.pop(entry, None)
            if said is not None:
                self._talk.remove(entry)
                about = (said.about.principal, said.source)
                self._of[about].remove(entry)
                if not self._of[about]:
                    del self._of[about]
                    if self._speaker.get((said.session, said.source)) == said.about.principal:
                        del self._speaker[said.session, said.source]
                self._waiting.get((said.about.principal, said.session), {}).pop(entry, None)
            session = self._made.pop(entry, None) if said is None else said.session
            if entry in self._episodes:
                reopened.add(self._episodes.pop(entry))
            if session is not None:
                del self._sessions[session][entry]
                if not self._sessions[session]:
                    del self._sessions[session]

        for owner, session in sorted(reopened):
            names = (i for i in self._sessions.get(session, ()) if i in self._said)
            said_by = {i: None for i in names if self._said[i].about.principal == owner}
            self._waiting[owner, session] = said_by

    def waiting(self, owner: str, session: str) -> Iterable[str]:
        """Ids of the entries of an owner's messages that stand in no episode yet, oldest first."""
        return self._waiting.get((owner, session), ())

    def succeed(self, owner: str, source: str, successor: str | None) -> None:
        """Note that all that a message stated has been superseded by what another states.

        Args:
            owner: whose messages they are.
            source: the message.
            successor: the other; None where the message is in force again.
        """
        heir = next(iter(self._of.get((owner, successor), ())), None) if successor else None
        for entry in self._of.get((owner, source), ()):
            said = self._said[entry]
            self._said[entry] = said._replace(about=replace(said.about, successor=heir))

    def entries(self, owner: str, source: str) -> list[str]:
        """Ids of the entries that hold an owner's message; none where it is not known."""
        return [*self._of.get((owner, source), ())]

    def is_taken(self, session: str, source: str) -> bool:
        """Whether a message of a conversation has this id, whoever said it."""
        return (session, source) in self._speaker

    def source(self, entry: str) -> str | None:
        """The id of the message that an entry holds; None where it holds none."""
        said = self._said.get(entry)
        return None if said is None else said.source

    def words(self, entry: str) -> bytes | None:
        """What the message that an entry holds has in common with others, as `words_of` has it."""
        said = self._said.get(entry)
        return None if said is None else said.words

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

    def of(self, session: str) -> list[str]:
        """Ids of the entries of a conversation, of messages and of what was made of them."""
        return [*self._sessions.get(session, ())]

    def order(self) -> list[str]:
        """Ids of the entries of messages, in the order in which they were said."""
        return sorted(self._said, key=lambda entry: self._said[entry].about.order)
