"""`memsim twist`: change scenarios in ways that must not change an answer, and count what flips."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from memsim.cli.terminal import Terminal, complain
from memsim.discovery.project import find_project
from memsim.errors import ConfigError, ExitCode, nearest
from memsim.report import number_format
from memsim.report.layout import TextLine, terminal_table
from memsim.scenario.relations import RELATIONS

if TYPE_CHECKING:
    from memsim.report.flips import FlipCount, TwistedQuestion
    from memsim.suite.cases import CaseSpec

_WORST = 10
"""Pairs that are shown one under the other."""


@click.command(
    "twist",
    epilog="""\b
Examples:
  memsim twist support_desk -s layered
  memsim twist locomo --data data/locomo -s my.py@Mine --relation typo --max-flips 0.02""",
)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@click.option(
    "-s",
    "--strategy",
    "strategies",
    metavar="REF",
    multiple=True,
    help="A strategy, as for `memsim run`; repeatable.",
)
@click.option(
    "--relation",
    "relations",
    metavar="NAME",
    multiple=True,
    help="Only this relation; repeatable.  [default: all]",
)
@click.option("--data", metavar="PATH", type=click.Path(), help="File or folder of a dataset.")
@click.option("-k", "expression", metavar="EXPR", help="Only cases whose id matches.")
@click.option("--budget", metavar="N", help="Tokens that a context may use.")
@click.option("-j", "--jobs", metavar="N|auto", help="Number of processes.  [default: auto]")
@click.option(
    "--max-flips",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    help="Fail if a relation flips a larger share of the answers, such as 0.02.",
)
def command(
    scenarios: tuple[str, ...],
    strategies: tuple[str, ...],
    relations: tuple[str, ...],
    data: str | None,
    expression: str | None,
    budget: str | None,
    jobs: str | None,
    max_flips: float | None,
) -> int:
    """Change scenarios in ways that must not change an answer, and count the answers that flip.

    No gold answer is needed to see a flip. SCENARIO and the strategies are given as for
    `memsim run`. The exit code is 1 if more flips than --max-flips, and 7 if a case was not
    measured.
    """
    from memsim.report.flips import flip_counts, flip_table, worst_pairs

    names = _relations(relations)
    plain = _planned(scenarios, strategies, data, expression, budget, jobs)
    records, unmeasured = _played(plain, names, jobs)
    pairs = [*_pairs(plain, names, records)]
    if not pairs:
        complain("no question was measured in both ways")
        return ExitCode.UNMEASURABLE
    one_way = frozenset(n for n in names if RELATIONS[n].expected == "no worse")
    counts = flip_counts(pairs, one_way)
    terminal = Terminal.of_process()
    about = {name: RELATIONS[name].about for name in names}
    lines = [*terminal_table(flip_table(counts, about), terminal.width).lines]
    lines += _shown(worst_pairs(pairs, _WORST))
    terminal.say_lines([*lines, *_legend(one_way), _verdict(counts, max_flips)])
    if unmeasured:
        return ExitCode.UNMEASURABLE
    return ExitCode.FAILED if _too_many(counts, max_flips) else ExitCode.PASSED


def _relations(given: Sequence[str]) -> tuple[str, ...]:
    for name in given:
        if name not in RELATIONS:
            near = nearest(name, RELATIONS)
            hint = f" (did you mean {near!r}?)" if near else ""
            known = ", ".join(RELATIONS)
            raise ConfigError(f"no relation is called {name!r}{hint}; relations: {known}")
    return tuple(dict.fromkeys(given)) or tuple(RELATIONS)


def _planned(
    scenarios: tuple[str, ...],
    strategies: tuple[str, ...],
    data: str | None,
    expression: str | None,
    budget: str | None,
    jobs: str | None,
) -> tuple[CaseSpec, ...]:
    from memsim.cli.run_plan import RunRequest, plan_run

    settings: dict[str, Any] = {"baseline": "none", "budget": budget, "jobs": jobs}
    request = RunRequest(
        selectors=scenarios,
        strategies=strategies,
        expression=expression,
        data=data,
        controls=False,
        settings=settings,
    )
    planned = plan_run(request, find_project())
    for remark in planned.remarks:
        complain(remark)
    return tuple(replace(case, bounds=()) for case in planned.plan.cases)


def _twisted(case: CaseSpec, relation: str) -> CaseSpec:
    ref = replace(case.scenario, twist=relation)
    return replace(case, scenario=ref, budget=case.budget * RELATIONS[relation].budget)


def _played(
    plain: Sequence[CaseSpec], names: Sequence[str], jobs: str | None
) -> tuple[dict[CaseSpec, dict[str, Any]], bool]:
    """The probe records by case, and whether a case was not measured."""
    from memsim.executors import choose_executor
    from memsim.suite.play import run_case
    from memsim.suite.scenarios import rare_garbage_collection

    specs = [*plain, *(_twisted(case, name) for case in plain for name in names)]
    number = 0 if jobs in {None, "auto"} else int(str(jobs))
    executor = choose_executor(number, len(specs), sum(spec.turns for spec in specs))
    records: dict[CaseSpec, dict[str, Any]] = {}
    unmeasured = False
    with rare_garbage_collection(), closing(executor.run(specs, run_case)) as outcomes:
        for place, outcome in outcomes:
            if outcome.result.state != "scored":
                complain(f"{specs[place].key}: {outcome.result.error}")
                unmeasured = True
            lines = map(json.loads, outcome.probe_lines.splitlines())
            records[specs[place]] = {line["probe"]: line for line in lines}
    return records, unmeasured


def _pairs(
    plain: Sequence[CaseSpec], names: Sequence[str], records: dict[CaseSpec, dict[str, Any]]
) -> Iterator[TwistedQuestion]:
    from memsim.report.flips import TwistedQuestion

    for case in plain:
        for name in names:
            twisted = records.get(_twisted(case, name), {})
            for probe, line in records.get(case, {}).items():
                if probe in twisted:
                    yield TwistedQuestion(
                        strategy=str(case.strategy),
                        scenario=str(case.scenario),
                        relation=name,
                        plain=line,
                        twisted=twisted[probe],
                    )


def _shown(pairs: Iterator[TwistedQuestion]) -> Iterator[TextLine]:
    found = [*pairs]
    if not found:
        return
    yield TextLine(text="")
    yield TextLine(text="answers that were lost", tone="head")
    for pair in found:
        question = f"{pair.scenario}::{pair.plain['probe']}"
        yield TextLine(text=f"  {pair.relation}  {pair.strategy}  {question}")
        for head, probe in (("plain", pair.plain), ("then", pair.twisted)):
            answer = " ".join(str(probe["answer"]).split())
            yield TextLine(text=f"    {head:5}  {probe['ask']}  ->  {answer}")


def _legend(one_way: frozenset[str]) -> Iterator[TextLine]:
    yield TextLine(text="")
    yield TextLine(text="  flips: share of the questions whose answer became right or wrong")
    if one_way:
        yield TextLine(text=f"  only a lost answer is a flip: {', '.join(sorted(one_way))}")


def _too_many(counts: Sequence[FlipCount], most: float | None) -> list[FlipCount]:
    return [count for count in counts if most is not None and count.share > most]


def _verdict(counts: Sequence[FlipCount], most: float | None) -> TextLine:
    asked = number_format.plural(sum(count.n for count in counts), "pair of questions", "pairs")
    flips = sum(count.flips for count in counts)
    said = f"{flips} of {asked} flipped"
    failed = _too_many(counts, most)
    if failed:
        worst = max(failed, key=lambda count: count.share)
        said += f"; {worst.relation} flips {worst.share:.1%}, more than {most:.1%}"
    return TextLine(text=said, tone="bad" if failed else "")
