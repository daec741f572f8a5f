"""What a memory loses: on request, or because its time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.derived import original_of
from memsim.memory.erasure import closest
from memsim.memory.happening import Happening
from memsim.memory.hygiene import Policy, clean, owners_due

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from memsim.memory.assembly import Parts
    from memsim.memory.derived import Erased
    from memsim.memory.entry import Layer
    from memsim.memory.happening import Tell

_EXCHANGES: tuple[Layer, ...] = ("episodic",)
_MESSAGES = ("conversation",)
_LOOKED_AT = 8


class Ageing:
    """Finds what is meant to be forgotten, erases it everywhere, and does hygiene.

    Args:
        parts: the memory's.
        tell: takes what is done of its own accord.
    """

    def __init__(self, parts: Parts, tell: Tell) -> None:
        self._vault = parts.vault
        self._permissions = parts.permissions
        self._tiers = parts.tiers
        self._semantic = parts.semantic
        self._timeline = parts.timeline
        self._tell = tell

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
        best = closest(text, [(score, words) for score, words, _ in others])
        return () if best is None else others[best][2]

    def forget(self, principal: str, sources: Collection[str], now: datetime) -> Erased:
        """Erase messages of a principal's own, and all that was made from them, everywhere."""
        erased = self._tiers.forget(principal, sources, now)
        self._drop(principal, erased, sources)
        return erased

    def requests(self, principal: str, sources: Collection[str]) -> tuple[str, ...]:
        """The latest messages in which a principal asks for these to be forgotten, naming them."""
        return self._tiers.requests(principal, sources)

    def elapse(self, policy: Policy, now: datetime) -> None:
        """Do hygiene on what is anybody's.

        Raises:
            StoreError: as `clean`.
        """
        for owner in owners_due(self._vault.store, policy, now):
            self.clean(owner, policy, now)

    def clean(self, owner: str, policy: Policy, now: datetime) -> None:
        """Do hygiene on what is an owner's.

        Raises:
            StoreError: the store failed on the way; the next call goes on.
        """
        tiers = self._tiers.of(owner, (), now, derived=policy.derived)
        done = clean(self._vault.store, owner, policy, now, put=self._vault.put, tiers=tiers)
        self._drop(owner, done.erased)
        if done.archived:
            self._tell(Happening(kind="archived", detail=f"{done.archived} entries"))
        if done.erased.entries:
            sources = tuple(dict.fromkeys(i for e in done.erased.entries for i in e.sources))
            self._tell(Happening(kind="purged", sources=sources))
        if done.error is not None:
            raise done.error

    def _drop(self, owner: str, erased: Erased, sources: Collection[str] = ()) -> None:
        gone = (original_of(e) for e in erased.entries)
        self._permissions.forget(owner, {*sources, *(s for s in gone if s is not None)})
        self._semantic.forgotten(erased.entries)
        self._timeline.remove(e.id for e in erased.entries)
