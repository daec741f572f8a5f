"""What a memory answers and takes in when it is asked directly, by a host or an agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memsim.errors import StoreError
from memsim.memory.compaction.blobs import NOTHING_OFFLOADED
from memsim.memory.deletion import ErasureReport
from memsim.memory.entry import digest_of
from memsim.memory.made import Made
from memsim.memory.parts import SEARCHED
from memsim.memory.permissions import Where, require_principal
from memsim.memory.tools import MemoryTools
from memsim.memory.vault import SearchHit

if TYPE_CHECKING:
    from memsim.memory.audit import AuditOutcome
    from memsim.memory.entry import Entry
    from memsim.message import Message


class Asked(Made):
    """A memory as it is searched, written to and looked into."""

    def search(
        self, text: str, *, principal: str, category: str | None = None, k: int = 20
    ) -> list[SearchHit]:
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
        self._follow([require_principal(principal)])
        categories = () if category is None else (category,)
        where = self.vault.where(principal, layers=SEARCHED, categories=categories)
        hits = self._recaller.search(text, where, self.now())[:k]
        found = {e.id: e for e in self.vault.fetch([h.id for h in hits], where)}
        return [SearchHit(found[h.id], h.score) for h in hits if h.id in found]

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
        self._change()
        return self.long_term.store(
            principal,
            key,
            text,
            now=self.now(),
            category=category,
            session=session,
            sources=tuple(sources),
        )

    def forget_key(self, owner: str, key: str) -> ErasureReport:
        """Erase what an owner keeps under a key in long-term memory, and nothing else.

        Raises:
            StoreError: the store failed.
        """
        self._change()
        gone = self.long_term.forget(require_principal(owner), key)
        if gone is not None:
            self.ledger.free(owner, [gone.version], self.now())
        return ErasureReport(entries=() if gone is None else (gone,))

    def present(self, principal: str) -> tuple[str, ...]:
        """Ids of the messages of a principal's own in this turn: what is stored now is of these."""
        return tuple(m.id for m in self._backlog.said_by(require_principal(principal)))

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
        self._change()
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

    def tools(self, principal: str, session: str | None = None) -> MemoryTools:
        """What an agent may call on behalf of a principal.

        Args:
            principal: on whose behalf.
            session: in which conversation; the principal's latest where none is named.
        """
        return MemoryTools(self, require_principal(principal), self._current(principal, session))

    def audited(
        self, tool: str, *, principal: str, outcome: AuditOutcome, key: str = "", category: str = ""
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
