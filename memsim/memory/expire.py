"""Archive and erase entries whose time is over; find the message that a forget request means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.errors import Attempts
from memsim.memory.events import MemoryEvent
from memsim.memory.forget_request import closest_message
from memsim.memory.options import RetentionPolicy
from memsim.memory.retention import clean, owners_due

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from memsim.memory.deletion import Deletion
    from memsim.memory.entry import Layer
    from memsim.memory.events import EventListener
    from memsim.memory.vault import Vault

_EXCHANGES: tuple[Layer, ...] = ("episodic",)
_MESSAGES = ("conversation",)
_CANDIDATES = 8


def closest_to_request(vault: Vault, principal: str, text: str) -> tuple[str, ...]:
    """The message of a principal's own that a request in words means.

    Raises:
        StoreError: the store failed.
    """
    where = vault.where(
        principal, owner=principal, layers=_EXCHANGES, categories=_MESSAGES, archived=None
    )
    hits = vault.lexical(text, where, _CANDIDATES)
    said = {
        entry.id: (entry.text.removeprefix(f"{entry.owner}: ").strip(), entry.sources)
        for entry in vault.fetch([h.id for h in hits], where)
    }
    others = [(h.score, *said[h.id]) for h in hits if said[h.id][0] != text.strip()]
    best = closest_message(text, [(score, words) for score, words, _ in others])
    return () if best is None else others[best][2]


class MemoryExpiry:
    """Does hygiene on a memory.

    Args:
        deletion: erases everywhere.
        tell: takes an event for each owner whose entries were archived or purged.
        settle: makes last that messages are gone beside the store, before their entries go.
    """

    def __init__(self, deletion: Deletion, tell: EventListener, settle: Callable[[], None]) -> None:
        self._deletion = deletion
        self._vault = deletion.vault
        self._tell = tell
        self._settle = settle

    def elapse(self, policy: RetentionPolicy, now: datetime) -> None:
        """Do hygiene for every owner; one owner's failure holds up no other.

        Raises:
            StoreError: as `clean`.
            ModelError: as `clean`.
        """
        attempts = Attempts()
        for owner in owners_due(self._vault.store, policy, now):
            attempts.attempt(lambda o=owner: self.clean(o, policy, now))  # type: ignore[misc]
        attempts.end()

    def clean(self, owner: str, policy: RetentionPolicy, now: datetime) -> None:
        """Do hygiene on an owner's entries.

        Raises:
            StoreError: the store failed on the way; the next call goes on.
            ModelError: the embedder failed at an entry to archive; the next call goes on.
        """
        deletion = self._deletion

        def settle(sources: Collection[str]) -> None:
            deletion.free(owner, sources, now)
            self._settle()

        done = clean(
            self._vault.store,
            owner,
            policy,
            now,
            put=self._vault.put,
            tiers=deletion.expired_tiers(owner, now, derived=policy.derived),
            settle=settle,
        )
        deletion.drop(owner, done.erased, now)
        # What is left of a conversation is old as well, and may be gone before it is concluded.
        for of in deletion.reopened(e for e in done.erased.entries if not policy.to_erase(e, now)):
            deletion.backlog.open[of] = now
        if done.archived:
            self._tell(MemoryEvent(kind="archived", detail=f"{done.archived} entries"))
        if done.erased.entries:
            sources = tuple(dict.fromkeys(i for e in done.erased.entries for i in e.sources))
            self._tell(MemoryEvent(kind="purged", sources=sources))
        if done.error is not None:
            raise done.error
