"""`memsim compare`: compare two saved runs, or a run and a baseline, with the same gate."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

import click

from memsim.cli.run_options import (
    COLOR,
    GENERALISE,
    QUIET,
    STRICT,
    ConfigCommand,
    format_option,
)
from memsim.cli.saved_runs import settings_of
from memsim.cli.terminal import ColorChoice, Terminal
from memsim.discovery.project import find_project
from memsim.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memsim.cli.saved_runs import ComparisonSide
    from memsim.config import Settings
    from memsim.gate import Verdict
    from memsim.gate.comparison import Comparison
    from memsim.gate.metric_comparison import ComparisonRules

Form = Literal["table", "md", "json"]


@click.command(
    "compare",
    cls=ConfigCommand,
    epilog="""\b
Examples:
  memsim compare 20260923T1042 20260924T0911 --same-machine --strict
  memsim compare --pool monday,tuesday,wednesday thursday,friday,saturday""",
)
@click.argument("base", metavar="[BASE]", default="")
@click.argument("run", metavar="[RUN]", default="latest")
@STRICT
@GENERALISE
@click.option(
    "--pool",
    is_flag=True,
    help="BASE and RUN may be several runs of other seeds or days: a,b,c, or a folder of runs.",
)
@click.option(
    "--same-machine",
    is_flag=True,
    help="Both runs were made by one job: also gate seconds and dollars.",
)
@format_option("table", "md", "json")
@QUIET
@COLOR
def command(
    base: str,
    run: str,
    strict: bool,
    generalise: bool,
    pool: bool,
    same_machine: bool,
    form: Form,
    quiet: bool,
    color: ColorChoice,
) -> int:
    """Compare a saved run with a baseline or another run, probe by probe.

    BASE is the name or file of a baseline, or a run. It defaults to the configured baseline, else
    main. RUN is latest (the default), the beginning of a run's id, a run's folder, or a baseline.
    No model is called and no scenario is read. The exit code is that of the gate.
    """
    from memsim.cli.saved_runs import read_pool, read_side
    from memsim.gate.baseline_file import DEFAULT

    project = find_project()
    settings = settings_of(project)
    reports = project.base / settings.reports
    read = read_pool if pool else read_side
    before = read(base or settings.baseline or DEFAULT, reports)
    after = read(run, reports)
    found, verdict = compare_sides(
        before, after, settings, strict=strict, generalise=generalise, same_machine=same_machine
    )
    _show(found, verdict, form, Terminal.of_process(color), quiet=quiet, run=run)
    return verdict.exit_code


def compare_sides(
    before: ComparisonSide,
    after: ComparisonSide,
    settings: Settings,
    *,
    strict: bool = False,
    generalise: bool = False,
    same_machine: bool = False,
) -> tuple[Comparison, Verdict]:
    """Compare two runs or baselines by the rules of the settings, and judge the later one."""
    from memsim.gate import rule
    from memsim.gate.metric_comparison import compare

    rules = _rules(settings, (before, after), generalise=generalise, same_machine=same_machine)
    found = compare(before.sheet, after.sheet, rules)
    return found, rule(_alone(after, settings), found, strict=strict)


def _rules(
    settings: Settings,
    sides: tuple[ComparisonSide, ComparisonSide],
    *,
    generalise: bool,
    same_machine: bool,
) -> ComparisonRules:
    from dataclasses import replace

    from memsim.gate.metric_comparison import ComparisonRules
    from memsim.gate.score_sheet import SECONDS

    gate = settings.gate
    if same_machine:
        if any(side.pool for side in sides):
            raise UsageError("--same-machine compares two runs of one job: not with --pool")
        files = [side.sheet.name for side in sides if side.run is None]
        if files:
            message = f"--same-machine needs two runs, but {files[0]} is a baseline file"
            raise UsageError(message)
        gate = replace(gate, metrics=tuple(dict.fromkeys((*gate.metrics, SECONDS, "cost"))))
    return ComparisonRules(gate=gate, generalise=generalise, same_machine=same_machine)


def _alone(side: ComparisonSide, settings: Settings) -> Verdict:
    from memsim.gate import Verdict, judge

    if side.pool:
        found = [_alone(part, settings) for part in side.pool]
        # A broken bound wins over what could not be measured, and both over what passed.
        ranks = {ExitCode.FAILED: 0, ExitCode.PASSED: 2}
        worst = min(found, key=lambda verdict: ranks.get(ExitCode(verdict.exit_code), 1))
        said = f"{len(found)} parts, the worst: {worst.sentence}"
        return Verdict(exit_code=worst.exit_code, sentence=said)
    if side.run is None:
        return Verdict(exit_code=ExitCode.PASSED, sentence=side.sheet.name)
    tolerated = side.run.table("settings").get("max_errors", settings.max_errors)
    return judge(side.run.cases, max_errors=float(tolerated))


def _show(
    found: Comparison, verdict: Verdict, form: Form, terminal: Terminal, *, quiet: bool, run: str
) -> None:
    from memsim.report.comparison_text import comparison_lines, comparison_markdown
    from memsim.report.layout import TextLine

    if form == "json":
        said = {"verdict": asdict(verdict), "counts": dict(found.counts), **asdict(found)}
        terminal.say(json.dumps(said, indent=2, ensure_ascii=True, allow_nan=False))
        return
    if form == "md":
        terminal.say("\n".join([f"**{verdict.sentence}**", *comparison_markdown(found)]))
        return
    lines = [] if quiet else comparison_lines(found, terminal.marks, terminal.width, run=run)
    closing = TextLine(text=verdict.sentence, tone="bad" if verdict.exit_code else "good")
    terminal.say_lines([*lines, closing])
