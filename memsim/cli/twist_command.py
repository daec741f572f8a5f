"""`memsim twist`: change scenarios in ways that must not change an answer, and count what flips."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memsim.cli.supervisor import SUPERVISION
from memsim.cli.terminal import Terminal, complain
from memsim.config import flip_bounds
from memsim.discovery.project import find_project
from memsim.errors import ConfigError, ExitCode
from memsim.report import number_format
from memsim.report.layout import TextLine, terminal_table
from memsim.scenario.relations import RELATIONS

if TYPE_CHECKING:
    from memsim.gate.flip_baseline import FlipChange
    from memsim.report.flips import FlipCount
    from memsim.suite.cases import CaseOutcome, CaseSpec
    from memsim.suite.twist_play import TwistedQuestion, TwistPlan

_WORST = 10
"""Pairs that are shown one under the other."""


@click.command(
    "twist",
    epilog="""\b
Examples:
  memsim twist support_desk -s layered --shrink flips
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
@click.option(
    "-j",
    "--jobs",
    metavar="N|auto|ray",
    help="Number of processes, or a Ray cluster: ray, ray://host:port.  [default: auto]",
)
@click.option(
    "--max-flips",
    metavar="SHARE",
    multiple=True,
    help="Fail if a relation flips a larger share of the answers, such as 0.02, or typo=0.03 for "
    "one relation; repeatable.  [default: max_flips of the project]",
)
@click.option(
    "--save",
    "kept",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write which answers flipped, for --baseline.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Fail if a relation flips more answers than it did when FILE was saved.",
)
@click.option(
    "--shrink",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write the smallest conversation that still flips, for the worst answer of each relation.",
)
def command(
    scenarios: tuple[str, ...],
    strategies: tuple[str, ...],
    relations: tuple[str, ...],
    data: str | None,
    expression: str | None,
    budget: str | None,
    jobs: str | None,
    max_flips: tuple[str, ...],
    folder: str | None,
    kept: str | None,
    baseline: str | None,
) -> int:
    """Change scenarios in ways that must not change an answer, and count the answers that flip.

    No gold answer is needed to see a flip. SCENARIO and the strategies are given as for
    `memsim run`. The exit code is 1 if more flips than --max-flips, and 7 if a case was not
    measured, or a relation that --relation or a bound names, or if nothing could be compared with
    --baseline.
    """
    from memsim.gate.flip_baseline import flip_changes, read_flips, save_flips
    from memsim.report.flips import flip_counts, flip_table, worst_pairs
    from memsim.suite.twist_play import check_relations, plan_twists, twisted_questions

    names = check_relations(relations)
    _check_places(kept, folder)
    project = find_project()
    bounds = flip_bounds(project, max_flips, os.environ)
    bound = check_relations(filter(None, bounds)) if any(bounds) else ()
    before = None if baseline is None else read_flips(Path(baseline))
    specs, workers = _planned(scenarios, strategies, data, expression, budget, jobs)
    plan = plan_twists(specs, names)
    outcomes, unmeasured = _played(plan, workers)
    pairs = [*twisted_questions(plan, outcomes)]
    if not pairs:
        why = "" if unmeasured else f": {', '.join(names)} had nothing to change"
        complain(f"no question was measured in both ways{why}")
        return ExitCode.UNMEASURABLE
    counts = flip_counts(pairs)
    terminal = Terminal.of_process()
    about = {name: RELATIONS[name].about for name in names}
    lines = [*terminal_table(flip_table(counts, about), terminal.width).lines]
    lines += _shown(worst_pairs(pairs, _WORST))
    if folder is not None:
        lines += _shrunk(plan, pairs, Path(folder))
    idle = [name for name in names if name not in {count.relation for count in counts}]
    changes = [] if before is None else [*flip_changes(before, pairs)]
    lines += _changed(changes, baseline)
    terminal.say_lines([*lines, *_legend(names, idle), _verdict(counts, bounds, len(idle))])
    if kept is not None and not unmeasured:
        save_flips(Path(kept), pairs)
    uncompared = before is not None and not changes
    if unmeasured or uncompared or (idle and relations) or not {*idle}.isdisjoint(bound):
        # Who names a relation wants it measured; of all of them, some change nothing here.
        return ExitCode.UNMEASURABLE
    worse = any(change.verdict == "worse" for change in changes)
    return ExitCode.FAILED if worse or _too_many(counts, bounds) else ExitCode.PASSED


def _check_places(kept: str | None, folder: str | None) -> None:
    """Refuse, before anything is played, where nothing can be written, or files would be lost."""
    if kept is not None and not Path(kept).absolute().parent.is_dir():
        raise ConfigError(f"--save: no folder {Path(kept).parent}")
    if folder is not None and Path(folder).is_dir() and any(Path(folder).iterdir()):
        raise ConfigError(f"--shrink: {folder} is not empty; name a new folder")


