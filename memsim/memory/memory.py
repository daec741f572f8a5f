"""An agent memory: six layers over one store, usable in a product without the rest of memsim.

A host calls `observe` for each message, `context` for what a model should be sent, `delivered` once
that was sent, and `end_turn`. `end_turn` records the messages, extracts facts and summarises what
has left the window. `context` changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from memsim.context import Context
from memsim.errors import Attempts, ModelError, StoreError
from memsim.heap import garbage_pause
from memsim.memory.audit import AuditOutcome
from memsim.memory.codec import JSON
from memsim.memory.compaction.blobs import NOTHING_OFFLOADED
from memsim.memory.compose import ContextRequest
from memsim.memory.deletion import ErasureReport
from memsim.memory.entry import Conversation, Entry, digest_of
from memsim.memory.expire import MemoryExpiry, closest_to_request
from memsim.memory.layers.episodic import all_words
from memsim.memory.parts import SEARCHED, MemorySetup, Parts
from memsim.memory.permissions import ReadGrant, Where, require_principal
from memsim.memory.state import MADE
from memsim.memory.tools import MemoryTools
from memsim.memory.vault import SearchHit
from memsim.message import Message, Role, said


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A text that a memory holds.

    Attributes:
        tier: where: a layer, `audit`, `summary`, `window` or `offloaded`.
        text: as it is held.
        sources: ids of the messages that it came from.
        live: false for a superseded fact and an archived entry, which are kept as history.
    """

    tier: str
    text: str
    sources: tuple[str, ...] = ()
    live: bool = True


