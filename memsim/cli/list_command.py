"""`memsim list`: list scenarios, strategies, metrics, runs, datasets and trace formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memsim.cli.saved_runs import reports_folder
from memsim.cli.terminal import Terminal
from memsim.discovery.catalogue import find_strategies
from memsim.discovery.project import Project, builtin_folder, find_project
from memsim.discovery.strategy_source import StrategySource
from memsim.errors import RunFolderError, ScenarioError
from memsim.json_input import is_folder
from memsim.report import number_format
from memsim.report.layout import Column, Row, Table, TextLine, terminal_table
from memsim.scenario.script_files import check_one_line

if TYPE_CHECKING:
    from memsim.runs import Run
    from memsim.scenario.datasets import Dataset
    from memsim.scenario.outline import Outline

_USUAL = ("scenarios", "strategies", "datasets")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListView:
    """What is listed, and in how much detail."""

    project: Project
    terminal: Terminal
    detailed: bool
    everything: bool

    def table(self, columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[TextLine]:
        """Rows under column heads, or the line `none`."""
        if rows:
            yield from terminal_table(Table(columns, rows), self.terminal.width).lines
        else:
            yield TextLine(text="  none", tone="dim")


@click.command(
    "list",
    epilog="""\b
Examples:
  memsim list
  memsim list strategies""",
)
@click.argument(
    "kind",
    required=False,
    type=click.Choice(["scenarios", "strategies", "metrics", "runs", "datasets", "formats"]),
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also list parameters, and the tests of reproduced systems.",
)
def command(kind: str | None, verbose: bool) -> None:
    """List scenarios, strategies, metrics, runs, datasets or formats of recorded conversations.

    Without an argument, scenarios, strategies and datasets are listed. No strategy file is
    executed.
    """
    terminal = Terminal.of_process()
    view = ListView(
        project=find_project(),
        terminal=terminal,
        detailed=verbose or kind is not None,
        everything=verbose,
    )
    for place, name in enumerate([kind] if kind else _USUAL):
        if place:
            terminal.say()
        heading = TextLine(text=name, tone="head")
        terminal.say_lines([heading, *_SECTIONS[name](view)])


def _scenarios(view: ListView) -> Iterator[TextLine]:
    rows: list[Row] = []
    problems: list[str] = []
    for path, found, origin in _found_scenarios(view.project):
        shown = view.project.show(path)
        try:
            check_one_line(shown)
        except ScenarioError as error:
            problems.append(str(error))
            continue
        if isinstance(found, ScenarioError):
            problems += _wrong(found, shown)
        else:
            rows.append((_scenario_cells(found, shown, origin), ""))
    columns = [
        Column("scenario", right=False),
        Column("turns"),
        Column("probes"),
        Column("from", right=False, rank=2),
        Column("about", right=False, rank=1, clip=True),
    ]
    yield from view.table(columns, rows)
    yield from _told(problems)


def _wrong(error: ScenarioError, shown: str) -> list[str]:
    return [str(each) for each in error.shown_as(lambda _: shown).every]


def _told(problems: Sequence[str]) -> Iterator[TextLine]:
    """What is wrong with files that offer nothing, in full."""
    for problem in problems:
        yield TextLine(text=f"  {problem}", tone="bad")


def _found_scenarios(project: Project) -> Iterator[tuple[Path, Outline | ScenarioError, str]]:
    from memsim.scenario.outline import outlines

    seen: set[Path] = set()
    own = [(project.root / "scenarios", "project")] if project.root else []
    for folder, origin in (*own, (builtin_folder("scenarios"), "built-in")):
        if is_folder(folder) and folder.resolve() not in seen:
            seen.add(folder.resolve())
            for path, found in outlines(folder):
                yield path, found, origin


def _scenario_cells(found: Outline, shown: str, origin: str) -> tuple[str, ...]:
    name = shown if found.name == Path(shown).stem else f"{shown}::{found.name}"
    return name, number_format.count(found.turns), str(found.probes), origin, found.about


_MARKS = (
    "Statements about published systems are marked:",
    "replayed  a scenario or a command reaches what does it",
    "API       only callers of the classes reach it, so no score depends on it",
)


def _strategies(view: ListView) -> Iterator[TextLine]:
    everything = find_strategies(view.project)
    strategies = [found for found in everything if not found.problem]
    rows: list[Row] = [(_strategy_cells(found), "") for found in strategies]
    columns = [
        Column("strategy", right=False),
        Column("from", right=False, rank=2),
        Column("about", right=False, rank=1, clip=True),
    ]
    if view.everything:
        yield from (TextLine(text=f"  {line}", tone="dim") for line in _MARKS)
    lines = list(view.table(columns, rows))
    yield lines[0]
    for found, line in zip(strategies, lines[1:], strict=bool(strategies)):
        yield line
        if view.detailed:
            yield from _parameters(found)
        if view.everything:
            yield from _fidelity(found)
    yield from _told([found.problem for found in everything if found.problem])


def _strategy_cells(found: StrategySource) -> tuple[str, ...]:
    where = f"{found.origin}, over the {found.shadows} one" if found.shadows else found.origin
    return found.name, where, found.doc


def _parameters(found: StrategySource) -> Iterator[TextLine]:
    given = [p.name if p.default is None else f"{p.name}={p.default}" for p in found.params]
    wide = max(map(len, given), default=0)
    for text, param in zip(given, found.params, strict=True):
        yield TextLine(text=f"      {text:<{wide}}  {param.doc or param.annotation}", tone="dim")


def _fidelity(found: StrategySource) -> Iterator[TextLine]:
    held = [row for row in found.fidelity if row.test]
    left = [row for row in found.fidelity if not row.test]
    if held:
        tests = f"tests/fidelity/test_{found.name}.py"
        yield TextLine(text=f"      {len(held)} statements, each held by a test of {tests}:")
    for row in held:
        yield TextLine(text=f"        {row.mark:<8}  {row.text} -> {row.test}", tone="dim")
    if left:
        yield TextLine(text=f"      {len(left)} statements that are not reproduced:")
    for row in left:
        yield TextLine(text=f"        {row.text}", tone="dim")


def _metrics(view: ListView) -> Iterator[TextLine]:
    from memsim.leakage.scores import LEAK_METRICS
    from memsim.scoring.metrics import JUDGED, METRICS

    known = {**METRICS, **JUDGED, **LEAK_METRICS}
    rows: list[Row] = [((name, m.unit, m.better, m.about), "") for name, m in known.items()]
    columns = [
        Column("metric", right=False),
        Column("in", right=False, rank=3),
        Column("better", right=False, rank=2),
        Column("what it is", right=False, rank=1, clip=True),
    ]
    yield from view.table(columns, rows)


def _runs(view: ListView) -> Iterator[TextLine]:
    from memsim.runs import list_runs, load_run

    reports = reports_folder(view.project)
    rows: list[Row] = []
    for folder in list_runs(reports):
        try:
            rows.append((_run_cells(load_run(folder, reports)), ""))
        except RunFolderError as error:
            rows.append(((folder.name, "", "", str(error)), "bad"))
    columns = [
        Column("run", right=False),
        Column("cases"),
        Column("exit"),
        Column("what came of it", right=False, rank=1, clip=True),
    ]
    yield from view.table(columns, rows)


def _run_cells(run: Run) -> tuple[str, ...]:
    info: Mapping[str, Any] = run.info
    planned = len(info.get("cases", ()))
    cases = f"{len(run.cases):,} of {planned:,}" if len(run.cases) < planned else f"{planned:,}"
    if not run.finished:
        return run.id, cases, "", "unfinished: the same command continues it"
    return run.id, cases, str(info.get("exit", "")), str(info.get("verdict", ""))


def _datasets(view: ListView) -> Iterator[TextLine]:
    from memsim.leakage.attempt import CHANNELS
    from memsim.scenario.datasets import DATASETS

    for name, dataset in sorted(DATASETS.items()):
        yield TextLine(text=f"  {name}   memsim run {name} --data PATH")
        if view.detailed:
            yield from _description(dataset)
    yield TextLine(text=f"  leakage   memsim run leakage -k L7   ({len(CHANNELS)} channels)")


def _description(dataset: Dataset) -> Iterator[TextLine]:
    described = {
        "measures": dataset.measures,
        "size": dataset.size,
        "licence": dataset.licence,
        "published": dataset.source,
        "reproduced": dataset.rows,
    }
    for head, text in described.items():
        yield TextLine(text=f"      {head:<10}  {text}", tone="dim")


def _formats(view: ListView) -> Iterator[TextLine]:
    from memsim.traces.exports import EXPORTS
    from memsim.traces.formats import trace_formats

    rows: list[Row] = [
        ((f.name, str(f.version), "yes" if f.name in EXPORTS else "", f.about), "")
        for f in trace_formats().values()
    ]
    columns = [
        Column("format", right=False),
        Column("version"),
        Column("export", right=False),
        Column("what writes it", right=False, rank=1, clip=True),
    ]
    yield from view.table(columns, rows)
    yield TextLine(text="  memsim import PATH -o scenarios/NAME   finds the format by the content")


_SECTIONS: Mapping[str, Callable[[ListView], Iterator[TextLine]]] = {
    "scenarios": _scenarios,
    "strategies": _strategies,
    "metrics": _metrics,
    "runs": _runs,
    "datasets": _datasets,
    "formats": _formats,
}
