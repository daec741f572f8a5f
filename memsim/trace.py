"""The records of a replay: one per turn and one per probe, without scores.

Scoring reads only these records. `turns.jsonl` and `probes.jsonl` contain them as canonical JSON
lines::

    turns.jsonl   {"case": ..., "turn": 3, "tokens": {"window": 212}, "events": [...],
                   "calls": [...], "moved": {...}}
    probes.jsonl  {"case": ..., "probe": "order_id", "answer": "A-17", "outcome": "PASS",
                   "scores": {...}, ...}
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from memsim.errors import traceback_text
from memsim.fast_dataclass import fast_init

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from memsim.context import Context
    from memsim.latency import Latency
    from memsim.message import Message
    from memsim.models import Task
    from memsim.scenario.script import Fact, Probe
    from memsim.strategy import Event, Location, Surface

Phase = Literal["write", "maintain", "search", "answer", "judge"]
Presence = str
"""The section that holds a fact in a context; `absent` if none does."""
Inspection = Literal["stores", "context", "black-box"]
"""How far one can look for evidence: `stores`: everywhere; `context`: only into contexts, because
the strategy does not implement `surfaces`; `black-box`: the same, because it says that it cannot.
"""
ToolOutcome = Literal["done", "refused", "failed", "unknown", "skipped"]
"""The result of a tool call; `memsim.replay.tool_agent` explains each value."""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One model call.

    Attributes:
        phase: when it was made: `write` in observe, `maintain` for compactions and end_turn,
            `search` otherwise in context, `answer` and `judge` by memsim itself.
        cost: dollars; None if no price is known.
    """

    phase: Phase
    task: Task
    input: int
    output: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """A call of one of the memory's tools.

    Attributes:
        name, arguments: as the model wrote them.
        result: the text that the agent received.
        cut: characters of the tool's answer that were cut to save room.
    """

    name: str
    arguments: str
    outcome: ToolOutcome
    result: str = ""
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRound:
    """One reply of an agent: its words and its tool calls.

    Attributes:
        number: from 1 for each message or question; 0 for calls that the script makes.
        said: its words, with or without calls.
        note: why it was the last round, if the agent did not end by itself.
    """

    number: int
    said: str = ""
    calls: tuple[ToolCallRecord, ...] = ()
    note: str = ""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """What happened in one turn.

    Attributes:
        tokens: tokens by section of the largest context sent in the turn; None without a context.
        sent: tokens of all contexts sent in the turn.
        contexts: number of contexts sent.
        cached: tokens at the start of the contexts that equal the start of the context sent before.
        overflow: tokens that were trimmed because the strategy's contexts exceeded the budget.
        moved: fact id to the section that now holds it, for facts that moved since the turn before.
    """

    turn: int
    session: str
    principal: str
    time: datetime
    tokens: Mapping[str, int] | None = None
    sent: int = 0
    contexts: int = 0
    cached: int = 0
    overflow: int = 0
    moved: Mapping[str, Presence] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    agent: tuple[AgentRound, ...] = ()

    @property
    def total(self) -> int | None:
        """Tokens of the largest context of the turn."""
        return None if self.tokens is None else sum(self.tokens.values())


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Age:
    """How long before the question the newest evidence was said."""

    turns: int
    tokens: int
    sessions: int
    days: int


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A step on the path of a fact: from this turn on it was in that section, or in none."""

    turn: int
    presence: Presence
    cause: str = ""
    """The event that the strategy logged for it in that turn, such as `dropped`; empty for none."""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceTrace:
    """One piece of evidence of a probe, and where it was at the question.

    Attributes:
        source: id of the original message.
        fact: the fact that it states; None if the probe names messages.
        presence: the section of the probe's context that holds it.
        verbatim: whether its own words are there, not only a derived text.
        trimmed: whether the strategy's context contained it and the budget cut it.
        location: where the strategy reports it if it is not in the context; None if unknown or
            nowhere.
        path: its way through the turns, in order; only for planted facts.
    """

    source: str
    turn: int
    fact: str | None = None
    presence: Presence = "absent"
    verbatim: bool = False
    trimmed: bool = False
    location: Location | None = None
    path: tuple[Stop, ...] = ()


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTrace:
    """One question and everything observed about it.

    Attributes:
        context: what the model was sent, after trimming to the budget; None if the strategy failed.
        answer: the reader's answer; None if it failed.
        answer_again: its answer from the evidence in the context alone; None if that was not read.
        error: the failure in one line; empty for none.
        inspection: how far evidence was looked for; what lies beyond is unknown.
        superseded: earlier values of the facts in question.
        hidden: private facts that the asker may not see, planted before the question.
        barred: facts that were not to be remembered, and are asked for or of another session.
        barred_in: of the barred facts that are asked for, (id, tier) where the store holds them.
        corpus: number of original messages so far.
        sessions: session of each original message so far, by id; shared by the case's probes, and
            extended during the replay.
    """

    probe: Probe
    turn: int
    session: str
    time: datetime
    query_tokens: int
    context: Context | None
    answer: str | None
    answer_again: str | None = None
    error: str = ""
    overflow: int = 0
    inspection: Inspection = "stores"
    evidence: tuple[EvidenceTrace, ...] = ()
    age: Age | None = None
    superseded: tuple[str, ...] = ()
    hidden: tuple[Fact, ...] = ()
    barred: tuple[Fact, ...] = ()
    barred_in: tuple[tuple[str, str], ...] = ()
    corpus: int = 0
    sessions: Mapping[str, str] = field(default_factory=dict)
    compactions: int = 0
    calls: tuple[CallRecord, ...] = ()
    agent: tuple[AgentRound, ...] = ()


PURGES = frozenset({"purged", "archived", "expired", "deleted", "forgotten"})
"""Kinds of events after which a message is `purged`."""
EVICTIONS = frozenset(
    {"compaction", "compacted", "summarised", "summarized", "merged"}
    | {"dropped", "evicted", "trimmed"}
)
"""Kinds of events after which a message is `evicted`."""

WINDOW_TIERS = frozenset({"window", "working", "system", "tools", "query"})
"""Tiers that only repeat the conversation or the rules; they are no store."""

FactState = Literal["current", "replaced", "forgotten", "no-store", "untrue"]
"""Of a planted value at the end of a case: `current` is in force, `replaced` was superseded,
`forgotten` was to be erased, `no-store` was never to be remembered, `untrue` was said as something
that is not so."""


@dataclass(frozen=True, slots=True)
class PlantedValue:
    """A value that the script planted, and whether it is in force at the end."""

    fact: Fact
    state: FactState


class SaidMessages(Protocol):
    """The original messages of a case."""

    def get(self, name: str, /) -> Message | None:
        """The message with an id."""
        ...

    def in_turn(self, turn: int, /) -> Sequence[Message]:
        """What was said in a turn, in order."""
        ...

    def turns(self) -> Sequence[int]:
        """The turns in which something was said, ascending."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTrace:
    """What a strategy's `surfaces` show at the end of a case, and what was said until then.

    Attributes:
        surfaces: those of the store, and no more than one of its window.
        planted: every value that the script planted, in order.
        said: original messages.
        turns: number of turns played.
        error: why `surfaces` could not be read; empty if it could.
    """

    surfaces: Collection[Surface] = ()
    planted: tuple[PlantedValue, ...] = ()
    said: SaidMessages
    turns: int = 0
    error: str = ""


