"""One case of a run: its specification, its id and its result."""

from __future__ import annotations

import math
import operator
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memsim.config import show_budget
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import ConfigError, nearest
from memsim.fast_dataclass import fast_init
from memsim.latency import Latency
from memsim.leakage import LEAKAGE
from memsim.models.model_access import NO_ACCESS, NO_SPENDING, ModelAccess, Spending
from memsim.scoring.metric import Metric
from memsim.suite.scenarios import ScenarioRef

# Bounds on a case's metrics: a scenario's `expect:`, `[tool.memsim.expect]`, `--fail-under`.

_BOUND = re.compile(r"^\s*(>=|<=|==|>|<)?\s*(\S+)\s*$")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricBound:
    """A bound on a metric.

    Attributes:
        sign: `>=`, `<=`, `==`, `>` or `<`.
        place: where it was said, such as `support.yaml:41`.
    """

    metric: str
    sign: str
    value: float
    place: str = ""

    def __str__(self) -> str:
        return f"{self.sign} {self.value:g}"

    def holds(self, value: float) -> bool:
        """Whether a value is within the bound."""
        return _SIGNS[self.sign](value, self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectFailure:
    """A bound that a case missed.

    Attributes:
        value: what was measured; None when the metric could not be.
        place: where the bound was said.
    """

    metric: str
    bound: str
    value: float | None
    place: str = ""


def parse_bound(
    metric: str,
    text: str,
    known: Mapping[str, Metric],
    *,
    path: str | None = None,
    line: int | None = None,
) -> MetricBound:
    """A bound such as `>= 0.80`; a bare number is the least, or the most where lower is better.

    Raises:
        ConfigError: there is no such metric, the text is not a bound, or no share can reach it.
    """
    names = sorted(known)
    if metric not in names:
        message = f"there is no metric {metric!r}"
        raise ConfigError(message, path=path, line=line, hint=nearest(metric, names))
    found = _BOUND.match(text)
    value = _finite(found[2]) if found else None
    if found is None or value is None:
        message = f"{metric}: a bound is written like '>= 0.8' or '<= 4096', not {text!r}"
        raise ConfigError(message, path=path, line=line)
    if known[metric].unit == "share" and not 0 <= value <= 1:
        message = f"{metric}: a bound on a share is from 0 to 1, not {text!r}"
        meant = f"{value / 100:g}" if 2 <= value <= 100 else None
        raise ConfigError(message, path=path, line=line, hint=meant)
    place = f"{path}:{line}" if path and line else path or ""
    bare = "<=" if known[metric].better == "lower" else ">="
    return MetricBound(metric=metric, sign=found[1] or bare, value=value, place=place)


def _finite(text: str) -> float | None:
    if "_" in text:
        return None
    percent = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return number / 100 if percent else number


def check_expectations(
    metrics: Mapping[str, float | None], expect: Iterable[MetricBound]
) -> tuple[ExpectFailure, ...]:
    """The bounds that a case misses.

    A metric that was not measured keeps no bound: its failure has the value None.
    """
    failures = []
    for bound in expect:
        value = metrics.get(bound.metric)
        if value is None or not bound.holds(value):
            failures.append(
                ExpectFailure(metric=bound.metric, bound=str(bound), value=value, place=bound.place)
            )
    return tuple(failures)


State = Literal["scored", "error", "lost", "invalid"]
"""`scored`: played to its end. `error`: the strategy or model failed. `lost`: its process died.
`invalid`: of a channel of leakage too little could be tried to say anything, or the strategy looked
at files that hold the answers."""

TIMED = "L5"
"""The channel that measures time; its strategies are never in a process of their own."""

UNTRIED = "it was not tried on known answers"
"""Why no case believes a judge, as long as nobody says otherwise."""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSpec:
    """A scenario, a strategy, a budget and a repeat: everything a worker needs to play it.

    Attributes:
        bounds: what its metrics must be.
        turns, probes: how many the scenario has.
        timeout: seconds that it may take; 0 for as long as it likes. No record depends on it.
        access: how a provider's answers are come by. No record depends on it either.
        judge: the ref of who is asked about answers besides the rules; empty for nobody.
        unfit: why that judge is not believed, and not asked; empty where it was tried and did well.
        guarded: files and folders of which a strategy in a process of its own has to keep off; None
            where it is played in this process. No record depends on it.
    """

    scenario: ScenarioRef
    strategy: StrategyRef
    budget: int
    repeat: int = 0
    seed: int = 7
    model: str = "offline"
    embedder: str = "wordllama"
    tokenizer: str = "o200k_base"
    bounds: tuple[MetricBound, ...] = ()
    turns: int = 0
    probes: int = 0
    timeout: float = 0
    access: ModelAccess = NO_ACCESS
    judge: str = ""
    unfit: str = UNTRIED
    guarded: tuple[Path, ...] | None = None

    @property
    def isolated(self) -> bool:
        """Whether the strategy has a process of its own."""
        # What a pipe adds to the time of an answer would hide what the timing oracle looks for.
        timed = self.scenario.dataset == LEAKAGE and self.scenario.name == TIMED
        return self.guarded is not None and not timed

    @property
    def id(self) -> str:
        """`path::scenario[strategy@budget]`."""
        return f"{self.scenario}[{self.variant}]"

    @property
    def variant(self) -> str:
        """`strategy@budget`."""
        return f"{self.strategy}@{show_budget(self.budget)}"

    @property
    def key(self) -> str:
        """The id, with `#repeat` from the second repeat on."""
        return f"{self.id}#{self.repeat}" if self.repeat else self.id


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The result of a case: a line of `cases.jsonl`.

    Attributes:
        control: floor, ceiling or evidence; empty for a strategy that is compared.
        state: whether it was played to its end.
        error: why it was not, or else why the first of its probes could not be scored.
        metrics: every metric; None where it was not measured.
        counts: probes, answerable, passed, failed, errors; with a judge also unjudged: answers of
            which it gave no verdict. Of a foreign memory also recalled_texts: texts in contexts of
            probes, and uncredited: those that no message could be named for.
        outcomes: probes by outcome.
        expect_failures: bounds that were not kept.
        seconds: how long it took here; for information only.
        unjudged: why its answers were not judged though there is a judge; empty where they were.
        tracebacks: of what the strategy raised, each different one once.
        hosts: what its process was seen to talk to, where it had one of its own.
        notes: what the strategy says of itself that a reader of its numbers has to know.
        answer_bounds: bounds on answers, kept or not; none is kept where the reader is the limit.
        latency: how long calls of its strategy took here; for information only.
        reader_limit: why answers are `n/a (reader)`; never saved, as it depends on `oracle`.
    """

    id: str
    scenario: str
    strategy: str
    budget: int
    repeat: int = 0
    dataset: str = ""
    control: str = ""
    state: State = "scored"
    error: str = ""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    expect_failures: tuple[ExpectFailure, ...] = ()
    seconds: float = 0.0
    unjudged: str = ""
    tracebacks: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    answer_bounds: tuple[MetricBound, ...] = ()
    latency: Latency = field(default_factory=dict)
    reader_limit: str = ""

    @property
    def key(self) -> str:
        """The id, with `#repeat` from the second repeat on."""
        return f"{self.id}#{self.repeat}" if self.repeat else self.id


BLOCK = 4 * 2**20
"""Bytes of records that are compressed, written or read at once."""


def pack(block: bytes) -> bytes:
    """Compress lines of turns; they take about a tenth of the room."""
    return zlib.compress(block, 1)


def unpack(block: bytes) -> bytes:
    """The lines that `pack` compressed."""
    return zlib.decompress(block)


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """A case's result with its records, encoded.

    Attributes:
        packed_turns: of a long case, the lines of its first turns: blocks of `pack`.
        turn_lines: the lines of its turns after those.
        spent: what the calls of a provider's model came to, here and now.
        unpaid: why the case was given up where the money was at its end; it is to be played again.
    """

    result: CaseResult
    turn_lines: bytes = b""
    probe_lines: bytes = b""
    spent: Spending = NO_SPENDING
    unpaid: str = ""
    context_lines: bytes = b""
    packed_turns: tuple[bytes, ...] = ()

    def turn_blocks(self) -> Iterator[bytes]:
        """The lines of all turns, a block at a time."""
        yield from map(unpack, self.packed_turns)
        yield self.turn_lines


def scenario_of(case: str) -> str:
    """`path::scenario` of the id of a case or a probe."""
    path, _, rest = case.partition("::")
    return f"{path}::{rest.partition('[')[0]}"


def blank_result(spec: CaseSpec, *, state: State, error: str) -> CaseResult:
    """The result of a case without measurements: every probe counts as an error."""
    probes = spec.probes
    return CaseResult(
        id=spec.id,
        scenario=spec.scenario.name,
        strategy=str(spec.strategy),
        budget=spec.budget,
        repeat=spec.repeat,
        dataset=spec.scenario.dataset,
        control=spec.strategy.control,
        state=state,
        error=error,
        counts={"probes": probes, "answerable": 0, "passed": 0, "failed": 0, "errors": probes},
        outcomes={"ERROR": probes} if probes else {},
    )
