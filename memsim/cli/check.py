"""`memsim check`: property-test strategies and memory parts against the catalogue of invariants."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from memsim.cli.own_processes import (
    ISOLATED,
    allowed,
    guarded_paths,
    trial_of,
    wants_process,
)
from memsim.cli.progress import ProgressChoice, ProgressStep, Watcher, show_progress
from memsim.cli.run_options import PROGRESS, format_option
from memsim.cli.run_output import Stopwatch
from memsim.cli.saved_runs import settings_of
from memsim.cli.terminal import ColorChoice, Terminal, complain
from memsim.discovery.catalogue import find_strategies
from memsim.discovery.loader import resolve
from memsim.discovery.project import find_project
from memsim.errors import ExitCode, MemsimError, Unmeasurable, UsageError

if TYPE_CHECKING:
    from memsim.config import Settings
    from memsim.discovery.project import Project
    from memsim.testing.checks import CheckPlan, CheckReport
    from memsim.testing.counterexamples import Counterexamples
    from memsim.testing.lockstep import LockstepResult

FOLDER = "checks"
"""The folder of counterexamples, inside the reports folder."""


@click.command(
    "check",
    epilog="""\b
Examples:
  memsim check strategies/mine.py@Mine memory -k 'structure or budget' --profile ci
  memsim check --noninterference layered:acl=on""",
)
@click.argument("strategies", nargs=-1, metavar="[STRATEGY]...")
@click.option(
    "-k", "expression", metavar="EXPR", help="Only these invariants, by number, name or family."
)
@click.option(
    "--profile",
    type=click.Choice(["commit", "ci", "nightly"]),
    default="commit",
    show_default=True,
    help="Effort: 50 cases of about 30 messages, 500 of 50, or 20,000 of 100.",
)
@click.option("--seed", metavar="N", help="Seed of the cases.  [default: the project's, or 7]")
@click.option(
    "--noninterference",
    "in_lockstep",
    is_flag=True,
    help="Compare pairs of worlds that differ only in what others say; show the first leak.",
)
@ISOLATED
@click.option("-j", "--jobs", metavar="N", help="Number of processes; 0 means as many as useful.")
@format_option("table", "json")
@click.option("-o", "--output", metavar="DIR", help="Folder for counterexamples.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Also print what was not measured, and full coverage."
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
@PROGRESS
def command(
    strategies: tuple[str, ...],
    expression: str | None,
    profile: str,
    seed: str | None,
    in_lockstep: bool,
    isolated: bool | None,
    jobs: str | None,
    form: Literal["table", "json"],
    output: str | None,
    verbose: bool,
    color: ColorChoice,
    progress: ProgressChoice,
) -> int:
    """Property-test the invariants of memory; no model is called.

    STRATEGY is a name, with or without parameters, or a file. `memory` stands for the parts of
    memsim's own memories. Without STRATEGY, everything is checked. A counterexample is saved as a
    program that runs by itself; the next check tries it first.
    """
    _need_hypothesis()
    project = find_project()
    settings = settings_of(project, {"seed": seed, "jobs": jobs})
    if isinstance(settings.jobs, str):
        raise UsageError(f"-j {settings.jobs}: memsim check plays on this machine, as with -j 4")
    if in_lockstep:
        if expression:
            raise UsageError("--noninterference cannot be combined with -k: remove -k")
        subjects = _apart(strategies, project, isolated)
        guarded = _guarded(subjects, isolated, project, settings, output)
        terminal = Terminal.of_process(color)
        with show_progress(progress, terminal, done=0, total=len(guarded), unit="check") as watcher:
            found = _pairs(guarded, profile, settings.seed, watcher)
        return _told_pairs(found, form, terminal)
    folder = Path(output) if output else project.base / settings.reports / FOLDER
    plans, kept = _planned(strategies, expression, profile, settings, project, folder, isolated)
    subjects = [plan.subject for plan in plans]
    guarded = _guarded(subjects, isolated, project, settings, output)
    plans = [replace(plan, guarded=guarded[plan.subject]) for plan in plans]
    terminal = Terminal.of_process(color)
    with show_progress(progress, terminal, done=0, total=len(plans), unit="check") as watcher:
        reports = _performed(plans, settings.jobs, watcher)
    return _told(reports, kept, plans[0], form, terminal, verbose=verbose)


def _guarded(
    subjects: Sequence[str],
    choice: bool | None,
    project: Project,
    settings: Settings,
    output: str | None,
) -> dict[str, tuple[Path, ...] | None]:
    """What each subject has to keep off in a process of its own; None where it gets none."""
    from memsim.testing.invariant_catalogue import PARTS

    refs = {s: resolve(s, project) for s in subjects if s != PARTS}
    choice = allowed(choice, wanted=any(wants_process(ref, choice) for ref in refs.values()))
    paths = tuple(guarded_paths(project, settings, output))
    apart = {s for s, ref in refs.items() if wants_process(ref, choice)}
    return {s: paths if s in apart else None for s in subjects}


def _apart(
    strategies: Sequence[str],
    project: Project,
    choice: bool | None,
) -> list[str]:
    from memsim.testing.invariant_catalogue import PARTS

    if not strategies or PARTS in strategies:
        raise UsageError("--noninterference needs at least one strategy: name one")
    return _subjects(strategies, project, choice)


def _pairs(
    subjects: Mapping[str, tuple[Path, ...] | None],
    profile: str,
    seed: int,
    watcher: Watcher,
) -> list[LockstepResult]:
    """Play pairs of worlds of each subject."""
    from memsim.testing.checks import PROFILES
    from memsim.testing.isolated_subject import breach, isolated_subject
    from memsim.testing.lockstep import look
    from memsim.testing.subjects import subject_of

    found = []
    for subject, guarded in subjects.items():
        watch = Stopwatch()
        watcher.begin(subject)
        if guarded is None:
            one = look(subject_of(subject), PROFILES[profile], seed, watcher.tick)
        else:
            with isolated_subject(subject, guarded) as apart:
                one = look(apart, PROFILES[profile], seed, watcher.tick)
            one = replace(one, parting=None, why=f"invalid: {breach()}") if breach() else one
        found.append(one)
        told = "they differ" if one.parting else one.why or "no difference"
        bad = bool(one.parting or one.why)
        watcher.end(ProgressStep(id=subject, result=told, seconds=watch.seconds, failed=bad))
    return found


def _told_pairs(
    found: Sequence[LockstepResult], form: Literal["table", "json"], terminal: Terminal
) -> int:
    from memsim.testing.check_report import pair_lines, pairs_as_json, pairs_exit_code

    code = pairs_exit_code(found)
    if form == "json":
        terminal.say(pairs_as_json(found, int(code)))
    else:
        terminal.say_lines(list(pair_lines(found)))
    return code


def _need_hypothesis() -> None:
    if importlib.util.find_spec("hypothesis") is None:
        raise UsageError("memsim check needs Hypothesis: pip install 'memsim[check]'")


def _planned(
    strategies: Sequence[str],
    expression: str | None,
    profile: str,
    settings: Settings,
    project: Project,
    folder: Path,
    isolated: bool | None,
) -> tuple[list[CheckPlan], Counterexamples]:
    from hypothesis.configuration import set_hypothesis_home_dir

    from memsim.testing.checks import PROFILES, CheckPlan, chosen
    from memsim.testing.counterexamples import Counterexamples

    set_hypothesis_home_dir(folder / ".hypothesis")
    kept = Counterexamples(folder)
    names = tuple(i.name for i in chosen(expression or ""))
    plans = [
        CheckPlan(
            subject=subject,
            names=names,
            profile=PROFILES[profile],
            seed=settings.seed,
            counterexamples=kept.of(subject, names),
        )
        for subject in _subjects(strategies, project, isolated)
    ]
    return plans, kept


def _subjects(
    strategies: Sequence[str],
    project: Project,
    choice: bool | None,
) -> list[str]:
    from memsim.testing.invariant_catalogue import PARTS

    if not strategies:
        known = (s for s in find_strategies(project) if not s.problem)
        # One that needs a parameter, such as an address, is checked where it is named.
        found = [s.name for s in known if all(p.default is not None for p in s.params)]
        return [*dict.fromkeys(found), PARTS]
    subjects = list(dict.fromkeys(map(_named, strategies)))
    for subject in subjects:
        if subject != PARTS:
            trial_of(choice)(resolve(subject, project), project)
    return subjects


def _named(text: str) -> str:
    # A shell completes a file name without its ending.
    bare, colon, params = text.partition(":")
    if "/" in bare and not bare.endswith(".py") and Path(f"{bare}.py").is_file():
        return f"{bare}.py{colon}{params}"
    return text


def _performed(plans: Sequence[CheckPlan], jobs: int, watcher: Watcher) -> list[CheckReport]:
    from memsim.executors import available_processors

    workers = jobs or available_processors()
    if workers == 1 or len(plans) == 1:
        return [_performed_here(plan, watcher, beside=workers > 1) for plan in plans]
    return _in_processes(plans, min(workers, len(plans)), watcher)


def _performed_here(plan: CheckPlan, watcher: Watcher, *, beside: bool) -> CheckReport:
    watcher.begin(plan.subject)
    report, seconds = _timed(plan, watcher.tick, beside=beside)
    watcher.end(_step(report, seconds))
    return report


def _timed(
    plan: CheckPlan, tick: Callable[[float], None] = lambda _share: None, *, beside: bool = False
) -> tuple[CheckReport, float]:
    from memsim.testing.check_halves import perform_halves

    watch = Stopwatch()
    return perform_halves(plan, tick, beside=beside), watch.seconds


def _in_processes(plans: Sequence[CheckPlan], workers: int, watcher: Watcher) -> list[CheckReport]:
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    from memsim.testing.check_halves import new_processes

    with new_processes(workers) as pool:
        futures = {pool.submit(_timed, plan): plan for plan in plans}
        for future in as_completed(futures):
            try:
                watcher.end(_step(*future.result()))
            except BrokenProcessPool as error:
                raise Unmeasurable(
                    f"{futures[future].subject}: the process that checked it ended unexpectedly"
                ) from error
    return [future.result()[0] for future in futures]


def _step(report: CheckReport, seconds: float) -> ProgressStep:
    """The progress line of a checked subject."""
    verdicts = Counter(result.verdict for result in report.results)
    told = ", ".join(_counted(verdict, n) for verdict, n in verdicts.items())
    bad = bool(verdicts["violated"] or verdicts["invalid"] or report.thin)
    return ProgressStep(id=report.subject, result=told, seconds=seconds, failed=bad)


def _counted(verdict: str, number: int) -> str:
    return f"{number} {'hold' if verdict == 'holds' and number > 1 else verdict}"


def _told(
    reports: list[CheckReport],
    kept: Counterexamples,
    plan: CheckPlan,
    form: Literal["table", "json"],
    terminal: Terminal,
    *,
    verbose: bool,
) -> int:
    from memsim.testing.check_report import as_json, lines
    from memsim.testing.checks import failed

    paths: dict[tuple[str, str], Path] = {}
    for report in reports:
        for result in report.results:
            try:
                path = kept.keep(result)
            except MemsimError as error:
                complain(str(error))
                continue
            if path is not None:
                paths[report.subject, result.invariant] = path
    code = ExitCode.FAILED if failed(reports) else ExitCode.PASSED
    if any(result.verdict == "invalid" for report in reports for result in report.results):
        code = ExitCode.UNMEASURABLE
    if form == "json":
        terminal.say(as_json(reports, plan, paths, int(code)))
    else:
        terminal.say_lines(lines(reports, plan, paths, terminal.width, verbose=verbose))
    return code
