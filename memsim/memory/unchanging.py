"""What a memory stands on that is only looked into: it answers, and refuses to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memsim.errors import StoreError
from memsim.memory.working import WorkingMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from datetime import datetime

    from memsim.memory.conversation import Conversation
    from memsim.memory.state import JSON
    from memsim.memory.stores import Store

REFUSED = "nothing can be written: the memory was opened for reading only"

_WRITING = frozenset({"write", "erase", "embedded_by"})


class UnchangingStore:
    """A store that refuses to change; all else is as in the one that it stands for."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        if name in _WRITING:
            raise StoreError(REFUSED)
        return getattr(self._store, name)


class UnchangingWorking(WorkingMemory):
    """Working memory that is only looked at, and lasts no longer for it."""

    def get(self, of: Conversation, now: datetime) -> dict[str, JSON]:
        """As `peek`."""
        return self.peek(of, now)

    def remove(self, of: Conversation, names: Collection[str] | None, now: datetime) -> int:
        """Refused.

        Raises:
            StoreError: always.
        """
        raise StoreError(REFUSED)

    def sweep(self, now: datetime) -> int:
        """Refused.

        Raises:
            StoreError: always.
        """
        raise StoreError(REFUSED)

    def forget(self, principal: str) -> int:
        """Refused.

        Raises:
            StoreError: always.
        """
        raise StoreError(REFUSED)

    def _write(
        self,
        of: Conversation,
        change: Callable[[Mapping[str, JSON]], Mapping[str, JSON]],
        now: datetime,
        *,
        used: bool = True,
    ) -> int:
        raise StoreError(REFUSED)
