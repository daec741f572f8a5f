"""A whole memory: six layers over one store, usable in a product without anything else of memsim.

A memory is told what is said (`observe`), asked what a model should be sent (`context`), told that
it was sent (`delivered`), and works at the end of a turn (`end_turn`): it records what was said,
extracts facts, and summarises what has left the window. `context` changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memsim.errors import Attempts, ModelError, StoreError
from memsim.memory.asked import Asked
from memsim.memory.codec import JSON
from memsim.memory.compose import ContextRequest
from memsim.memory.entry import Conversation
from memsim.memory.governed import Governed
from memsim.memory.parts import SEARCHED
from memsim.memory.permissions import require_principal

if TYPE_CHECKING:
    from memsim.context import Context
    from memsim.message import Message


class Memory(Asked, Governed):
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
        attempts = Attempts()
        attempts.attempt(lambda: self._turns.end(principal, self.now()))
        attempts.attempt(lambda: self._follow({principal} if principal else spoke))
        attempts.end()

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
        question = ContextRequest(
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
            for item in layers["recalled"].items:
                claim = self.ledger.claim(of, item, now)
                if claim is not None:
                    self.ledger.mark(claim, now)

    def dropped(self, sources: Iterable[str], *, principal: str, session: str) -> None:
        """What was brought up stands no longer in the host's history: it may be brought up again.

        Args:
            sources: ids of messages, and the names that `Section.items` gives to anything else;
                those that were never brought up change nothing.
            principal: on whose behalf they were.
            session: in which conversation.

        Raises:
            StoreError: the ledger's store failed.
        """
        self._change()
        of = Conversation(principal, session)
        for source in sources:
            self.ledger.evict(of, source, self.now())

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
