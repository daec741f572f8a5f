"""What a memory loses: on request, or because its time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.errors import Attempts
from memsim.memory.deletion import original_of
from memsim.memory.events import MemoryEvent
from memsim.memory.forget_request import closest_message
from memsim.memory.options import RetentionPolicy
from memsim.memory.retention import clean, owners_due

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from datetime import datetime

    from memsim.memory.deletion import ErasureReport
    from memsim.memory.entry import Entry, Layer
    from memsim.memory.events import EventListener
    from memsim.memory.parts import Parts

_EXCHANGES: tuple[Layer, ...] = ("episodic",)
_MESSAGES = ("conversation",)
_LOOKED_AT = 8


class MemoryExpiry:
    """Finds what is meant to be forgotten, erases it everywhere, and does hygiene.

    Args:
        parts: the memory's.
        tell: takes what is done of its own accord.
        settle: makes last that messages are gone beside the store, before their entries go.
    """

    def __init__(self, parts: Parts, tell: EventListener, settle: Callable[[], None]) -> None:
        self._vault = parts.vault
        self._permissions = parts.permissions
        self._tiers = parts.tiers
        self._semantic = parts.semantic
        self._timeline = parts.timeline
        self._backlog, self._ledger = parts.backlog, parts.ledger
        self._concludes = parts.turns.options.concludes
        self._tell = tell
        self._settle = settle

    def meant(self, principal: str, text: str) -> tuple[str, ...]:
        """The message of a principal's own that a request in words speaks of most."""
        where = self._vault.where(
            principal, owner=principal, layers=_EXCHANGES, categories=_MESSAGES, archived=None
        )
        hits = self._vault.lexical(text, where, _LOOKED_AT)
        said = {
            entry.id: (entry.text.removeprefix(f"{entry.owner}: ").strip(), entry.sources)
            for entry in self._vault.fetch([h.id for h in hits], where)
        }
        others = [(h.score, *said[h.id]) for h in hits if said[h.id][0] != text.strip()]
        best = closest_message(text, [(score, words) for score, words, _ in others])
        return () if best is None else others[best][2]

    def forget(self, principal: str, sources: Collection[str], now: datetime) -> ErasureReport:
        """Erase messages of a principal's own, and all that was made from them, everywhere."""
        erased = self._tiers.forget(principal, sources, now, self._settle)
        gone = (original_of(e) for e in erased.entries)
        self._free(principal, {*sources, *(s for s in gone if s is not None)}, now)
        self._drop(principal, erased, now)
        for of in self._reopened(erased.entries):
            self._backlog.left[of] = None
        return erased

    def requests(self, principal: str, sources: Collection[str]) -> tuple[str, ...]:
        """The latest messages in which a principal asks for these to be forgotten, naming them."""
        return self._tiers.requests(principal, sources)

    def elapse(self, policy: RetentionPolicy, now: datetime) -> None:
        """Do hygiene on what is anybody's; one's failure holds up no other.

        Raises:
            StoreError: as `clean`.
            ModelError: as `clean`.
        """
        attempts = Attempts()
        for owner in owners_due(self._vault.store, policy, now):
            attempts.attempt(lambda o=owner: self.clean(o, policy, now))  # type: ignore[misc]
        attempts.end()

    def clean(self, owner: str, policy: RetentionPolicy, now: datetime) -> None:
        """Do hygiene on what is an owner's.

        Raises:
            StoreError: the store failed on the way; the next call goes on.
            ModelError: the embedder failed at what was to be put away; so it does then, too.
        """

        def settle(sources: Collection[str]) -> None:
            self._free(owner, sources, now)
            self._settle()

        done = clean(
            self._vault.store,
            owner,
            policy,
            now,
            put=self._vault.put,
            tiers=self._tiers.aged(owner, now, derived=policy.derived),
            settle=settle,
        )
        self._drop(owner, done.erased, now)
        # What is left of a conversation is old as well, and may be gone before it is concluded.
        for of in self._reopened(e for e in done.erased.entries if not policy.to_erase(e, now)):
            self._backlog.open[of] = now
        if done.archived:
            self._tell(MemoryEvent(kind="archived", detail=f"{done.archived} entries"))
        if done.erased.entries:
            sources = tuple(dict.fromkeys(i for e in done.erased.entries for i in e.sources))
            self._tell(MemoryEvent(kind="purged", sources=sources))
        if done.error is not None:
            raise done.error

    def _free(self, owner: str, sources: Collection[str], now: datetime) -> None:
        """Another message may have the id of one that is gone: nothing is known of it."""
        self._permissions.forget(owner, sources)
        self._ledger.free(owner, sources, now)
        self._semantic.free(owner, sources)
        if self._tiers.workspace is not None:
            self._tiers.workspace.noted.free(owner, sources)

    def _drop(self, owner: str, erased: ErasureReport, now: datetime) -> None:
        if erased.entries:
            self._ledger.free(owner, {e.version for e in erased.entries}, now)
        self._semantic.forgotten(erased.entries)
        self._timeline.remove(e.id for e in erased.entries)

    def _reopened(self, erased: Iterable[Entry]) -> Iterator[tuple[str, str]]:
        """Conversations that lost their episode and have messages left, if not open anyway."""
        for entry in erased if self._concludes else ():
            if entry.layer == "episodic" and original_of(entry) is None:
                of = entry.owner, entry.session
                if of not in self._backlog.open and any(self._timeline.waiting(*of)):
                    yield of
