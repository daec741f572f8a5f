"""One case: what is played, how it is named, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memsim.config import show_budget
from memsim.discovery import StrategyRef
from memsim.frozen import quickly_made
from memsim.models.access import NO_ACCESS, NOTHING, Access, Spent
from memsim.suite.expect import Bound, ExpectFailure
from memsim.suite.scenarios import ScenarioRef

State = Literal["scored", "error", "lost", "invalid"]
"""`scored`: played to its end. `error`: the strategy or model failed. `lost`: its process died.
`invalid`: of a channel of leakage too little could be tried to say anything."""


UNTRIED = "it was not tried on known answers"
"""Why no case believes a judge, as long as nobody says otherwise."""


@quickly_made
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
    """

    scenario: ScenarioRef
    strategy: StrategyRef
    budget: int
    repeat: int = 0
    seed: int = 7
    model: str = "offline"
    embedder: str = "wordllama"
    tokenizer: str = "o200k_base"
    bounds: tuple[Bound, ...] = ()
    turns: int = 0
    probes: int = 0
    timeout: float = 0
    access: Access = NO_ACCESS
    judge: str = ""
    unfit: str = UNTRIED

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


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What came of a case, as `cases.jsonl` keeps it.

    Attributes:
        id: the case's id, without its repeat.
        strategy: the ref.
        control: floor, ceiling or evidence; empty for a strategy that is compared.
        state: whether it was played to its end.
        error: why it was not, in one line.
        metrics: every metric; None where it was not measured.
        counts: probes, answerable, passed, failed, errors; with a judge also unjudged: answers of
            which it gave no verdict.
        outcomes: probes by outcome.
        expect_failures: bounds that were not kept.
        seconds: how long it took here; for information only.
        unjudged: why its answers were not judged though there is a judge; empty where they were.
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

    @property
    def key(self) -> str:
        """The id, with `#repeat` from the second repeat on."""
        return f"{self.id}#{self.repeat}" if self.repeat else self.id


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """A case's result with its records, encoded.

    Attributes:
        turn_lines: lines for `turns.jsonl`.
        probe_lines: lines for `probes.jsonl`.
        context_lines: lines for `contexts.jsonl`.
        spent: what the calls of a provider's model came to, here and now.
        unpaid: why the case was given up where the money was at its end; it is to be played again.
    """

    result: CaseResult
    turn_lines: bytes = b""
    probe_lines: bytes = b""
    spent: Spent = NOTHING
    unpaid: str = ""
    context_lines: bytes = b""


def blank_result(spec: CaseSpec, *, state: State, error: str) -> CaseResult:
    """The result of a case of which nothing was measured: every probe counts as an error."""
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
