"""Turning history into less history: pure functions of one shape, from which any design is built.

A trigger says when, a plan says what may go, and a step makes history and state into less of both::

    means = Means(counter=counter, now=now, model=model, blobs=blobs, keep=Keep(last=8))
    done = compact(history, state, trigger=Trigger(messages=20), step=Rolling(), means=means)

Steps are `Trim`, `MergeAdjacent`, `Condense`, `Rolling`, `Offload`, `ShortenResults`,
`Deduplicate`, and `Chain`, which takes several of them one after the other.
"""

from __future__ import annotations

from memsim.memory.compaction.adjacent import MergeAdjacent
from memsim.memory.compaction.asking import Asking, Snippets
from memsim.memory.compaction.blobs import Blobs, FolderBlobs, MemoryBlobs, collect, reload
from memsim.memory.compaction.chain import Chain, compact
from memsim.memory.compaction.condense import Condense
from memsim.memory.compaction.duplicates import Deduplicate, deduplicated
from memsim.memory.compaction.fences import escaped, fenced, unescaped
from memsim.memory.compaction.forgetting import Forgotten, forget
from memsim.memory.compaction.keeping import Keep, Plan, plan
from memsim.memory.compaction.offload import Offload, restored
from memsim.memory.compaction.outcome import Outcome
from memsim.memory.compaction.results import ShortenResults
from memsim.memory.compaction.rolling import Gate, Rolling, Spread, spread
from memsim.memory.compaction.shape import Compaction, Means, State, Step, rejoin
from memsim.memory.compaction.showing import Transcript
from memsim.memory.compaction.sizes import Size
from memsim.memory.compaction.speaking import summary_message
from memsim.memory.compaction.summary import Line, Summary
from memsim.memory.compaction.trigger import Limits, Target, Trigger
from memsim.memory.compaction.trim import Trim

__all__ = [
    "Asking",
    "Blobs",
    "Chain",
    "Compaction",
    "Condense",
    "Deduplicate",
    "FolderBlobs",
    "Forgotten",
    "Gate",
    "Keep",
    "Limits",
    "Line",
    "Means",
    "MemoryBlobs",
    "MergeAdjacent",
    "Offload",
    "Outcome",
    "Plan",
    "Rolling",
    "ShortenResults",
    "Size",
    "Snippets",
    "Spread",
    "State",
    "Step",
    "Summary",
    "Target",
    "Transcript",
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
