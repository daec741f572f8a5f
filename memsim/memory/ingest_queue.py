"""What is still to be done with what was said, so that a failure loses none of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from memsim.errors import Attempts, ModelError, StoreError
from memsim.memory.codec import JSON, pack, reading, unpack
from memsim.memory.entry import Conversation
from memsim.memory.history.working_memory import WorkingFull
from memsim.memory.layers.entities import names_in, noted_with
from memsim.memory.layers.episodic import exchange
from memsim.message import utc

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from memsim.memory.entry import Entry
    from memsim.memory.events import EventListener
    from memsim.memory.fact_extraction import FactExtractor
    from memsim.memory.history.conversations import Conversations
    from memsim.memory.history.working_memory import WorkingMemory
    from memsim.memory.layers.episodic import Episodic
    from memsim.memory.options import MemoryOptions
    from memsim.memory.permissions import Permissions
    from memsim.memory.recall.timeline import Timeline
    from memsim.memory.vault import Vault
    from memsim.message import Message
    from memsim.models import Model


UNREAD = 64
"""Latest messages of a conversation that are read for facts again where the model failed; of older
ones they are given up, since a model that keeps failing must not make each request longer than the
last."""


@dataclass(slots=True, kw_only=True)
class IngestQueue:
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
    _called: dict[str, list[Message]] = field(init=False, repr=False, compare=False)
    """What is to be recorded, by the ids of the messages."""

    def __post_init__(self) -> None:
        self._keep(self.said)

    def say(self, message: Message) -> None:
        """A message is to be recorded."""
        self.said.append(message)
        self._called.setdefault(message.id, []).append(message)

    def called(self, message: Message) -> list[Message]:
        """What is to be recorded under a message's id, of its principal or its conversation."""
        return [
            m
            for m in self._called.get(message.id, ())
            if m.principal == message.principal or m.session == message.session
        ]

    def said_by(self, principal: str | None) -> list[Message]:
        """What is to be recorded of a principal's, or of everybody's."""
        return [m for m in self.said if principal in {None, m.principal}]

    def recorded(self, messages: Collection[Message], *, read: bool) -> None:
        """Messages are in the store now."""
        done = {id(m) for m in messages}
        self._keep([m for m in self.said if id(m) not in done])
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
        self._keep([m for m in self.said if m.principal != principal or m.id not in sources])
        self.unread = [m for m in self.unread if m.principal != principal or m.id not in sources]
        self.unnamed = [m for m in self.unnamed if m.principal != principal or m.id not in sources]
        return before - len(self.said) - len(self.unread)

    def take_over(self, other: IngestQueue) -> None:
        """Have what another has to be done in place of what there was."""
        self._keep(other.said)
        self.unread = other.unread
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
    def load(cls, saved: Any) -> IngestQueue:  # noqa: ANN401 - what was read from a file may be anything
        """What was saved. Raises `StateError` if it is no such state."""
        with reading("what was still to be done is damaged"):
            return cls(
                said=unpack(saved["said"]),
                unread=unpack(saved["unread"]),
                left={("" + who, "" + session): None for who, session in saved["left"]},
                open={
                    ("" + who, "" + session): utc(datetime.fromisoformat(last))
                    for who, session, last in saved["open"]
                },
                joined={"" + session: None for session in saved["joined"]},
                unnamed=unpack(saved["unnamed"]),
            )

    def _keep(self, said: list[Message]) -> None:
        self.said, self._called = said, {}
        for message in said:
            self._called.setdefault(message.id, []).append(message)


def _grouped(
    messages: Iterable[Message], principal: str | None
) -> dict[tuple[str, str], list[Message]]:
    groups: dict[tuple[str, str], list[Message]] = {}
    for message in messages:
        if principal in {None, message.principal}:
            groups.setdefault((message.principal, message.session), []).append(message)
    return groups


