"""A whole memory: six layers over one store, usable in a product without anything else of memsim.

A memory is told what is said (`observe`), asked what a model should be sent (`context`), told that
it was sent (`delivered`), and works at the end of a turn (`end_turn`): it records what was said,
extracts facts, and summarises what has left the window. `context` changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memsim.errors import ModelError, StoreError
from memsim.memory.acl import Grant, Where, somebody
from memsim.memory.ageing import Ageing
from memsim.memory.assembly import SEARCHED, Parts
from memsim.memory.audit import AuditTrail
from memsim.memory.compaction.blobs import NOTHING_OFFLOADED
from memsim.memory.composing import Question
from memsim.memory.conversation import Conversation, digest_of
from memsim.memory.derived import Erased
from memsim.memory.happening import Tell, nobody
from memsim.memory.keeping import MADE
from memsim.memory.ledger import InjectionLedger
from memsim.memory.options import MemoryOptions
from memsim.memory.state import JSON
from memsim.memory.tools import Tools
from memsim.memory.vault import Found
from memsim.memory.working import WorkingMemory

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.context import Context
    from memsim.memory.audit import Outcome
    from memsim.memory.compaction.blobs import Blobs
    from memsim.memory.entry import Entry
    from memsim.memory.stores import Store
    from memsim.message import Message
    from memsim.models import Embedder, Model
    from memsim.tokens import TokenCounter


class Memory:
    """Remembers for any number of principals, and lets each see what they may.

    Args:
        store: where entries are kept.
        model: extracts facts and summarises.
        counter: token counts.
        embed: gives the embedder, on first use.
        now: the present, in UTC.
        options: its parts and their sizes.
        working: the working layer; in this process unless told otherwise.
        ledger: the injection ledger; in this process unless told otherwise.
        budget: tokens that a context usually has, from which the sizes of summaries follow.
        audit: what was done, in order; in this process unless told otherwise.
        workspace: the folder of the workspace layer; None for none. What is written through
            `workspace` and by `note` is found at once, what others write in its files from the next
            message, search or end of a turn on. Of IDENTITY.md, SOUL.md and USER.md every context
            of the principal whose they are shows what there is, as far as it fits.
        blobs: gives, by the name of a conversation, where what is offloaded from it goes; in this
            process unless told otherwise.
        tell: takes what the memory does of its own accord.

    Raises:
        SchemaError: the store was written by a newer memsim.
        StoreError: the store cannot be read.
    """

    def __init__(
        self,
        store: Store,
        *,
        model: Model,
        counter: TokenCounter,
        embed: Callable[[], Embedder],
        now: Callable[[], datetime],
        options: MemoryOptions | None = None,
        working: WorkingMemory | None = None,
        ledger: InjectionLedger | None = None,
        audit: AuditTrail | None = None,
        workspace: Path | None = None,
        blobs: Callable[[str], Blobs] | None = None,
        budget: int = 4096,
        tell: Tell = nobody,
    ) -> None:
        self.options = options or MemoryOptions()
        parts = Parts(
            store,
            model=model,
            counter=counter,
            embed=embed,
            options=self.options,
            working=working,
            ledger=ledger,
            workspace=workspace,
            blobs=blobs,
            budget=budget,
            now=now,
            place=self._place,
            tell=tell,
        )
        self.permissions, self.vault = parts.permissions, parts.vault
        self.core, self.working, self.workspace = parts.core, parts.working, parts.workspace
        self.episodic, self.semantic = parts.episodic, parts.semantic
        self.long_term, self.ledger = parts.long_term, parts.ledger
        self.conversations = parts.conversations
        self.audit = audit or AuditTrail()
        self.now = now
        self._tell = tell
        self._backlog, self._timeline, self._keeping = parts.backlog, parts.timeline, parts.keeping
        self._identity = parts.identity
        self._recaller, self._composer, self._turns = parts.recaller, parts.composer, parts.turns
        self._ageing = Ageing(parts, tell, self._settle)
        self._restore({})

    # -- what is said

    def observe(self, message: Message) -> None:
        """A message was said; it is recorded when the turn ends. Once more, it changes nothing.

        Its id is its own among its principal's messages and among those of its conversation, until
        it is forgotten. It is the same message where all that is on record of it is the same.

        Its principal takes part in its conversation from now on, and may read all that was said
        there: whom it names is the host's to answer for, never a user's or a model's.

        Raises:
            AccessError: the message has no principal, or no conversation.
            ValueError: it can be kept in no store, its id has several lines, or another message has
                its id; nothing has changed.
            StoreError: somebody has joined the conversation, and the store failed to open it to
                them; that is done at the next call, and the message is not lost. Or what is on
                record under its id cannot be read; nothing has changed.
        """
        Conversation(somebody(message.principal), message.session)
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
            with suppress(StoreError, ModelError):  # the end of the turn tells of it
                self._follow([message.principal])

    def end_turn(self, principal: str | None = None) -> None:
        """Record what was said since the last time, extract facts from it, and compact.

        The index of the workspace follows the pages of whoever spoke.

        Args:
            principal: whose turn is over; everybody's where none is named.

        Raises:
            StoreError: the store failed, or a page cannot be read; what could not be done is done
                at the next call.
            ModelError: the model failed; so it is then, too.
        """
        spoke = {m.principal for m in self._backlog.said_by(principal)}
        try:
            self._turns.end(principal, self.now())
        finally:
            self._follow({principal} if principal else spoke)

    # -- what is sent

    def context(
        self, text: str, *, principal: str, session: str, budget: int, turn: int = 0
    ) -> Context:
        """What a model should be sent for a message or question, which is not part of it.

        Args:
            text: the message or question.
            principal: who asks.
            session: in which conversation.
            budget: tokens that the context may have.
            turn: names what is composed.

        Raises:
            AccessError: there is no principal.
            BudgetUnsatisfiable: what is pinned does not fit.
            StoreError: the store failed, or a page of the workspace cannot be read.
        """
        where = self.vault.where(principal, layers=SEARCHED)
        question = Question(
            text=text,
            principal=principal,
            session=session,
            budget=budget,
            now=self.now(),
            turn=turn,
        )
        return self._composer.compose(question, where)

    def delivered(self, context: Context, *, principal: str, session: str | None = None) -> None:
        """That context was really sent: what was looked at lasts longer.

        What was brought up stands on the ledger from now on, where it is to be brought up once.

        Args:
            context: what `context` gave.
            principal: on whose behalf.
            session: in which conversation; the principal's latest where none is named.
        """
        layers = {section.layer: section for section in context.sections}
        of, now = Conversation(principal, self._current(principal, session)), self.now()
        self.conversations.touch(of.session, now)
        if "working" in layers:
            self.working.get(of, now)
        if self.options.once and "recalled" in layers:
            for source in dict.fromkeys(layers["recalled"].sources):
                claim = self.ledger.claim(of, source, now)
                if claim is not None:
                    self.ledger.mark(claim, now)

    def dropped(self, sources: Iterable[str], *, principal: str, session: str) -> None:
        """What was brought up stands no longer in the host's history: it may be brought up again.

        Args:
            sources: ids of messages; those that were never brought up change nothing.
            principal: on whose behalf they were.
            session: in which conversation.

        Raises:
            StoreError: the ledger's store failed.
        """
        of = Conversation(principal, session)
        for source in sources:
            self.ledger.evict(of, source, self.now())

    # -- asked directly

    def search(
        self, text: str, *, principal: str, category: str | None = None, k: int = 20
    ) -> list[Found]:
        """Entries that speak to a text, best first, as far as the principal may see them.

        Pages of the principal's own are found as they stand.

        Args:
            text: what is looked for.
            principal: on whose behalf.
            category: only entries of this one; of any where None.
            k: how many at most.

        Raises:
            AccessError: there is no principal.
            ValueError: `k` is less than 1.
            StoreError: the store failed, or a page cannot be read.
            ModelError: the embedder failed.
        """
        if k < 1:
            raise ValueError(f"{k} entries are asked for: one is the least")
        self._follow([somebody(principal)])
        categories = () if category is None else (category,)
        where = self.vault.where(principal, layers=SEARCHED, categories=categories)
        hits = self._recaller.search(text, where, self.now())[:k]
        found = {e.id: e for e in self.vault.fetch([h.id for h in hits], where)}
        return [Found(found[h.id], h.score) for h in hits if h.id in found]

    def reload(self, reference: str, *, principal: str, session: str) -> tuple[Message, ...]:
        """What was offloaded from a conversation, as it was said.

        Args:
            reference: as it stands in a context, or its digest alone.
            principal: on whose behalf.
            session: the conversation.

        Raises:
            StoreError: nothing is offloaded under it there, or none that the principal may see;
                which, is not said.
            StateError: what is there is damaged.
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
        """Keep a text under a key of the principal's own; as `LongTerm.store`."""
        return self.long_term.store(
            principal,
            key,
            text,
            now=self.now(),
            category=category,
            session=session,
            sources=tuple(sources),
        )

    def present(self, principal: str) -> tuple[str, ...]:
        """Ids of the messages of a principal's own in this turn: what is stored now is of these."""
        return tuple(m.id for m in self._backlog.said_by(somebody(principal)))

    def note(self, principal: str, text: str, *, session: str = "") -> str:
        """Add a note to the principal's workspace, or where there is none, to long-term memory.

        It is of the principal's messages of this turn, and goes when one of them is forgotten. What
        stands on the day's page already is not written there again.

        Returns:
            The name of the file, or the key.

        Raises:
            ValueError: the note is blank or cannot be encoded.
            StoreError: it cannot be written.
        """
        now = self.now()
        if self.workspace is not None:
            sources = self.present(principal)
            return self.workspace.note(principal, text, now, sources, self._sourced)
        if not text.strip():
            raise ValueError("the note is blank")
        key, sources = f"note-{digest_of(session, text)}", self.present(principal)
        return self.remember(
            principal, key, text, category="daily", session=session, sources=sources
        ).key

    def tools(self, principal: str, session: str | None = None) -> Tools:
        """What an agent may call on behalf of a principal.

        Args:
            principal: on whose behalf.
            session: in which conversation; the principal's latest where none is named.
        """
        return Tools(self, somebody(principal), self._current(principal, session))

    def audited(
        self, tool: str, *, principal: str, outcome: Outcome, key: str = "", category: str = ""
    ) -> None:
        """Note in the audit trail that something was done, or tried."""
        self.audit.record(
            tool,
            principal=principal,
            outcome=outcome,
            now=self.now(),
            key=key,
            category=category,
        )

    # -- who may see what

    def share(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """An owner lets a reader see some messages, from the next read on.

        What the memory made of them stays the owner's, as what they stored under a key does.
        """
        meant = frozenset(sources)
        self.permissions.share(somebody(owner), somebody(reader), meant)
        self._reapply(owner, meant)

    def unshare(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """The owner takes it back."""
        meant = frozenset(sources)
        self.permissions.unshare(somebody(owner), somebody(reader), meant)
        self._reapply(owner, meant)

    def grant(self, grant: Grant) -> None:
        """An owner lets a reader see all of a category, or all of theirs."""
        somebody(grant.owner)
        somebody(grant.reader)
        self.permissions.grant(grant)

    def revoke(self, grant: Grant) -> None:
        """The owner takes it back."""
        self.permissions.revoke(grant)

    # -- forgetting and ageing

    def meant(self, principal: str, text: str) -> tuple[str, ...]:
        """The message of a principal's own that a request in words speaks of most.

        Raises:
            StoreError: the store failed.
        """
        self._turns.record(principal)
        return self._ageing.meant(principal, text)

    def forget(self, principal: str, sources: Iterable[str]) -> Erased:
        """Erase messages of a principal's own, and all that was made from them, everywhere.

        What was said of the same thing elsewhere stays: see `requests` for how it was asked for.
        Working memory does not say where it has its notes from, so the principal's goes as a whole.

        Raises:
            StoreError: the store failed on the way; doing it again finishes it.
        """
        self._turns.record(somebody(principal))
        return self._ageing.forget(principal, frozenset(sources), self.now())

    def requests(self, principal: str, sources: Iterable[str]) -> tuple[str, ...]:
        """Ids of a principal's latest messages that ask for these to be forgotten, and name them.

        Whoever does not want such a request to keep what it was to erase forgets it as well.

        Raises:
            StoreError: the store failed.
        """
        self._turns.record(somebody(principal))
        return self._ageing.requests(principal, frozenset(sources))

    def forget_key(self, owner: str, key: str) -> Erased:
        """Erase what an owner keeps under a key in long-term memory, and nothing else.

        Raises:
            StoreError: the store failed.
        """
        gone = self.long_term.forget(somebody(owner), key)
        return Erased(entries=() if gone is None else (gone,))

    def elapse(self, now: datetime) -> None:
        """Time has passed: what nobody used for too long expires, and hygiene is done.

        A conversation in which nothing was said for a day is over, and concluded.

        Raises:
            StoreError: the store failed on the way, or a page cannot be read; the next call goes
                on.
            ModelError: the model failed; what it was to conclude is concluded at the next call.
        """
        self._turns.record()
        self.working.sweep(now)
        self.ledger.sweep(now)
        self.conversations.sweep(now)
        try:
            if self.workspace is not None:
                self._follow({*self.permissions.known(), *self.workspace.known()})
        finally:
            if self.options.hygiene is not None:
                self._ageing.elapse(self.options.hygiene, now)
        self._turns.rest(now)

    # -- looked into

    def entries(self, principal: str | None) -> Iterator[Entry]:
        """Every entry that a principal may see, archived ones too; None sees all.

        What was said in a turn that is not over is no entry yet.
        """
        if principal is None:
            return self.vault.each(Where(reader=None, archived=None))
        return self.vault.each(self.vault.where(principal, archived=None))

    def may_see(self, principal: str, session: str) -> bool:
        """Whether a principal may see the latest messages of a conversation."""
        return self._composer.may_see(principal, session)

    # -- kept

    def save(self) -> dict[str, JSON]:
        """The whole memory as JSON values, entries included; nothing is done for it."""
        return self._keeping.save(self.audit)

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved memory in place of the present one.

        Raises:
            StateError: it is no such memory.
        """
        self.audit, order = self._keeping.load(saved, lambda: self._begin(saved))
        self._restore(order)

    def close(self) -> None:
        """Record what is left, and release the store.

        Raises:
            StoreError: the store failed, and is released all the same.
            ModelError: the model did; all that was said is recorded.
        """
        try:
            self.end_turn()
        finally:
            self.vault.close()

    # -- inside

    def _restore(self, order: Mapping[str, int]) -> None:
        self._keeping.restore(order, self._place)

    def _place(self, entry: Entry) -> None:
        self._keeping.place(entry)

    def _begin(self, saved: Any) -> None:  # noqa: ANN401 - as `load`
        """A saved memory is about to be taken over."""

    def _settle(self) -> None:
        """Old messages are gone from all but the store, which is to have none of them next."""

    def _follow(self, principals: Iterable[str]) -> None:
        """Have the index follow the pages that somebody changed; one's failure holds up no other.

        Raises:
            StoreError: a page cannot be read, or the store failed.
            ModelError: the embedder failed.
        """
        if self.workspace is None:
            return
        failed: list[ModelError | StoreError] = []
        for principal in sorted(principals):
            try:
                self.workspace.index(principal, self.now())
            except (ModelError, StoreError) as error:
                failed.append(error)
        if failed:
            raise failed[0]

    def _sourced(self) -> None:
        """It is known what a note is of, which is not written yet."""

    def _current(self, principal: str, session: str | None) -> str:
        return session or self.conversations.latest(principal)

    def _reapply(self, owner: str, sources: frozenset[str]) -> None:
        where = Where(reader=None, owner=owner, layers=MADE, archived=None)
        touched = [e for e in self.vault.each(where) if not sources.isdisjoint(e.sources)]
        self.vault.put([self.permissions.apply(e) for e in touched])
