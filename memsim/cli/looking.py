"""What `memsim memory` looks into: a saved memory, or a workspace of PRX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memsim.memory.entry import LAYERS
from memsim.memory.saved import open_memory
from memsim.memory.systems.prx.workspace import find_workspace

if TYPE_CHECKING:
    from memsim.memory.audit import Outcome
    from memsim.memory.entry import Entry
    from memsim.memory.saved import SavedMemory
    from memsim.memory.state import JSON

KEEPER = "keeper"
"""Who asks where nobody has to say who they are."""


class Looked(Protocol):
    """A memory that is looked into; None as who asks is its keeper, who sees everything."""

    @property
    def acl(self) -> bool:
        """Whether everybody is shown only what they may see."""
        ...

    def entries(self, who: str | None) -> Iterable[Entry]:
        """Every entry that somebody may see, oldest first."""
        ...

    def search(
        self, query: str, who: str | None, category: str | None, limit: int
    ) -> Sequence[tuple[Entry, float]]:
        """Entries that speak to a query, best first, each with its score."""
        ...

    def get(self, who: str | None, key: str) -> Entry | None:
        """The entry with a key: one's own, else one that one may see."""
        ...

    def forget(self, who: str, key: str) -> bool:
        """Erase somebody's entry with a key; whether there was one."""
        ...

    def note(
        self,
        tool: str,
        who: str | None,
        *,
        outcome: Outcome = "allowed",
        key: str = "",
        category: str = "",
    ) -> None:
        """Note who did what."""
        ...

    def keepers(self) -> dict[str, JSON]:
        """What is told of the whole to its keeper."""
        ...

    def close(self) -> None:
        """Release it."""
        ...


def look_into(path: Path, *, wait: float, readonly: bool) -> Looked:
    """What a path names.

    Raises:
        StoreError: it cannot be opened.
        StateError: it is neither, or damaged.
    """
    found = find_workspace(path, now=_now, wait=wait)
    return found or Saved(open_memory(path, now=_now, wait=wait, readonly=readonly))


class Saved:
    """A saved memory.

    Args:
        memory: it; closed with this.
    """

    def __init__(self, memory: SavedMemory) -> None:
        self._memory = memory

    @property
    def acl(self) -> bool:
        """As `Looked`."""
        return self._memory.options.acl

    def entries(self, who: str | None) -> Iterable[Entry]:
        """As `Looked`."""
        return self._memory.entries(who)

    def search(
        self, query: str, who: str | None, category: str | None, limit: int
    ) -> Sequence[tuple[Entry, float]]:
        """As `Looked`: by words and by meaning."""
        asker = who or KEEPER
        found = self._memory.search(query, principal=asker, category=category, k=limit)
        return [(f.entry, f.score) for f in found]

    def get(self, who: str | None, key: str) -> Entry | None:
        """As `Looked`; long-term memory comes first."""
        order = ("long_term", *(layer for layer in LAYERS if layer != "long_term"))
        vault = self._memory.vault
        found = (vault.get(who or KEEPER, key, layer=layer) for layer in order)  # type: ignore[arg-type]
        return next((entry for entry in found if entry is not None), None)

    def forget(self, who: str, key: str) -> bool:
        """As `Looked`; with an entry of another layer go the messages that it came from."""
        if self._memory.long_term.forget(who, key) is not None:
            return True
        for layer in LAYERS:
            entry = self._memory.vault.own(who, layer, key)
            if entry is not None:
                if entry.sources:
                    self._memory.forget(who, entry.sources)
                self._memory.vault.erase([entry.id])
                return True
        return False

    def note(
        self,
        tool: str,
        who: str | None,
        *,
        outcome: Outcome = "allowed",
        key: str = "",
        category: str = "",
    ) -> None:
        """As `Looked`."""
        who = who or ""
        self._memory.audited(tool, principal=who, outcome=outcome, key=key, category=category)

    def keepers(self) -> dict[str, JSON]:
        """As `Looked`."""
        memory = self._memory
        embedded = memory.vault.store.embedded
        return {
            "conversations": sum(1 for _ in memory.conversations),
            "audit_records": memory.audit.head().number,
            "embedder": embedded.name if embedded else None,
            "bytes": sum(p.stat().st_size for p in memory.folder.rglob("*") if p.is_file()),
        }

    def close(self) -> None:
        """As `Looked`."""
        self._memory.close()


def _now() -> datetime:
    return datetime.now(UTC)
