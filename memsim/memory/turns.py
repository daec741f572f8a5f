"""What is done at the end of a turn: record, note, extract, conclude, summarise; all in the end.

Whatever fails stays in the backlog, keeps nothing else from being done, and is done the next time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from memsim.errors import ModelError, StoreError
from memsim.memory.attempts import Attempts
from memsim.memory.backlog import UNREAD
from memsim.memory.conversation import Conversation
from memsim.memory.layers.entities import names_in, noted_with
from memsim.memory.working import WorkingFull

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memsim.memory.acl import Permissions
    from memsim.memory.backlog import Backlog
    from memsim.memory.conversations import Conversations
    from memsim.memory.entry import Entry
    from memsim.memory.happening import Tell
    from memsim.memory.layers.episodic import Episodic
    from memsim.memory.learning import Learner
    from memsim.memory.options import MemoryOptions
    from memsim.memory.timeline import Timeline
    from memsim.memory.vault import Vault
    from memsim.memory.working import WorkingMemory
    from memsim.message import Message
    from memsim.models import Model

READ_AT_ONCE = 4096
"""Tokens of messages that are read at once for an episode, so that no turn waits for all of a long
conversation; the rest is read in the turns that follow."""

IDLE = timedelta(days=1)
"""After so long without a message a conversation is over, though nobody left it for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Works off the backlog of a memory.

    Attributes:
        place: takes in the entry of a message that has been recorded.
        permissions: who takes part in which conversation; None where everybody sees everything.
    """

    backlog: Backlog
    vault: Vault
    episodic: Episodic
    learner: Learner
    timeline: Timeline
    conversations: Conversations
    working: WorkingMemory
    permissions: Permissions | None
    options: MemoryOptions
    model: Model
    place: Callable[[Entry], None]
    tell: Tell

    def end(self, principal: str | None, now: datetime) -> None:
        """All that is to be done for a principal, or for everybody.

        Raises:
            StoreError: the store failed; what is left is done at the next call.
            ModelError: the model failed; so it is then, too.
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

        Raises:
            StoreError: the store failed; what is left is done at the next call, or turn.
            ModelError: the model failed; so it is then, too.
        """
        attempts = Attempts()
        for who, name in [of for of, last in self.backlog.open.items() if now - last >= IDLE]:
            self.backlog.left[who, name] = None
            attempts.attempt(lambda w=who, n=name: self._conclude_all(w, n, now))  # type: ignore[misc]
        attempts.end()

    def record(self, principal: str | None = None) -> None:
        """Have the store hold what was said.

        Raises:
            StoreError: it failed, and holds none of it.
            ModelError: the embedder failed, and so it does.
        """
        said = self.backlog.said_by(principal)
        if said:
            entries = self.episodic.record(said)
            self.backlog.recorded(said, read=self.options.extracts)
            for entry in entries:
                self.place(entry)

    def admit(self) -> None:
        """Open conversations to who has joined them: whoever takes part may read all of it.

        Raises:
            StoreError: the store failed; they are opened at the next call.
            ModelError: the embedder failed, and so they are.
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
        try:
            new = self.learner.facts(who, session, messages, now)
        except (ModelError, StoreError):
            self.backlog.unreadable(messages)
            raise
        for entry in new:
            self.timeline.made(entry)
        self.backlog.read(messages)

    def _conclude(self, who: str, name: str, now: datetime) -> bool:
        """Have more of a conversation stand in its episode; whether there is more to read."""
        limit = self.options.episode_tokens
        entry = self.learner.conclude(who, name, self._unread(who, name), limit, now)
        if entry is not None:
            self.timeline.made(entry)
            if self.timeline.waiting(who, name):
                return True
        if not any(m.session == name for m in self.backlog.said_by(who)):
            self.backlog.concluded(who, name)
        return False

    def _conclude_all(self, who: str, name: str, now: datetime) -> None:
        while self._conclude(who, name, now):
            pass

    def _unread(self, who: str, name: str) -> list[Entry]:
        """What is to be read next of a conversation for its episode.

        Messages are read whole; of a result that is too long for once, as much as that.
        """
        ids: list[str] = []
        room, source = READ_AT_ONCE, self.timeline.source
        for entry in self.timeline.waiting(who, name):
            about = self.timeline.about(entry)
            room -= about.tokens if about else 0
            if ids and room < 0:
                whole = [i for i in ids if source(i) != source(entry)]
                ids = whole or ids
                break
            ids.append(entry)
        held = {e.id: e for e in self.vault.store.get(ids)}
        return [held[i] for i in ids if i in held]

    def _compact(self, name: str, now: datetime) -> None:
        session = self.conversations.get(name)
        for happening in session.compact(self.model, now) if session else ():
            self.tell(happening)
