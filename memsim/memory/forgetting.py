"""Forgetting everywhere: what a principal said, whatever was made from it, and what repeats it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.derived import Erased, Tier, erase_sources
from memsim.memory.echo import echoes, telling_words
from memsim.memory.entry import entry_id

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from memsim.memory.backlog import Backlog
    from memsim.memory.conversations import Conversations
    from memsim.memory.layers.workspace import WorkspaceLayer
    from memsim.memory.vault import Vault
    from memsim.memory.working import WorkingMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """Where a memory holds what was said.

    Attributes:
        workspace: None where there is none.
    """

    vault: Vault
    backlog: Backlog
    conversations: Conversations
    working: WorkingMemory
    workspace: WorkspaceLayer | None

    def forget(self, principal: str, sources: Collection[str], now: datetime) -> Erased:
        """Erase messages of a principal's own in every tier."""
        tiers = self.of(principal, self._telling(principal, sources), now)
        return erase_sources(self.vault.store, set(sources), owners=[principal], tiers=tiers)

    def requests(self, principal: str, sources: Collection[str]) -> tuple[str, ...]:
        """The latest messages in which a principal asks for these to be forgotten, naming them."""
        session = self.conversations.get(self.conversations.latest(principal))
        latest = () if session is None else tuple(session.window)
        return echoes(self._telling(principal, sources), latest, principal)

    def said(self, principal: str) -> list[Tier]:
        """Where a principal's messages themselves are, beside the store."""
        return [_Waiting(self.backlog, principal), _Histories(self.conversations, principal)]

    def of(self, principal: str, telling: Collection[str], now: datetime) -> list[Tier]:
        """What a principal's messages are erased from, beside the store."""
        tiers = [*self.said(principal), _Notes(self.working, principal)]
        if self.workspace is not None:
            tiers.append(_Pages(self.workspace, principal, telling, now))
        return tiers

    def _telling(self, principal: str, sources: Collection[str]) -> frozenset[str]:
        ids = [entry_id(principal, "episodic", source) for source in sorted(sources)]
        texts = (e.text.removeprefix(f"{principal}: ") for e in self.vault.store.get(ids))
        return frozenset().union(*map(telling_words, texts))


@dataclass(frozen=True, slots=True)
class _Waiting:
    """What is still to be recorded, or to be read for facts."""

    backlog: Backlog
    principal: str
    name: str = "backlog"

    def erase(self, sources: Collection[str]) -> int:
        """Take the messages out."""
        return self.backlog.remove(sources, self.principal)


@dataclass(frozen=True, slots=True)
class _Histories:
    """The conversations as they go, with their summaries."""

    conversations: Conversations
    principal: str
    name: str = "window"

    def erase(self, sources: Collection[str]) -> int:
        """Take the messages out, and what the summaries made of them."""
        return self.conversations.remove(sources, self.principal)


@dataclass(frozen=True, slots=True)
class _Notes:
    """A principal's working memory, which does not say what its notes were made from."""

    working: WorkingMemory
    principal: str
    name: str = "working"

    def erase(self, sources: Collection[str]) -> int:
        """Drop all of it."""
        return self.working.forget(self.principal)


@dataclass(frozen=True, slots=True)
class _Pages:
    """A principal's workspace, where lines may name what is to be forgotten."""

    layer: WorkspaceLayer
    principal: str
    telling: Collection[str]
    now: datetime
    name: str = "workspace"

    def erase(self, sources: Collection[str]) -> int:
        """Take out the lines that name it."""
        return self.layer.erase_naming(self.principal, self.telling, self.now)
