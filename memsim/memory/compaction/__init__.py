"""Turning history into less history: pure functions of one shape, from which any design is built.

A trigger says when, a plan says what may go, and a step makes history and state into less of both::

    means = Means(counter=counter, now=now, model=model, blobs=blobs, keep=Keep(last=8))
    done = compact(history, state, trigger=Trigger(messages=20), step=Rolling(), means=means)

Steps are `Trim`, `MergeAdjacent`, `Condense`, `RollingSummary`, `Offload`, `ShortenResults`,
`Deduplicate`, and `Chain`, which takes several of them one after the other.
"""

from __future__ import annotations

from memsim.context import escaped, fenced, unescaped
from memsim.memory.compaction.blobs import Blobs, MemoryBlobs, collect, reload
from memsim.memory.compaction.condense import Condense, summary_message
from memsim.memory.compaction.erase import ErasedHistory, forget
from memsim.memory.compaction.merge import Deduplicate, MergeAdjacent, deduplicated
from memsim.memory.compaction.offload import Offload, ShortenResults, restored
from memsim.memory.compaction.outcome import CompactionOutcome
from memsim.memory.compaction.plan import CompactionPlan, KeepRule, plan
from memsim.memory.compaction.prompt import Snippets, SummaryInput, SummaryRequest
from memsim.memory.compaction.rolling_summary import Gate, RollingSummary, Spread, spread
from memsim.memory.compaction.size import Limits, Size, Target, Trigger
from memsim.memory.compaction.step import (
    Chain,
    Compaction,
    CompactionState,
    CompactionStep,
    Means,
    compact,
    rejoin,
)
from memsim.memory.compaction.summary import Summary, SummaryLine
from memsim.memory.compaction.trim import Trim

__all__ = [
    "Blobs",
    "Chain",
    "Compaction",
    "CompactionOutcome",
    "CompactionPlan",
    "CompactionState",
    "CompactionStep",
    "Condense",
    "Deduplicate",
    "ErasedHistory",
    "Gate",
    "KeepRule",
    "Limits",
    "Means",
    "MemoryBlobs",
    "MergeAdjacent",
    "Offload",
    "RollingSummary",
    "ShortenResults",
    "Size",
    "Snippets",
    "Spread",
    "Summary",
    "SummaryInput",
    "SummaryLine",
    "SummaryRequest",
    "Target",
    "Trigger",
    "Trim",
    "collect",
    "compact",
    "deduplicated",
    "escaped",
    "fenced",
    "forget",
    "plan",
    "rejoin",
    "reload",
    "restored",
    "spread",
    "summary_message",
    "unescaped",
]
