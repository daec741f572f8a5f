"""`memsim baseline`: save a run as the baseline that later runs are compared with."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memsim.cli.program import VerbGroup
from memsim.cli.run_options import format_option
from memsim.cli.saved_runs import settings_of
from memsim.cli.supervisor import SUPERVISION
from memsim.cli.terminal import Terminal, complain
from memsim.discovery.project import find_project
from memsim.errors import BaselineError, MemsimError
from memsim.json_input import is_regular, read_json

if TYPE_CHECKING:
    from memsim.discovery.project import Project
    from memsim.gate.score_sheet import ScoreSheet
    from memsim.report.layout import TextLine
    from memsim.runs import Run


@click.group(
    "baseline",
    cls=VerbGroup,
    epilog="""\b
Examples:
  memsim baseline save
  memsim baseline show main""",
)
def command() -> None:
    """Save runs as baselines in reports/baselines, and show them; commit the files."""


@command.command(
    epilog="""\b
Examples:
  memsim baseline save
  memsim baseline save 20260923T1042 --name nightly --aa 3""",
)
@click.argument("run", metavar="[RUN]", default="latest")
@click.option(
    "--name", metavar="NAME", default="main", help="Name of the baseline.  [default: main]"
)
@click.option(
    "--aa",
    "again",
    metavar="N",
    type=click.IntRange(0, 100),
    default=0,
    help="Play the run N more times with other seeds, to measure the noise of its metrics.",
)
def save(run: str, name: str, again: int) -> None:
    """Save a run as a baseline.

    RUN is latest (the default), the beginning of a run's id, or a path. A run is refused if its
    tree had uncommitted changes, if it failed or could not be measured, or if a model that answers
    by chance was repeated fewer than three times.
    """
    from memsim.gate.baseline_file import baseline_path, is_path, refuse_unfit, write_baseline
    from memsim.gate.score_sheet import sheet_of_run
    from memsim.runs import load_run

    project = find_project()
    reports = project.base / settings_of(project).reports
    if is_path(name):
        raise BaselineError(f"--name must be a name such as main, not the path {name!r}")
    path = baseline_path(name, reports)
    saved = load_run(run, reports)
    refuse_unfit(saved)
    sheet = sheet_of_run(saved)
    if again:
        sheet = replace(sheet, noise=_noise(saved, sheet, project, again))
    known = is_regular(path)
    write_baseline(path, sheet)
    terminal = Terminal.of_process()
    probes = sum(len(column.probes) for column in sheet.columns.values())
    said = "replaced" if known else "saved"
    terminal.say(f"{said} {project.show(path)}: {probes:,} probes of run {saved.id}; commit it")


def _noise(
    saved: Run, sheet: ScoreSheet, project: Project, again: int
) -> dict[str, dict[str, float]]:
    from memsim.gate.metric_comparison import noise_between
    from memsim.gate.score_sheet import sheet_of_run

    sheets = [sheet]
    with tempfile.TemporaryDirectory(prefix="memsim-aa-") as folder:
        for number in range(1, again + 1):
            seed = sheet.seed + number
            complain(f"playing again with seed {seed}: {number} of {again}")
            run = _replayed(saved, project, seed=seed, folder=Path(folder) / str(number))
            sheets.append(sheet_of_run(run))
    _check_alike(sheets)
    return noise_between(sheets)


def _check_alike(sheets: list[ScoreSheet]) -> None:
    for sheet in sheets[1:]:
        for part in ("instruments", "scenarios", "strategies"):
            if getattr(sheet, part) != getattr(sheets[0], part):
                message = f"--aa: the {part} have changed since run {sheets[0].name}: run it again"
                raise BaselineError(message)


def _replayed(saved: Run, project: Project, *, seed: int, folder: Path) -> Run:
    from memsim.cli.run_plan import RunRequest, plan_run
    from memsim.executors import choose_executor
    from memsim.gate import judge
    from memsim.runs import load_run, open_run, perform

    said: Any = saved.info.get("settings")
    kept = ("model", "embedder", "tokenizer", "repeat")
    settings = {key: said[key] for key in kept} | {"seed": seed}
    cases = dict.fromkeys(case.id for case in saved.cases if not case.control)
    try:
        plan = plan_run(RunRequest(selectors=tuple(cases), settings=settings), project).plan
    except MemsimError as error:
        raise BaselineError(f"--aa: run {saved.id} cannot be played again: {error}") from error
    turns = sum(spec.scenario.load().turns for spec in plan.cases)
    jobs = plan.settings.jobs
    executor = choose_executor(jobs, cases=len(plan.cases), turns=turns)
    with open_run(plan, folder.parent, out=folder, resume=False) as writer:
        with SUPERVISION.played_by(jobs):
            results = perform(plan, writer, executor)
        verdict = judge(results)
        writer.finish(verdict.exit_code, verdict.sentence)
    return load_run(folder, folder.parent)


@command.command(
    "list",
    epilog="""\b