class Memory:
    """Remembers for any number of principals, and lets each see what they may.

    Raises `SchemaError` if the store was written by another memsim, or `StoreError` if the store
    cannot be read.
    """

    def __init__(self, setup: MemorySetup) -> None:
        self.options, self.audit, self.now = setup.options, setup.audit, setup.now
        parts = Parts(setup, self._place)
        self.permissions, self.vault = parts.permissions, parts.vault
        self.core, self.working, self.workspace = parts.core, parts.working, parts.workspace
        self.episodic, self.semantic = parts.episodic, parts.semantic
        self.long_term, self.ledger = parts.long_term, parts.ledger
        self.conversations = parts.conversations
        self._backlog, self._timeline, self._keeping = parts.backlog, parts.timeline, parts.keeping
        self._identity, self._deletion = parts.identity, parts.deletion
        self._recaller, self._composer, self._turns = parts.recaller, parts.composer, parts.turns
        self._expiry = MemoryExpiry(parts.deletion, setup.tell, self._settle)
        self._restore({})

    # -- messages

    def observe(self, message: Message) -> None:
        """Take in a message; it is recorded when the turn ends.

        An id belongs to one message of its principal and of its conversation until the message is
        forgotten. The same message observed again changes nothing.

        The principal of a message takes part in its conversation from now on, and may read all of
        it. The host has to name the right principal; never let a user or a model choose it.

        Raises:
            AccessError: the message has no principal, or no conversation.
            ValueError: it can be kept in no store, its id has several lines, or another message has
                its id; nothing has changed.
            StoreError: somebody has joined the conversation, and the store failed to open it to
                them; that is done at the next call, and the message is not lost. Or what is on
                record under its id cannot be read; nothing has changed.
        """
        self._change()
        Conversation(require_principal(message.principal), message.session)
        if not self._identity.is_new(message):
            return
        if self.permissions.joins(message.principal, message.session):
            self._backlog.joined[message.session] = None
        left = self.conversations.add(message, self.now())
        if self.options.concludes:
            self._backlog.open[message.principal, message.session] = message.time
            if left is not None:
                self._backlog.left[message.principal, left] = None
        self._backlog.say(message)
        if self.options.names and message.spoken:
            self._backlog.unnamed.append(message)
        self._turns.admit()
        if message.role == "user":
            with suppress(StoreError, ModelError):  # `end_turn` raises it again
                self._follow([message.principal])

    def add(
        self,
        text: str,
        *,
        user: str,
        role: Role = "user",
        session: str = "",
        id: str = "",  # noqa: A002 - the name of the field
    ) -> str:
        """Take in a message of a user's conversation, and record it at once as a turn of its own.

        It is `observe` and `end_turn` with an id and a time that are made for you. Without a
        session, the message belongs to a conversation that the user shares with nobody. `user` is
        the principal; never let a user or a model choose it. Returns the id, for `forget`.

        Raises:
            AccessError: as `observe`.
            ValueError: as `observe`.
            StoreError: as `observe` and `end_turn`.
            ModelError: as `end_turn`.
        """
        made = said(
            role,
            text,
            id=id or f"message-{uuid4().hex}",
            principal=require_principal(user),
            session=session or f"own:{user}",
            time=self.now(),
        )
        self.observe(made)
        self.end_turn(user)
        return made.id

    def end_turn(self, principal: str | None = None) -> None:
        """Record the messages since the last call, extract facts, compact, and index pages.

        Everybody's turn is over where no principal is named.

        Raises:
            StoreError: the store failed, or a page cannot be read; what is left is done at the next
                call.
            ModelError: the model failed; what is left is done at the next call.
        """
        spoke = {m.principal for m in self._backlog.said_by(principal)}
        attempts = Attempts()
        attempts.attempt(lambda: self._turns.end(principal, self.now()))
        attempts.attempt(lambda: self._follow({principal} if principal else spoke))
        attempts.end()

    # -- contexts

    def context(
        self, text: str, *, principal: str, session: str, budget: int, turn: int = 0
    ) -> Context:
        """Compose what a model is sent along with a message or question.

        `text` is the message or question, which is not part of the context. `budget` is the tokens
        that the context may have; `turn` names what is composed.

        Raises:
            AccessError: there is no principal.
            BudgetUnsatisfiable: what is pinned does not fit.
            StoreError: the store failed, or a page of the workspace cannot be read.
        """
        where = self.vault.where(principal, layers=SEARCHED)
        question = ContextRequest(
            text=text,
            principal=principal,
            session=session,
            budget=budget,
            now=self.now(),
            turn=turn,
        )
        # Most records that it takes are gone at its end, and would bring a search of all nearer.
        with garbage_pause():
            return self._composer.compose(question, where)

    def delivered(self, context: Context, *, principal: str, session: str | None = None) -> None:
        """Note that a context was sent: what was used lasts longer, and recalled items are marked.

        Without a session, it is the principal's latest.
        """
        of = Conversation(principal, self._current(principal, session))
        self._composer.delivered(context, of, self.now())

    def dropped(self, sources: Iterable[str], *, principal: str, session: str) -> None:
        """Allow recalled items again that have left the host's own history; see `once`.

        `sources` are ids of messages, and the names that `Section.items` gives to other items;
        those that were never recalled change nothing. Raises `StoreError` if the ledger's store
        failed.
        """
        self._change()
        of = Conversation(principal, session)
        for source in sources:
            self.ledger.evict(of, source, self.now())

    # -- entries and tools

    def search(
        self,
        text: str,
        *,
        principal: str = "",
        user: str = "",
        category: str | None = None,
        k: int = 20,
    ) -> list[SearchHit]:
        """Find the entries that match a text, best first, among those that a principal may see.

        `user` is another name of `principal`, as `add` has it. The principal's own pages are
        indexed first where they have changed. Entries of any `category` are found where it is None.

        Raises:
            AccessError: there is no principal.
            ValueError: `k` is less than 1, or `user` and `principal` are two.
            StoreError: the store failed, or a page cannot be read.
            ModelError: the embedder failed.
        """
        if k < 1:
            raise ValueError(f"k is {k}: at least 1")
        if user and principal and user != principal:
            raise ValueError(f"user is {user!r} and principal is {principal!r}: give one of them")
        reader = require_principal(principal or user)
        self._follow([reader])
        categories = () if category is None else (category,)
        where = self.vault.where(reader, layers=SEARCHED, categories=categories)
        return self._recaller.entries(text, where, self.now(), k)

    def entries(self, principal: str | None) -> Iterator[Entry]:
        """Every entry that a principal may see, archived ones too; all entries for None.

        Messages of a turn that has not ended are no entries yet.
        """
        if principal is None:
            return self.vault.each(Where(reader=None, archived=None))
        return self.vault.each(self.vault.where(principal, archived=None))

    def surfaces(self, principal: str | None = None) -> Iterator[MemoryText]:
        """Every text that the memory holds and a principal may see; all texts for None.

        Entries come first, then the audit trail (for None only), then the summary, window and
        offloaded messages of each conversation.
        """
        for entry in self.entries(principal):
            live = entry.superseded is None and not entry.archived
            yield MemoryText(entry.layer, all_words(entry), entry.sources, live)
        if principal is None:
            for record in self.audit.records():
                yield MemoryText("audit", str(record))
        for name, conversation in self.conversations:
            if principal is None or self.may_see(principal, name):
                for line in conversation.summary_lines():
                    yield MemoryText("summary", line.text, line.sources)
                for message in conversation.window:
                    yield MemoryText("window", message.text, (message.id,))
                for message in conversation.offloaded():
                    yield MemoryText("offloaded", message.text, (message.id,))

    def may_see(self, principal: str, session: str) -> bool:
        """Whether a principal may see the latest messages of a conversation."""
        return self._composer.may_see(principal, session)

    def reload(self, reference: str, *, principal: str, session: str) -> tuple[Message, ...]:
        """The original messages that were offloaded from a conversation under a reference.

        `reference` is the reference in a context, or its digest alone.

        Raises:
            StoreError: nothing is offloaded under it there, or nothing that the principal may see;
                both give the same message.
            StateError: the offloaded content is damaged.
        """
        conversation = self.conversations.get(session)
        if conversation is None or not self.may_see(principal, session):
            raise StoreError(NOTHING_OFFLOADED)
        return conversation.reload(reference)

    def has_offloaded(self, principal: str, session: str) -> bool:
        """Whether anything is offloaded from a conversation that a principal may reload."""
        conversation = self.conversations.get(session)
        if conversation is None or not self.may_see(principal, session):
            return False
        return conversation.has_offloaded()

    def remember(
        self,
        principal: str,
        key: str,
        text: str,
        *,
        category: str = "core",
        session: str = "",
        sources: Iterable[str] = (),
    ) -> Entry:
        """Store a text under a key of the principal's own; as `LongTerm.store`."""
        self._change()
        now, of = self.now(), tuple(sources)
        return self.long_term.store(
            principal, key, text, now=now, category=category, session=session, sources=of
        )

    def forget_key(self, owner: str, key: str) -> ErasureReport:
        """Erase the entry that an owner stored under a key, and nothing else.

        Raises `StoreError` if the store failed.
        """
        self._change()
        gone = self.long_term.forget(require_principal(owner), key)
        if gone is not None:
            self.ledger.free(owner, [gone.version])
        return ErasureReport(entries=() if gone is None else (gone,))

    def current_messages(self, principal: str) -> tuple[str, ...]:
        """Ids of a principal's messages in this turn, which are the sources of what is stored."""
        return tuple(m.id for m in self._backlog.said_by(require_principal(principal)))

    def note(self, principal: str, text: str, *, session: str = "") -> str:
        """Add a note to the principal's workspace; without a workspace, to long-term memory.

        Its sources are the principal's messages of this turn: it is erased with any one of them. A
        line that is on the day's page already is not written there again. Returns the name of the
        file, or the key. Raises `ValueError` if the note is blank or cannot be encoded. Raises
        `StoreError` if it cannot be written.
        """
        self._change()
        sources = self.current_messages(principal)
        if self.workspace is not None:
            return self.workspace.note(principal, text, self.now(), sources, self._sourced)
        if not text.strip():
            raise ValueError("the note is blank")
        key = f"note-{digest_of(session, text)}"
        self.remember(principal, key, text, category="daily", session=session, sources=sources)
        return key

    def tools(self, principal: str, session: str | None = None) -> MemoryTools:
        """The tools that an agent may call on behalf of a principal.

        Without a session, it is the principal's latest.
        """
        return MemoryTools(self, require_principal(principal), self._current(principal, session))

    def record_audit(
        self, tool: str, *, principal: str, outcome: AuditOutcome, key: str = "", category: str = ""
    ) -> None:
        """Record in the audit trail that something was done, refused or failed."""
        now = self.now()
        self.audit.record(
            tool, principal=principal, outcome=outcome, now=now, key=key, category=category
        )

    # -- permissions

    def share(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """Let a reader see some of an owner's messages, from the next read on.

        Facts, summaries and stored entries with these sources stay the owner's own.
        """
        self._change()
        ids = frozenset(sources)
        self.permissions.share(require_principal(owner), require_principal(reader), ids)
        self._reapply(owner, ids)

    def unshare(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """Take back what `share` allowed."""
        self._change()
        ids = frozenset(sources)
        self.permissions.unshare(require_principal(owner), require_principal(reader), ids)
        self._reapply(owner, ids)

    def grant(self, grant: ReadGrant) -> None:
        """Let a reader see everything of an owner's, or everything of a category."""
        self._change()
        require_principal(grant.owner)
        require_principal(grant.reader)
        self.permissions.grant(grant)

    def revoke(self, grant: ReadGrant) -> None:
        """Take back what `grant` allowed."""
        self._change()
        self.permissions.revoke(grant)

    # -- deletion and expiry

    def closest_message(self, principal: str, text: str) -> tuple[str, ...]:
        """The id of the principal's own message that a request to forget means, if there is one.

        Raises `StoreError` if the store failed.
        """
        self._turns.record(principal)
        return closest_to_request(self.vault, principal, text)

    def forget(self, principal: str, sources: Iterable[str]) -> ErasureReport:
        """Erase messages of a principal's own, and everything derived from them.

        Other messages about the same thing stay; `requests` finds those that ask for the erasure.
        The principal's working memory is erased as a whole, because it keeps no sources. Raises
        `StoreError` if the store failed on the way; a second call finishes it.
        """
        self._change()
        self._turns.record(require_principal(principal))
        return self._deletion.forget(principal, frozenset(sources), self.now(), self._settle)

    def requests(self, principal: str, sources: Iterable[str]) -> tuple[str, ...]:
        """Ids of a principal's latest messages that ask to forget these and name their content.

        Forget these messages as well, or the request keeps the secret. Raises `StoreError` if the
        store failed.
        """
        self._turns.record(require_principal(principal))
        return self._deletion.requests(principal, frozenset(sources))

    def elapse(self, now: datetime) -> None:
        """Expire what was not used for too long, do hygiene, and conclude idle conversations.

        A conversation without a message for a day is concluded. A failure holds up nothing else;
        the next call tries again.

        Raises:
            StoreError: the store failed on the way, or a page cannot be read.
            ModelError: the model failed.
            StateError: the saved state of a conversation is damaged.
        """
        self._change()
        attempts = Attempts()
        attempt = attempts.attempt
        attempt(self._turns.record)
        attempt(lambda: self.working.sweep(now))
        attempt(lambda: self.ledger.sweep(now))
        attempt(lambda: self.conversations.sweep(now))
        if (pages := self.workspace) is not None:
            attempt(lambda: self._follow({*self.permissions.known(), *pages.known()}))
        if (policy := self.options.hygiene) is not None:
            if not policy.derived:
                # What a conversation came to outlasts its messages, so it is made before they go.
                attempt(lambda: self._turns.rest(now))
            attempt(lambda: self._expiry.elapse(policy, now))
        attempt(lambda: self._turns.rest(now))
        attempts.end()

    # -- saving

    def save(self) -> dict[str, JSON]:
        """The whole memory as JSON values, entries included; changes nothing."""
        return self._keeping.save(self.audit)

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved memory in place of the present one.

        Raises `StateError` if it is no such memory.
        """
        self.audit, order = self._keeping.load(saved, lambda: self._begin(saved))
        self._restore(order)

    def close(self) -> None:
        """Record what is left, and release the store.

        Raises `StoreError` if the store failed, and is released all the same. Raises `ModelError`
        if the model did; all that was said is recorded.
        """
        try:
            self.end_turn()
        finally:
            self.vault.close()

    # -- hooks that a saved memory overrides

    def _change(self) -> None:
        """Check before each change that the memory may be changed.

        Raises `StoreError` if it may not.
        """

    def _restore(self, order: Mapping[str, int]) -> None:
        self._keeping.restore(order, self._place)

    def _place(self, entry: Entry) -> None:
        self._keeping.place(entry)

    def _begin(self, saved: Any) -> None:  # noqa: ANN401 - as `load`
        """Called before a saved memory replaces the present one."""

    def _settle(self) -> None:
        """Called when messages are erased everywhere but in the store, which erases them next."""

    def _sourced(self) -> None:
        """Called when the sources of a note are known, before the note is written."""

    def _follow(self, principals: Iterable[str]) -> None:
        """Index the pages that somebody changed; one principal's failure holds up no other.

        Raises `StoreError` if a page cannot be read, or the store failed. Raises `ModelError` if
        the embedder failed.
        """
        if self.workspace is None:
            return
        index, attempts = self.workspace.index, Attempts()
        for principal in sorted(principals):
            attempts.attempt(lambda p=principal: index(p, self.now()))  # type: ignore[misc]
        attempts.end()

    def _current(self, principal: str, session: str | None) -> str:
        return session or self.conversations.latest(principal)

    def _reapply(self, owner: str, sources: frozenset[str]) -> None:
        where = Where(reader=None, owner=owner, layers=MADE, archived=None)
        touched = [e for e in self.vault.each(where) if not sources.isdisjoint(e.sources)]
        self.vault.put([self.permissions.apply(e) for e in touched])
