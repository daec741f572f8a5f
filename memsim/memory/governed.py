"""What becomes of what a memory holds: who may see it, what is forgotten, what grows old."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memsim.errors import Attempts
from memsim.memory.deletion import ErasureReport
from memsim.memory.made import Made
from memsim.memory.permissions import ReadGrant, require_principal


class Governed(Made):
    """A memory as its owners govern it."""

    def share(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """An owner lets a reader see some messages, from the next read on.

        What the memory made of them stays the owner's, as what they stored under a key does.
        """
        self._change()
        meant = frozenset(sources)
        self.permissions.share(require_principal(owner), require_principal(reader), meant)
        self._reapply(owner, meant)

    def unshare(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """The owner takes it back."""
        self._change()
        meant = frozenset(sources)
        self.permissions.unshare(require_principal(owner), require_principal(reader), meant)
        self._reapply(owner, meant)

    def grant(self, grant: ReadGrant) -> None:
        """An owner lets a reader see all of a category, or all of theirs."""
        self._change()
        require_principal(grant.owner)
        require_principal(grant.reader)
        self.permissions.grant(grant)

    def revoke(self, grant: ReadGrant) -> None:
        """The owner takes it back."""
        self._change()
        self.permissions.revoke(grant)

    # -- forgetting and ageing

    def meant(self, principal: str, text: str) -> tuple[str, ...]:
        """The message of a principal's own that a request in words speaks of most.

        Raises:
            StoreError: the store failed.
        """
        self._turns.record(principal)
        return self._ageing.meant(principal, text)

    def forget(self, principal: str, sources: Iterable[str]) -> ErasureReport:
        """Erase messages of a principal's own, and all that was made from them, everywhere.

        What was said of the same thing elsewhere stays: see `requests` for how it was asked for.
        Working memory does not say where it has its notes from, so the principal's goes as a whole.

        Raises:
            StoreError: the store failed on the way; doing it again finishes it.
        """
        self._change()
        self._turns.record(require_principal(principal))
        return self._ageing.forget(principal, frozenset(sources), self.now())

    def requests(self, principal: str, sources: Iterable[str]) -> tuple[str, ...]:
        """Ids of a principal's latest messages that ask for these to be forgotten, and name them.

        Whoever does not want such a request to keep what it was to erase forgets it as well.

        Raises:
            StoreError: the store failed.
        """
        self._turns.record(require_principal(principal))
        return self._ageing.requests(principal, frozenset(sources))

    def elapse(self, now: datetime) -> None:
        """Time has passed: what nobody used for too long expires, and hygiene is done.

        A conversation in which nothing was said for a day is over, and concluded. Whatever fails
        keeps nothing else from being done, and is done at the next call.

        Raises:
            StoreError: the store failed on the way, or a page cannot be read.
            ModelError: the model failed.
            StateError: what is kept of a conversation is damaged.
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
            attempt(lambda: self._ageing.elapse(policy, now))
        attempt(lambda: self._turns.rest(now))
        attempts.end()
