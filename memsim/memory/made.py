"""What a memory is made of, for all that it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memsim.errors import Attempts
from memsim.memory.audit import AuditTrail
from memsim.memory.events import EventListener, ignore_event
from memsim.memory.expire import MemoryExpiry
from memsim.memory.history.working import WorkingMemory
from memsim.memory.ledger import InjectionLedger
from memsim.memory.options import MemoryOptions
from memsim.memory.parts import Parts
from memsim.memory.permissions import Where
from memsim.memory.state import MADE

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.memory.compaction.blobs import Blobs
    from memsim.memory.entry import Entry
    from memsim.memory.stores import Store
    from memsim.models import Embedder, Model
    from memsim.tokens import TokenCounter


class Made:
    """The parts of a memory; see `Memory` for what it is given."""

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
        tell: EventListener = ignore_event,
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
        self._ageing = MemoryExpiry(parts, tell, self._settle)
        self._restore({})

    def _change(self) -> None:
        """Something is about to change.

        Raises:
            StoreError: it may not.
        """

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
        index, attempts = self.workspace.index, Attempts()
        for principal in sorted(principals):
            attempts.attempt(lambda p=principal: index(p, self.now()))  # type: ignore[misc]
        attempts.end()

    def _sourced(self) -> None:
        """It is known what a note is of, which is not written yet."""

    def _current(self, principal: str, session: str | None) -> str:
        return session or self.conversations.latest(principal)

    def _reapply(self, owner: str, sources: frozenset[str]) -> None:
        where = Where(reader=None, owner=owner, layers=MADE, archived=None)
        touched = [e for e in self.vault.each(where) if not sources.isdisjoint(e.sources)]
        self.vault.put([self.permissions.apply(e) for e in touched])