# Which messages a memory knows: an id is one message's, whichever conversation it is said in.


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageIdentity:
    """Tells a message that is new from one that is said once more, and from another of its id.

    A principal's messages each have an id of their own, and so have those of a conversation. The
    id of what was forgotten, or purged, may be used again.
    """

    backlog: IngestQueue
    timeline: Timeline
    conversations: Conversations
    episodic: Episodic
    vault: Vault

    def is_new(self, message: Message) -> bool:
        """Whether nothing of a message's id is known; the store is read only where something is.

        Raises `ValueError` if it can be kept in no store, or another message has its id. Raises
        `StoreError` if what is on record under its id cannot be read.
        """
        exchange(message)
        if "\n" in message.id:
            raise ValueError(f"the id of a message has several lines: {message.id!r}")
        waiting = self.backlog.called(message)
        if waiting and waiting != [message]:
            raise _another(message)
        if waiting or not self.conversations.is_new(message):
            return False
        known = self.timeline.entries(message.principal, message.id)
        if known:
            return not self._is_held(message, known)
        if self.timeline.is_taken(message.session, message.id):
            raise _another(message)
        return True

    def _is_held(self, message: Message, known: list[str]) -> bool:
        held = {e.id: e for e in self.vault.store.get(known)}
        if not held:
            # An erasure that failed on its way took it out of the store, and no further.
            self.timeline.remove(known)
            return False
        made = {e.id: e for e in self.episodic.entries(message)}
        if made.keys() != held.keys() or not all(_alike(held[i], made[i]) for i in made):
            raise _another(message)
        return True


def _alike(held: Entry, made: Entry) -> bool:
    """Whether both say the same; who may read it, and what time has done to it, is left out."""
    return (held.text, held.session, held.created, held.attributes) == (
        made.text,
        made.session,
        made.created,
        made.attributes,
    )


def _another(message: Message) -> ValueError:
    return ValueError(f"another message is called {message.id!r}: an id is one message's")


# What is done at the end of a turn: record, note, extract, conclude, summarise; all in the end.


READ_AT_ONCE = 4096
"""Tokens of messages that are read at once for an episode, so that no turn waits for all of a long
conversation; the rest is read in the turns that follow."""

