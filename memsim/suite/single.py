"""Run one scenario against one strategy from Python, for tests and notebooks."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from memsim.config import load_settings, parse_budget
from memsim.discovery.loader import reload_changed, resolve, try_parameters
from memsim.discovery.project import find_project
from memsim.discovery.strategy_ref import StrategyRef, snake_case
from memsim.errors import RefError, Unmeasurable
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.model_ref import read_judge
from memsim.scenario.script import Scenario
from memsim.strategy import Strategy
from memsim.suite.case_models import access_of
from memsim.suite.cases import CaseOutcome, CaseResult, CaseSpec, State
from memsim.suite.judgement import calibrate, with_calibration
from memsim.suite.play import MakeStrategy, make_strategy, play_scenario
from memsim.suite.scenarios import ScenarioRef, find_scenarios


class Score(float):
    """A metric of a case: a number that knows the case and metric it comes from."""

    __slots__ = ("metric", "report")
    metric: str
    report: CaseReport

    def __new__(cls, value: float, metric: str, report: CaseReport) -> Self:
        """Make the number, with its case and metric."""
        made = super().__new__(cls, value)
        made.metric, made.report = metric, report
        return made

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        """As the bare number: a copy need not carry a whole replay."""
        return float, (float(self),)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReport:
    """The result of one case.

    Attributes:
        state: `scored`, or `error` when the strategy or the model failed.
        probes: one record a probe, as in `probes.jsonl`.
        turns: one record a turn, as in `turns.jsonl`.
        result: the same as a run would keep it.
        command: what plays the case again; empty where a command line cannot name it.
        judge: how a judge did on known answers, as `run.json` has it; empty without one.
    """

    id: str
    state: State = "scored"
    error: str = ""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    probes: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    turns: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    result: CaseResult | None = field(default=None, repr=False)
    command: str = ""
    judge: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def recall(self) -> Score:
        """The share of answerable probes that were answered rightly.

        Raises:
            Unmeasurable: a probe could not be scored, or there is none: no test passes on that.
        """
        failed = [p["error"] for p in self.probes if p["error"]]
        if self.error or failed:
            raise Unmeasurable(f"{self.id}: {self.error or failed[0]}")
        value = self.metrics.get("recall")
        if value is None:
            raise Unmeasurable(f"{self.id}: no answerable probe was asked")
        return Score(value, "recall", self)

    @property
    def judged(self) -> Score:
        """The share of the judged answers that the judge found right.

        Raises:
            Unmeasurable: there is no judge, or one that is not believed, or an answer of which it
                gave no verdict: no test passes on that.
        """
        result = self.result
        silent = result.counts.get("unjudged", 0) if result else 0
        said = self.error or (result.unjudged if result else "")
        if said or silent:
            raise Unmeasurable(f"{self.id}: {said or f'{silent} answers without a verdict'}")
        value = self.metrics.get("judged")
        if value is None:
            raise Unmeasurable(f"{self.id}: no judge was asked about an answer")
        return Score(value, "judged", self)

    @property
    def missed(self) -> tuple[str, ...]:
        """Ids of the probes that were not passed."""
        passed = {"PASS", "ABSTAINED"}
        return tuple(p["probe"] for p in self.probes if p["outcome"] not in passed)


def run(
    scenario: Scenario | str | Path,
    strategy: str | StrategyRef | type[Strategy] | MakeStrategy,
    *,
    budget: int | str | None = None,
    seed: int | None = None,
    **settings: str,
) -> CaseReport:
    """Play one scenario against one strategy, here and now; nothing is written.

    Args:
        scenario: a scenario, its name or its file.
        strategy: a ref such as `sliding_window:messages=20`, a class, or what makes one.
        budget: tokens that a context may use, such as `4k`; the scenario's own, or the project's,
            when None.
        seed: of the fillers; the project's when None.
        **settings: `model`, `judge`, `embedder`, `tokenizer`, `record`, `cassettes`, when not the
            project's.

    Raises:
        UsageError: a name, file or value is wrong.
    """
    reload_changed()
    project = find_project()
    chosen = load_settings(project, {"seed": seed, **settings})
    ref, found = _scenario(scenario)
    strategy_ref, make = _strategy(strategy)
    spec = CaseSpec(
        scenario=ref,
        strategy=strategy_ref,
        budget=parse_budget(budget) if budget else found.budget or chosen.budget[0],
        seed=chosen.seed,
        model=chosen.model,
        embedder=chosen.embedder,
        tokenizer=chosen.tokenizer,
        probes=len(found.probes),
        access=access_of(chosen, project),
        judge=read_judge(chosen.judge).label if chosen.judge else "",
    )
    spec, trial = _tried(spec, found)
    named = ref.place is not None and isinstance(strategy, str | StrategyRef)
    report = _report(play_scenario(found, spec, make), command_of(spec.id) if named else "")
    return replace(report, judge=trial)


def _tried(spec: CaseSpec, scenario: Scenario) -> tuple[CaseSpec, Mapping[str, object]]:
    counter = TokenCounter(load_tokenizer(spec.tokenizer))
    trial = calibrate([spec], counter, scenario)
    if trial is None:
        return spec, {}
    return with_calibration([spec], trial.trial.unfit)[0], trial.record()


def command_of(case: str) -> str:
    """The command that plays a case again, by its id."""
    return f"memsim run {shlex.quote(case)}"


def scenario_named(scenario: Scenario | str | Path) -> Scenario:
    """A scenario by its name or file, or itself.

    Raises:
        UsageError: there is none, or there are several.
    """
    return _scenario(scenario)[1]


def _scenario(scenario: Scenario | str | Path) -> tuple[ScenarioRef, Scenario]:
    if isinstance(scenario, Scenario):
        return ScenarioRef(source=str(scenario.path), name=scenario.name), scenario
    refs = find_scenarios([str(scenario)], find_project())
    if len(refs) != 1:
        names = ", ".join(ref.name for ref in refs[:5])
        raise RefError(f"{scenario} holds {len(refs)} scenarios ({names}): name one")
    return refs[0], refs[0].load()


def _strategy(
    strategy: str | StrategyRef | type[Strategy] | MakeStrategy,
) -> tuple[StrategyRef, MakeStrategy]:
    if isinstance(strategy, str | StrategyRef):
        ref = resolve(strategy)
        try_parameters(ref)
        return ref, partial(make_strategy, ref)
    return StrategyRef(name=_name(strategy)), strategy


def _name(strategy: Callable[..., object]) -> str:
    return snake_case(getattr(strategy, "__name__", type(strategy).__name__).strip("<>"))


def _report(outcome: CaseOutcome, command: str) -> CaseReport:
    result = outcome.result
    return CaseReport(
        id=result.id,
        state=result.state,
        error=result.error,
        metrics=result.metrics,
        outcomes=result.outcomes,
        probes=tuple(map(json.loads, outcome.probe_lines.splitlines())),
        turns=tuple(json.loads(line) for b in outcome.turn_blocks() for line in b.splitlines()),
        result=result,
        command=command,
    )
