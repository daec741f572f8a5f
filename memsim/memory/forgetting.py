"""Forgetting everywhere: what a principal said, whatever was made from it, and what repeats it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.derived import Erased, Tier, erase_sources
from memsim.memory.echo import echoes, telling_words
from memsim.memory.entry import entry_id
from memsim.memory.layers.entities import is_ours
from memsim.memory.working import ENTITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from memsim.memory.backlog import Backlog
    from memsim.memory.conversation import Conversation
    from memsim.memory.conversations import Conversations
    from memsim.memory.layers.workspace import WorkspaceLayer
    from memsim.memory.state import JSON
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

    def forget(
        self,
        principal: str,
        sources: Collection[str],
        now: datetime,
        settle: Callable[[], object],
    ) -> Erased:
        """Erase messages of a principal's own in every tier; `settle` as `WorkspaceLayer.erase`."""
        tiers = self.of(principal, self._telling(principal, sources), now, settle)
        return erase_sources(self.vault.store, set(sources), owners=[principal], tiers=tiers)

    def requests(self, principal: str, sources: Collection[str]) -> tuple[str, ...]:
        """The latest messages in which a principal asks for these to be forgotten, naming them."""
        session = self.conversations.get(self.conversations.latest(principal))
        latest = () if session is None else tuple(session.window)
        return echoes(self._telling(principal, sources), latest, principal)

    def of(
        self,
        principal: str,
        telling: Collection[str],
        now: datetime,
        settle: Callable[[], object],
    ) -> list[Tier]:
        """What a principal's messages are erased from on request, beside the store.

        Args:
            principal: whose.
            telling: names and exact values in them, as `telling_words` gives them.
            now: the present.
            settle: as `WorkspaceLayer.erase`.
        """
        tiers = [*self._said(principal), _Notes(self.working, principal)]
        if self.workspace is not None:
            tiers.append(_Pages(self.workspace, principal, telling, now, settle))
        return tiers

    def aged(self, principal: str, now: datetime, *, derived: bool) -> list[Tier]:
        """What a principal's messages are erased from when their time is over, beside the store.

        What an agent or a host wrote has a time of its own, in working memory and on pages.

        Args:
            principal: whose.
            now: the present.
            derived: whether the names that the memory noted of them go as well.
        """
        names = [_Names(self.working, principal, now)] if derived else []
        return [*self._said(principal), *names]

    def _said(self, principal: str) -> list[Tier]:
        return [_Waiting(self.backlog, principal), _Histories(self.conversations, principal)]

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
class _Names:
    """The names that a principal's working memory took from messages, it does not say which."""

    working: WorkingMemory
    principal: str
    now: datetime
    name: str = "working"

    def erase(self, sources: Collection[str]) -> int:
        """Drop all that were not written by a host; from how many conversations."""
        theirs = [of for of in self.working.store.conversations() if of.principal == self.principal]
        with_names = [of for of in theirs if self._has_names(of)]
        for of in with_names:
            self.working.merge_entities(of, _of_hosts, self.now, used=False)
        return len(with_names)

    def _has_names(self, of: Conversation) -> bool:
        noted = self.working.peek(of, self.now).get(ENTITIES)
        return isinstance(noted, list) and any(isinstance(e, dict) and is_ours(e) for e in noted)


def _of_hosts(noted: list[dict[str, JSON]]) -> list[JSON]:
    return [entity for entity in noted if not is_ours(entity)]


@dataclass(frozen=True, slots=True)
class _Pages:
    """A principal's workspace: lines noted of what is to be forgotten, and lines that name it."""

    layer: WorkspaceLayer
    principal: str
    telling: Collection[str]
    now: datetime
    settle: Callable[[], object]
    name: str = "workspace"

    def erase(self, sources: Collection[str]) -> int:
        """Take these lines out."""
        return self.layer.erase(self.principal, sources, self.telling, self.now, self.settle)