IDLE = timedelta(days=1)
"""After so long without a message a conversation is over, though nobody left it for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnProcessor:
    """Works off the backlog of a memory.

    Attributes:
        place: takes in the entry of a message that has been recorded.
        permissions: who takes part in which conversation; None where everybody sees everything.
    """

    backlog: IngestQueue
    vault: Vault
    episodic: Episodic
    learner: FactExtractor
    timeline: Timeline
    conversations: Conversations
    working: WorkingMemory
    permissions: Permissions | None
    options: MemoryOptions
    model: Model
    place: Callable[[Entry], None]
    tell: EventListener

    def end(self, principal: str | None, now: datetime) -> None:
        """All that is to be done for a principal, or for everybody.

        Raises `StoreError` if the store failed; what is left is done at the next call. Raises
        `ModelError` if the model failed; so it is then, too.
        """
        attempts = Attempts()
        attempt = attempts.attempt
        attempt(self.admit)
        said = dict.fromkeys(m.session for m in self.backlog.said_by(principal))
        attempt(lambda: self.record(principal))
        for (who, session), messages in self.backlog.unnamed_of(principal).items():
            attempt(lambda w=who, s=session, m=messages: self._name(w, s, m, now))  # type: ignore[misc]
        for (who, session), messages in self.backlog.unread_of(principal).items():
            said[session] = None
            attempt(lambda w=who, s=session, m=messages: self._learn(w, s, m, now))  # type: ignore[misc]
        for who, session in [*self.backlog.left]:
            if principal in {None, who}:
                attempt(lambda w=who, s=session: self._conclude(w, s, now))  # type: ignore[misc]
        for session in said:
            attempt(lambda s=session: self._compact(s, now))  # type: ignore[misc]
        attempts.end()

    def rest(self, now: datetime) -> None:
        """Conclude every conversation in which nobody has said anything for long.

        Raises `StoreError` if the store failed; what is left is done at the next call, or turn.
        Raises `ModelError` if the model failed; so it is then, too.
        """
        attempts = Attempts()
        for who, name in [of for of, last in self.backlog.open.items() if now - last >= IDLE]:
            self.backlog.left[who, name] = None
            attempts.attempt(lambda w=who, n=name: self._conclude_all(w, n, now))  # type: ignore[misc]
        attempts.end()

    def record(self, principal: str | None = None) -> None:
        """Have the store hold what was said.

        Raises `StoreError` if it failed, and holds none of it. Raises `ModelError` if the embedder
        failed, and so it does.
        """
        said = self.backlog.said_by(principal)
        if said:
            self.timeline.need(m.principal for m in said)
            entries = self.episodic.record(said)
            self.backlog.recorded(said, read=self.options.extracts)
            for entry in entries:
                self.place(entry)

    def admit(self) -> None:
        """Open conversations to who has joined them: whoever takes part may read all of it.

        Raises `StoreError` if the store failed; they are opened at the next call. Raises
        `ModelError` if the embedder failed, and so they are.
        """
        for session in [*self.backlog.joined]:
            if self.permissions is not None:
                held = self.vault.store.get(self.timeline.of(session))
                new = [self.permissions.apply(e) for e in held]
                self.vault.put([e for e, old in zip(new, held, strict=True) if e != old])
            del self.backlog.joined[session]

    def _name(self, who: str, session: str, messages: list[Message], now: datetime) -> None:
        """Have working memory name what messages mention; what is full is not tried again."""
        said = [(m, names) for m in messages if (names := names_in(m))]
        try:
            if said:
                of = Conversation(who, session)
                self.working.merge_entities(of, lambda noted: noted_with(noted, said), now)
        except WorkingFull:
            self.backlog.named(messages)
            raise
        except StoreError:
            self.backlog.named(messages[:-UNREAD])
            raise
        self.backlog.named(messages)

    def _learn(self, who: str, session: str, messages: list[Message], now: datetime) -> None:
        self.timeline.need([who])
        try:
            new = self.learner.facts(who, session, messages, now)
        except (ModelError, StoreError):
            self.backlog.unreadable(messages)
            raise
        for entry in new:
            self.timeline.made(entry)
        self.backlog.read(messages)

    def _conclude(self, who: str, name: str, now: datetime, parts: int = 1) -> bool:
        """Have more of a conversation stand in its episode; whether there is more to read."""
        limit = self.options.episode_tokens
        said = self._unread(who, name, parts)
        entry = self.learner.conclude(who, name, said, limit, now)
        if entry is not None:
            self.timeline.made(entry)
            if any(self.timeline.waiting(who, name)):
                return True
        if not any(m.session == name for m in self.backlog.said_by(who)):
            self.backlog.concluded(who, name)
        return False

    def _conclude_all(self, who: str, name: str, now: datetime) -> None:
        # An episode holds the ids of all its messages. Of a long conversation, it is written when
        # it has become longer by a part, and not each time that some messages were read.
        parts = read = 1
        while self._conclude(who, name, now, parts):
            read += parts
            parts = max(1, read // 4)

    def _unread(self, who: str, name: str, parts: int) -> Iterator[list[Entry]]:
        """What is to be read next of a conversation for its episode, in so many parts at most."""
        waiting = self.timeline.waiting(who, name)
        for ids in islice(self._in_parts(waiting), parts):
            held = {e.id: e for e in self.vault.store.get(ids)}
            yield [held[i] for i in ids if i in held]

    def _in_parts(self, entries: Iterable[str]) -> Iterator[list[str]]:
        """Entries of messages, as much as is read at once at a time.

        Messages are read whole; of a result that is too long for once, as much as that.
        """
        ids: list[str] = []
        room, cut, source = READ_AT_ONCE, None, self.timeline.source
        for entry in entries:
            if source(entry) == cut:
                continue
            tokens = self._tokens(entry)
            while ids and room < tokens:
                whole = [i for i in ids if source(i) != source(entry)]
                yield whole or ids
                ids = ids[len(whole) :] if whole else []
                cut = None if whole else source(entry)
                room = READ_AT_ONCE - sum(map(self._tokens, ids))
            if source(entry) != cut:
                ids.append(entry)
                room -= tokens
        if ids:
            yield ids

    def _tokens(self, entry: str) -> int:
        about = self.timeline.about(entry)
        return about.tokens if about else 0

    def _compact(self, name: str, now: datetime) -> None:
        session = self.conversations.get(name)
        for happening in session.compact(self.model, now) if session else ():
            self.tell(happening)