def _changed(changes: Sequence[FlipChange], baseline: str | None) -> Iterator[TextLine]:
    """What flips more or less than it did, and how much is compared at all."""
    if baseline is None:
        return
    yield TextLine(text="")
    yield TextLine(text=f"against {baseline}: {len(changes)} relations compared", tone="head")
    for change in changes:
        if change.verdict != "same":
            shares = f"{change.before:.3f} -> {change.now:.3f}"
            spread = ""
            if change.low is not None and change.high is not None:
                spread = f"  [{change.low:+.3f} {change.high:+.3f}]"
            yield TextLine(text=f"  {change.verdict}  {change.name}  {shares}{spread}")


def _planned(
    scenarios: tuple[str, ...],
    strategies: tuple[str, ...],
    data: str | None,
    expression: str | None,
    budget: str | None,
    jobs: str | None,
) -> tuple[tuple[CaseSpec, ...], int | str]:
    """The cases, and what plays them."""
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
    plan = planned.plan
    return tuple(replace(case, bounds=()) for case in plan.cases), plan.settings.jobs


def _played(plan: TwistPlan, jobs: int | str) -> tuple[dict[CaseSpec, CaseOutcome], bool]:
    """The outcomes by case, and whether a case was not measured."""
    from memsim.executors import choose_executor
    from memsim.heap import rare_garbage_collection
    from memsim.suite.play import run_case

    specs = plan.specs
    executor = choose_executor(jobs, len(specs), sum(spec.turns for spec in specs))
    found: dict[CaseSpec, CaseOutcome] = {}
    unmeasured = False
    with (
        SUPERVISION.played_by(jobs),
        rare_garbage_collection(),
        closing(executor.run(specs, run_case)) as outcomes,
    ):
        for place, outcome in outcomes:
            if outcome.result.state != "scored":
                complain(f"{specs[place].key}: {outcome.result.error}")
                unmeasured = True
            found[specs[place]] = outcome
    return found, unmeasured


def _shown(pairs: Iterator[TwistedQuestion]) -> Iterator[TextLine]:
    found = [*pairs]
    if not found:
        return
    yield TextLine(text="")
    yield TextLine(text="answers that flipped", tone="head")
    for pair in found:
        question = f"{pair.scenario}::{pair.plain['probe']}"
        yield TextLine(text=f"  {pair.relation}  {pair.strategy}  {question}  ({pair.answer})")
        for head, probe in (("plain", pair.plain), ("then", pair.twisted)):
            answer = " ".join(str(probe["answer"]).split())
            yield TextLine(text=f"    {head:5}  {probe['ask']}  ->  {answer}")


def _shrunk(plan: TwistPlan, pairs: Sequence[TwistedQuestion], folder: Path) -> Iterator[TextLine]:
    """Write the shrunk conversation of each relation's worst answer, and tell where."""
    from memsim.report.flips import worst_pairs
    from memsim.suite.twist_play import case_of
    from memsim.suite.twist_shrink import plain_name, shrink, write_shrunk

    yield TextLine(text="")
    yield TextLine(text="shrunk conversations", tone="head")
    for name in dict.fromkeys(pair.relation for pair in pairs):
        worst = next(worst_pairs((p for p in pairs if p.relation == name), 1), None)
        if worst is None:
            continue
        probe = str(worst.plain["probe"])
        found = shrink(case_of(plan, worst), worst)
        if found is None:
            yield TextLine(text=f"  {name}: {probe} does not flip in a file of its own")
            continue
        path = write_shrunk(folder, f"{name}_{plain_name(probe)}", found)
        yield TextLine(text=f"  {name}: {path}  {found.turns} of {found.before} turns")


def _legend(names: Sequence[str], idle: Sequence[str]) -> Iterator[TextLine]:
    yield TextLine(text="")
    yield TextLine(text="  flips: share of the questions whose answer became right or wrong")
    for expected, only in (("no worse", "lost"), ("no better", "gained")):
        found = [name for name in names if RELATIONS[name].expected == expected]
        if found:
            yield TextLine(text=f"  only a {only} answer is a flip: {', '.join(found)}")
    if idle:
        yield TextLine(text=f"  unmeasured, with nothing to change here: {', '.join(idle)}")


def _too_many(counts: Sequence[FlipCount], bounds: Mapping[str, float]) -> list[FlipCount]:
    return [count for count in counts if count.share > _bound(count, bounds)]


def _bound(count: FlipCount, bounds: Mapping[str, float]) -> float:
    """What a relation may flip; 1 where nothing is said."""
    return bounds.get(count.relation, bounds.get("", 1.0))


def _verdict(counts: Sequence[FlipCount], bounds: Mapping[str, float], idle: int) -> TextLine:
    asked = number_format.plural(sum(count.n for count in counts), "pair of questions", "pairs")
    flips = sum(count.flips for count in counts)
    said = f"{flips} of {asked} flipped"
    if idle:
        said += f"; {number_format.plural(idle, 'relation')} unmeasured"
    failed = _too_many(counts, bounds)
    if failed:
        worst = max(failed, key=lambda count: count.share - _bound(count, bounds))
        most = _bound(worst, bounds)
        said += f"; {worst.relation} flips {worst.share:.1%}, more than {most:.1%}"
    return TextLine(text=said, tone="bad" if failed else "")
