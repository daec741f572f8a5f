"""Forgetting messages after they were compacted: wherever they went, and what was made of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from memsim.memory.compaction.blobs import Blobs, holding
from memsim.memory.compaction.plan import together
from memsim.memory.compaction.step import CompactionState, History
from memsim.memory.compaction.summary import originals
from memsim.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedHistory:
    """What is left after forgetting.

    Attributes:
        history: without the messages, their tool calls' partners, and what was made from them.
        state: without the summary's lines that may have been made from them.
        removed: ids of the history's messages that are gone.
        blobs: digests of the blobs that were dropped.
    """

    history: History
    state: CompactionState
    removed: tuple[str, ...]
    blobs: tuple[str, ...] = ()


def forget(
    history: History, state: CompactionState, ids: Collection[str], blobs: Blobs | None = None
) -> ErasedHistory:
    """Forget messages.

    A merged message goes whole, with its neighbours' words.
    """
    wanted = frozenset(ids)
    hit = (p for p, m in enumerate(history) if not wanted.isdisjoint(_origins(m, state)))
    gone = together(history, hit)
    removed = tuple(history[place].id for place in sorted(gone))
    lost = frozenset(removed)
    left = replace(
        state,
        summary=state.summary.without(wanted | lost),
        held=tuple(p for at, p in enumerate(state.held) if at not in gone),
        behind={made: ids for made, ids in state.behind.items() if made not in lost},
        told={made: lines for made, lines in state.told.items() if made not in lost},
        settled={},
    )
    return ErasedHistory(
        history=tuple(m for place, m in enumerate(history) if place not in gone),
        state=left,
        removed=removed,
        blobs=() if blobs is None else blobs.drop(holding(wanted | lost, blobs)),
    )


def _origins(message: Message, state: CompactionState) -> tuple[str, ...]:
    return (message.id, *originals(message), *state.behind.get(message.id, ()))
