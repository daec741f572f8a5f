"""Hold a memory against relations in a test: no gold answer decides, only what a twist changes.

::

    from memsim.testing import assert_steady

    def test_mine():
        assert_steady("support_desk", "strategies/mine.py@Mine", ["polite", "restart"])
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.config import parse_budget
from memsim.errors import Unmeasurable
from memsim.scenario.relations import RELATIONS, SEPARATOR, asked_together, changes, twisted
from memsim.suite.single import CaseReport, run, scenario_named
from memsim.suite.twist_play import TwistedQuestion, check_relations
from memsim.testing.invariants import Violation

if TYPE_CHECKING:
    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.scenario.script import Scenario
    from memsim.strategy import Strategy
    from memsim.suite.play import MakeStrategy

_SHOWN = 5
"""Flipped answers that a failed test tells."""


def twist(
    scenario: Scenario | str | Path,
    strategy: str | StrategyRef | type[Strategy] | MakeStrategy,
    relations: Iterable[str] = (),
    *,
    budget: int | str = "4k",
    seed: int = 7,
) -> tuple[TwistedQuestion, ...]:
    """Play a scenario plain and twisted, and pair its questions.

    Args:
        scenario: a scenario, its name or its file.
        strategy: a ref, a class, or what makes one.
        relations: names of relations; all of them when empty.
        budget: tokens that a context may use.
        seed: of the fillers.

    Raises:
        UsageError: a name, file or value is wrong.
        Unmeasurable: a case could not be played to its end.
    """
    names = check_relations(relations)
    plain, size = scenario_named(scenario), parse_budget(budget)

    def played(changed: Scenario, tokens: int = size) -> dict[str, dict[str, object]]:
        report = run(changed, strategy, budget=tokens, seed=seed)
        return _lines(report)

    asked = [name for name in names if RELATIONS[name].ask is not None]
    base = played(asked_together(plain, asked))
    pairs: list[TwistedQuestion] = []
    for name in names:
        after, suffix = base, f"{SEPARATOR}{name}"
        if name not in asked:
            changed, times = twisted(plain, name), RELATIONS[name].budget
            if times == 1 and not changes(plain, changed):
                continue
            after, suffix = played(changed, times * size), ""
        pairs += [
            TwistedQuestion(
                strategy=str(strategy),
                scenario=plain.name,
                relation=name,
                plain=base[probe.id],
                twisted=after[probe.id + suffix],
            )
            for probe in plain.probes
        ]
    return tuple(pairs)


def assert_steady(
    scenario: Scenario | str | Path,
    strategy: str | StrategyRef | type[Strategy] | MakeStrategy,
    relations: Iterable[str] = (),
    *,
    most: float = 0.0,
    budget: int | str = "4k",
    seed: int = 7,
) -> None:
    """Fail a test where a relation flips a larger share of the answers than `most`.

    The other arguments are those of `twist`.

    Raises:
        Violation: so it is; some of the answers are told.
    """
    pairs = twist(scenario, strategy, relations, budget=budget, seed=seed)
    told = []
    for name in dict.fromkeys(pair.relation for pair in pairs):
        of_name = [pair for pair in pairs if pair.relation == name]
        flipped = [pair for pair in of_name if pair.flipped]
        if len(flipped) > most * len(of_name):
            told.append(f"{name}: {len(flipped)} of {len(of_name)} answers flipped")
            told += map(_told, flipped[:_SHOWN])
    if told:
        raise Violation("\n".join(told))


def _told(pair: TwistedQuestion) -> str:
    before, after = pair.plain, pair.twisted
    return f"  {before['ask']} -> {before['answer']}\n  {after['ask']} -> {after['answer']}"


def _lines(report: CaseReport) -> dict[str, dict[str, object]]:
    failed = report.error or next((str(p["error"]) for p in report.probes if p["error"]), "")
    if failed:
        raise Unmeasurable(f"{report.id}: {failed}")
    return {str(p["probe"]): dict(p) for p in report.probes}