Example:
  memsim baseline list""",
)
def list_() -> None:
    """List the baselines, with the commit and date of each."""
    from memsim.gate.baseline_file import list_baselines, read_baseline
    from memsim.report.layout import Column, Row, Table, TextLine, terminal_table

    project = find_project()
    reports = project.base / settings_of(project).reports
    terminal = Terminal.of_process()
    rows: list[Row] = []
    for path in list_baselines(reports):
        try:
            rows.append((_row(read_baseline(path)), ""))
        except BaselineError as error:
            rows.append(((path.stem, "", "", "", error.message), "bad"))
    heads = ("baseline", "made", "strategies", "probes", "")
    columns = [Column(head, right=head in {"strategies", "probes"}) for head in heads]
    nothing = [TextLine(text="there is no baseline: memsim baseline save", tone="dim")]
    laid = terminal_table(Table(columns, rows), terminal.width, indent="").lines
    terminal.say_lines([*laid] if rows else nothing)


def _row(sheet: ScoreSheet) -> tuple[str, ...]:
    made = " ".join(part for part in (sheet.created[:10], sheet.commit[:7]) if part)
    probes = sum(len(column.probes) for column in sheet.columns.values())
    noise = "with noise floor" if sheet.noise else ""
    return sheet.name, made, str(len(sheet.columns)), f"{probes:,}", noise


@command.command(
    epilog="""\b
Examples:
  memsim baseline show
  memsim baseline show main --format json""",
)
@click.argument("name", metavar="[NAME]", default="main")
@format_option("table", "json")
def show(name: str, form: str) -> None:
    """Show the mean scores of a baseline by strategy, and its settings."""
    from memsim.gate.baseline_file import find_baseline, read_baseline

    project = find_project()
    reports = project.base / settings_of(project).reports
    path = find_baseline(name, reports)
    sheet = read_baseline(path)
    terminal = Terminal.of_process()
    if form == "json":
        terminal.say(json.dumps(read_json(path, BaselineError), indent=2))
        return
    terminal.say_lines(list(_shown(sheet, terminal)))


def _shown(sheet: ScoreSheet, terminal: Terminal) -> Iterator[TextLine]:
    from memsim.gate.metric_comparison import variant
    from memsim.report.layout import Column, Row, Table, TextLine, terminal_table

    measured = ", ".join(f"{kind} {name}" for kind, name in sorted(sheet.instruments.items()))
    yield TextLine(text=" ".join(part for part in _row(sheet)[:2] if part), tone="head")
    yield TextLine(text=f"  {measured}, seed {sheet.seed}, repeat {sheet.repeat}", tone="dim")
    yield TextLine(text="")
    heads = ("strategy", "scenarios", "probes", "recall", "context_peak", "noise in recall")
    rows: list[Row] = []
    for cell, column in sheet.columns.items():
        name = variant(cell)
        floor = sheet.noise.get(name, {}).get("recall")
        recalls = [v for s in column.probes.values() if (v := s.mean("recall")) is not None]
        peaks = [v for a in column.amounts.values() for v in a.get("context_peak", ())]
        cells = (
            name,
            str(len(column.amounts)),
            str(len(column.probes)),
            f"{sum(recalls) / len(recalls):.2f}" if recalls else "n/a",
            f"{max(peaks):,.0f}" if peaks else "n/a",
            "" if floor is None else f"{floor:.3f}",
        )
        rows.append((cells, ""))
    columns = [Column(head, right=head != "strategy") for head in heads]
    yield from terminal_table(Table(columns, rows), terminal.width).lines
