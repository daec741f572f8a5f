"""Does re-use recall, which needs no labels, put memories in the same order as gold evidence?

Plays the built-in strategies on LoCoMo and on BEAM at budgets of 2k, 4k and 8k, with the questions
of the dataset and with the needs that `memsim import` would find in the same conversations. Printed
are evidence recall of both, and of each dataset how many pairs of strategies that gold separates by
at least .05 stand in the same order. It ends with 1 where fewer do than `ENOUGH` says::

    MEMSIM_DATA=../data python -m benchmarks.reuse_agreement
    MEMSIM_DATA=../data python -m benchmarks.reuse_agreement --dataset beam --wrong

The datasets are looked for below MEMSIM_DATA, or below `../shared/data`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

from memsim.errors import MemsimError, Unmeasurable
from memsim.scenario.datasets import load_dataset
from memsim.scenario.need_probes import need_probe
from memsim.scenario.reuse_needs import Need, reuse_needs
from memsim.scenario.script import Ask, Probe, Scenario, ScriptEvent, Turn
from memsim.suite.single import run

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = ("2k", "4k", "8k")
STRATEGIES = (
    *("layered", "bm25", "hybrid", "vector", "rolling_summary", "sliding_window"),
    *("agenticx", "agentscope", "prx", "cogtrix", "aegis"),
)
DATASETS = {"locomo": "locomo", "beam": "beam/100K"}
APART = 0.05
"""Gold evidence recall that separates a pair."""

NEEDS = 80
"""Needs of each conversation; more take longer."""

ENOUGH = {"locomo": 0.95, "beam": 0.9}
"""Share of the pairs that must stand in the same order."""

Cell = tuple[str, str]
"""A strategy and a budget."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Means of a dataset by cell, of its own questions and of the needs that were found."""

    gold: Mapping[Cell, float]
    reuse: Mapping[Cell, float]
    passed: Mapping[Cell, float]
    needs: int
    questions: int

    def pairs(self) -> Iterator[tuple[str, str, str, bool]]:
        """Two strategies, a budget, and whether both put them in the same order."""
        for budget in BUDGETS:
            for one, other in combinations(STRATEGIES, 2):
                apart = self.gold[one, budget] - self.gold[other, budget]
                if abs(apart) >= APART:
                    also = self.reuse[one, budget] - self.reuse[other, budget]
                    yield one, other, budget, apart * also > 0


def main() -> int:
    """Print the tables; 1 where too few pairs agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", action="append", choices=tuple(DATASETS), help="repeatable")
    parser.add_argument("--wrong", action="store_true", help="name the pairs in another order")
    given = parser.parse_args()
    data = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data")
    missed = False
    for name in given.dataset or DATASETS:
        found = measured(load_dataset(name, data / DATASETS[name]))
        missed |= show(name, found, wrong=given.wrong) < ENOUGH[name]
    return int(missed)


def measured(scenarios: Sequence[Scenario]) -> Agreement:
    """Play every strategy at every budget."""
    gold: dict[Cell, list[float]] = defaultdict(list)
    reuse: dict[Cell, list[float]] = defaultdict(list)
    passed: dict[Cell, list[float]] = defaultdict(list)
    for scenario in scenarios:
        both, needs = with_needs(scenario)
        for strategy in STRATEGIES:
            for budget in BUDGETS:
                report = run(both, strategy, budget=budget)
                if report.error:
                    raise Unmeasurable(f"{report.id}: {report.error}")
                for probe in report.probes:
                    recall = probe["scores"].get("evidence_recall")
                    if recall is None:
                        continue
                    needed = probe["probe"] in needs
                    (reuse if needed else gold)[strategy, budget].append(recall)
                    if needed:
                        passed[strategy, budget].append(probe["outcome"] == "PASS")
    cell = STRATEGIES[0], BUDGETS[0]
    return Agreement(
        {c: _mean(v) for c, v in gold.items()},
        {c: _mean(v) for c, v in reuse.items()},
        {c: _mean(v) for c, v in passed.items()},
        len(reuse[cell]),
        len(gold[cell]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def with_needs(scenario: Scenario) -> tuple[Scenario, frozenset[str]]:
    """The scenario, with its needs asked in the middle; and the ids of these questions."""
    turns = [event for event in scenario.events(0) if isinstance(event, Turn)]
    asker = scenario.probes[0].principal
    due: dict[int, list[Probe]] = defaultdict(list)
    ids: dict[str, None] = {}
    for need in reuse_needs(turns, shared=True, most=NEEDS):
        probe = replace(need_probe(_name(need, ids), need), principal=asker)
        ids[probe.id] = None
        due[need.turn].append(probe)
    probes = (*scenario.probes, *(p for each in due.values() for p in each))
    play = partial(_play, scenario, due)
    return replace(scenario, play=play, probes=probes), frozenset(ids)


def _name(need: Need, taken: Mapping[str, None]) -> str:
    return f"reuse-{need.message}-{len(taken)}"


def _play(
    scenario: Scenario, due: Mapping[int, Sequence[Probe]], seed: int
) -> Iterator[ScriptEvent]:
    for event in scenario.events(seed):
        yield event
        if isinstance(event, Turn):
            time = (*event.heard, *event.reply)[-1].time
            for probe in due.get(event.number, ()):
                yield Ask(probe=probe, turn=event.number, session=event.session, time=time)


def show(name: str, found: Agreement, *, wrong: bool) -> float:
    """Print a dataset's tables; the share of pairs in the same order."""
    print(f"{name}: {found.questions} questions with evidence, {found.needs} needs of re-use")
    width = max(map(len, STRATEGIES))
    for budget in BUDGETS:
        print(f"  {budget:{width}}      gold    re-use    served")
        for strategy in sorted(STRATEGIES, key=lambda s: -found.gold[s, budget]):
            cell = strategy, budget
            figures = f"{found.gold[cell]:10.3f}{found.reuse[cell]:10.3f}{found.passed[cell]:10.3f}"
            print(f"  {strategy:{width}}{figures}")
    pairs = list(found.pairs())
    agreed = sum(same for *_, same in pairs)
    print(f"  same order: {agreed} of {len(pairs)} pairs, {agreed / len(pairs):.3f}\n", flush=True)
    for one, other, budget, same in pairs if wrong else ():
        if not same:
            print(f"    other order: {one} and {other} at {budget}")
    return agreed / len(pairs)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MemsimError as error:
        sys.exit(str(error))