@dataclass(slots=True, kw_only=True)
class Trace:
    """Everything that a replay observed in one case.

    Attributes:
        turns: empty where each record is handed on as it is made.
        discarded: kind of the last event that discarded a message, by its id; only of messages that
            a probe may ask for.
        contexts: the context of each turn and question, as JSON lines that
            `memsim.replay.context_recorder` describes; empty if not requested.
        latency: how long calls of the strategy took; no score depends on it.
        store: what is stored at the end; None if the strategy does not show it.
        error: why the case could not be played to its end; empty if it was.
        tracebacks: of what the strategy raised, each different one once, up to a number.
    """

    turns: list[TurnRecord] = field(default_factory=list)
    probes: list[ProbeTrace] = field(default_factory=list)
    discarded: dict[str, str] = field(default_factory=dict)
    contexts: list[str] = field(default_factory=list)
    store: StoreTrace | None = None
    latency: Latency = field(default_factory=dict)
    error: str = ""
    tracebacks: list[str] = field(default_factory=list)

    def keep_traceback(self, error: BaseException) -> None:
        """Keep the traceback of what made an error, if it was an exception of the strategy."""
        if error.__cause__ is None or len(self.tracebacks) >= MOST_TRACEBACKS:
            return
        text = traceback_text(error.__cause__)
        if text and text not in self.tracebacks:
            self.tracebacks.append(text)


MOST_TRACEBACKS = 5
"""Different tracebacks that are kept of one case."""


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def json_line(record: Mapping[str, object]) -> str:
    """A record as one canonical JSON line with its newline: no spaces, keys in the record's order.

    Raises:
        ValueError: the record holds a number that is not finite.
    """
    return _encode(record) + "\n"
