"""Types of the records in a run folder, by which they are checked when they are read.

The formats are drawn in `memsim.scoring.trace_records` and `memsim.replay.context_recorder`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from memsim.models import Task
from memsim.scoring.outcomes import Outcome
from memsim.suite.shard import Shard
from memsim.trace import Inspection, Phase, Presence, ToolOutcome


class CallLine(TypedDict):
    """A model call of a turn or a probe."""

    phase: Phase
    task: Task
    input: int
    output: int
    cost: float | None


class ToolCallLine(TypedDict):
    """A call of one of the memory's tools."""

    tool: str
    arguments: str
    outcome: ToolOutcome
    result: NotRequired[str]
    cut: NotRequired[int]


class RoundLine(TypedDict):
    """A reply of an agent."""

    round: int
    said: NotRequired[str]
    calls: NotRequired[list[ToolCallLine]]
    note: NotRequired[str]


class EventLine(TypedDict):
    """Something that a strategy did."""

    kind: str
    sources: NotRequired[list[str]]
    before: NotRequired[int | float | None]
    after: NotRequired[int | float | None]
    detail: NotRequired[str]


class StoreLine(TypedDict, total=False):
    """What the memory wrote in a case."""

    entries: int
    verbatim: int
    kinds: dict[str, int]
    exact: int
    near: int
    characters: int
    turns: int
    facts: list[tuple[str, str, bool]]
    only_window: bool
    error: str


class TurnLine(TypedDict):
    """A line of `turns.jsonl`."""

    case: str
    turn: int
    session: str
    principal: str
    time: str
    repeat: NotRequired[int]
    tokens: NotRequired[dict[str, int]]
    sent: NotRequired[int]
    contexts: NotRequired[int]
    cached: NotRequired[int]
    overflow: NotRequired[int]
    moved: NotRequired[dict[str, Presence]]
    events: NotRequired[list[EventLine]]
    calls: NotRequired[list[CallLine]]
    agent: NotRequired[list[RoundLine]]
    store: NotRequired[StoreLine]


class LocationLine(TypedDict):
    """Where a strategy reports a fact."""

    tier: str
    rank: int | None
    detail: str | None


class EvidenceLine(TypedDict):
    """A piece of evidence of a probe."""

    source: str
    turn: int
    fact: str | None
    presence: Presence
    verbatim: bool
    trimmed: bool
    location: LocationLine | None
    path: list[tuple[int, Presence, str]]


class AgeLine(TypedDict):
    """How long before the question the newest evidence was said."""

    turns: int
    tokens: int
    sessions: int
    days: int


class ComposedLine(TypedDict):
    """A text in a context that the strategy made."""

    id: str
    layer: str
    text: str


LeakLine = TypedDict("LeakLine", {"fact": str, "in": str})


class ContextSizes(TypedDict):
    """What the context of a probe held."""

    tokens: dict[str, int]
    total: int
    overflow: int
    verbatim: list[str]
    derived: list[str]
    composed: list[ComposedLine]


class ProbeLine(TypedDict):
    """A line of `probes.jsonl`."""

    case: str
    repeat: int
    probe: str
    turn: int
    session: str
    time: str
    ask: str
    principal: str
    ability: str
    match: str
    labels: dict[str, str]
    expect: list[str]
    forbid: list[str]
    superseded: list[str]
    unanswerable: bool
    choices: list[str]
    excluded: str
    answer: str | None
    outcome: Outcome
    reason: str | None
    whereabouts: str | None
    detail: str
    error: str
    scores: dict[str, float | None]
    leaks: list[LeakLine]
    hidden: int
    retained: NotRequired[list[tuple[str, str]]]
    evidence: list[EvidenceLine]
    corpus: int
    age: AgeLine | None
    compactions: int
    context: ContextSizes | None
    query_tokens: int
    inspectable: bool
    inspection: NotRequired[Inspection]
    calls: list[CallLine]
    agent: NotRequired[list[RoundLine]]
    judge: NotRequired[list[Literal["right", "wrong", "unread"]]]


class AttackLine(TypedDict):
    """A line of `probes.jsonl` in a case of leakage."""

    case: str
    repeat: int
    probe: str
    leakage: dict[str, Any]


class ChannelLine(TypedDict):
    """What a channel says of itself, in the first line of a case of leakage."""

    kind: Literal["channel"]
    channel: str
    name: str
    gate: Literal["zero", "report"]
    planned: int
    of: NotRequired[int]
    negatives: int
    false_hits: int
    read: int
    error: str


class ContextLine(TypedDict, total=False):
    """A line of `contexts.jsonl`."""

    case: str
    repeat: int
    probe: str
    turn: int
    said: int
    facts: list[tuple[str, int | str, str]]
    new: list[list[Any]]
    sent: list[tuple[str, int, list[int | tuple[int, int]]]] | None
    full: int


class RunInfo(TypedDict):
    """The object in `run.json`."""

    memsim: int
    fingerprint: str
    finished: NotRequired[bool]
    exit: NotRequired[int | None]
    verdict: NotRequired[str]
    against: NotRequired[str]
    played: NotRequired[int]
    lost: NotRequired[int]
    command: NotRequired[list[str]]
    created: NotRequired[str]
    versions: NotRequired[dict[str, str | None]]
    platform: NotRequired[str]
    commit: NotRequired[str | None]
    dirty: NotRequired[bool | None]
    settings: NotRequired[RunSettings]
    scenarios: NotRequired[dict[str, str] | None]
    strategies: NotRequired[dict[str, str] | None]
    about: NotRequired[dict[str, str]]
    instruments: NotRequired[dict[str, str] | None]
    cases: NotRequired[dict[str, str]]
    judge: NotRequired[dict[str, Any]]
    isolated: NotRequired[list[str]]
    shard: NotRequired[Shard]


class RunSettings(TypedDict, total=False):
    """The settings of a run, as far as reports read them."""

    model: str
    embedder: str
    tokenizer: str
    judge: str
    seed: int
    repeat: int
    max_errors: float
    baseline: str | None
    gate: dict[str, Any] | None
