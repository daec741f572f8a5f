"""Measure how far outcomes move when the same conversations are told in other words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memsim.errors import Unmeasurable
from memsim.scenario.scenario_loader import load_scenario
from memsim.scenario.script import Scenario
from memsim.suite.single import run

BASELINES = ("sliding_window", "bm25", "layered")
"""Strategies that are played where nobody names others."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How many outcomes of a strategy moved, of how many questions."""

    strategy: str
    moved: int
    questions: int


def outcome_drift(
    pairs: Iterable[tuple[Scenario | Path, Scenario | Path]],
    strategies: Iterable[str] = BASELINES,
    budget: int | str | None = None,
) -> list[Drift]:
    """Replay pairs of scenarios that ask the same, by offline models, and compare the outcomes.

    Raises:
        Unmeasurable: a scenario could not be played.
    """
    loaded = [(_loaded(one), _loaded(other)) for one, other in pairs]
    made: list[Drift] = []
    for strategy in strategies:
        moved = questions = 0
        for one, other in loaded:
            before, after = _outcomes(one, strategy, budget), _outcomes(other, strategy, budget)
            questions += len(before)
            moved += sum(outcome != after.get(probe) for probe, outcome in before.items())
        made.append(Drift(strategy, moved, questions))
    return made


def _loaded(scenario: Scenario | Path) -> Scenario:
    return scenario if isinstance(scenario, Scenario) else load_scenario(scenario)


def _outcomes(scenario: Scenario, strategy: str, budget: int | str | None) -> dict[str, str]:
    if not scenario.probes:
        return {}
    played = run(scenario, strategy, budget=budget, model="offline", embedder="wordllama")
    if played.error:
        raise Unmeasurable(f"{played.id}: {played.error}")
    return {probe["probe"]: probe["outcome"] for probe in played.probes}
