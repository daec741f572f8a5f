"""`memsim run`: plan the cases, play and score them, save the run, print the result."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from memsim.cli.model_costs import (
    CostTally,
    check_live_flags,
    priced_lines,
    spent_line,
    with_provider_access,
)
from memsim.cli.own_processes import with_own_processes
from memsim.cli.progress import ProgressChoice, case_step, show_progress
from memsim.cli.run_options import (
    GroupedHelp,
    RunFlags,
    is_given,
    refuse_contradictions,
    run_options,
    settings_in,
)
from memsim.cli.run_output import Stopwatch
from memsim.cli.run_plan import RunRequest, plan_run
from memsim.cli.saved_runs import RunBaseline, read_baseline_sheet
from memsim.cli.supervisor import SUPERVISION
from memsim.cli.terminal import Terminal, complain
from memsim.discovery.project import find_project
from memsim.errors import CostLimitError, ExitCode
from memsim.models.model_access import NO_SPENDING, add_spending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.discovery.project import Project
    from memsim.report.run_summary import RunSummary
    from memsim.runs import Run, RunWriter
    from memsim.suite.case_plan import CasePlan
    from memsim.suite.cases import CaseResult


@click.command(
    "run",
    cls=GroupedHelp,
    epilog="""\b
Examples:
  memsim run
  memsim run support_desk -s bm25:k=8 -s my.py@Mine --budget 2k,4k --fail-under recall=0.8""",
)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@run_options
@click.pass_context
def command(ctx: click.Context, /, scenarios: tuple[str, ...], **flags: Unpack[RunFlags]) -> int:
    """Replay scenarios through strategies, score them, write a run folder.

    SCENARIO is a path, folder, glob, scenario name, dataset name (with --data) or case id such as
    'scenarios/support_desk.yaml::support_desk[bm25@4k]'. Without SCENARIO, the scenarios of the
    project are played, or memsim's own.
    """
    watch = Stopwatch()
    refuse_contradictions(ctx)
    terminal = Terminal.of_process(flags["color"])
    project = find_project()
    planned = plan_run(_intent(scenarios, flags), project)
    check_live_flags(ctx, planned.plan.settings)
    if is_given(ctx, "data"):
        _need_dataset(planned.plan, "--data")
    if is_given(ctx, "mask_bad_gold"):
        _need_dataset(planned.plan, "--mask-bad-gold")
    if is_given(ctx, "leak_attempts"):
        _need_dataset(planned.plan, "--leak-attempts")
    for remark in planned.remarks:
        complain(remark)
    against = _against(ctx, planned.plan, project, flags)
    if flags["dry_run"]:
        return _dry_run(planned.plan, terminal)
    own = with_own_processes(planned.plan, project, flags["isolated"], out=flags["output"])
    with with_provider_access(own) as plan:
        return _Performance(
            plan, project, terminal, flags, typed=ctx.obj.typed, watch=watch, against=against
        ).perform()


def _against(ctx: click.Context, plan: CasePlan, project: Project, flags: RunFlags) -> RunBaseline:
    settings = plan.settings
    against = RunBaseline(
        name=settings.baseline,
        sheet=read_baseline_sheet(settings, project, typed=is_given(ctx, "baseline")),
        strict=flags["strict"],
        required=flags["require_baseline"],
        generalise=flags["generalise"],
    )
    against.check(settings, len({case.scenario for case in plan.cases}))
    if against.name and against.sheet is None:
        saving = f"memsim baseline save --name {shlex.quote(against.name)}"
        complain(f"no baseline {against.name!r} yet; to make this run the first: {saving}")
    return against


def _intent(scenarios: tuple[str, ...], flags: RunFlags) -> RunRequest:
    settings = settings_in(flags)
    return RunRequest(
        selectors=scenarios,
        strategies=flags["strategies"],
        expression=flags["expression"],
        last_failed=flags["lf"],
        data=flags["data"],
        mask_bad_gold=flags["mask_bad_gold"],
        leak_attempts=flags["leak_attempts"],
        isolated=flags["isolated"],
        settings=settings,
    )


def _need_dataset(plan: CasePlan, flag: str) -> None:
    if not any(case.scenario.dataset for case in plan.cases):
        raise click.UsageError(f"{flag} needs a dataset such as locomo, but none is selected")


def _dry_run(plan: CasePlan, terminal: Terminal) -> int:
    from memsim.cli.run_plan import preview_lines

    terminal.say_lines([*preview_lines(plan, terminal), *priced_lines(plan)])
    return ExitCode.PASSED


class _Performance:
    """One run, from its first case to its exit code."""

    def __init__(
        self,
        plan: CasePlan,
        project: Project,
        terminal: Terminal,
        flags: RunFlags,
        *,
        typed: tuple[str, ...],
        watch: Stopwatch,
        against: RunBaseline,
    ) -> None:
        self._against = against
        self._plan = plan
        self._project = project
        self._terminal = terminal
        self._flags = flags
        self._typed = typed
        self._watch = watch
        self._spent = NO_SPENDING
        self._with_page = flags["html"] or flags["open_page"]
        self._page: Path | None = None

    def perform(self) -> int:
        from memsim.gate import judge
        from memsim.gate.comparison import write_comparison
        from memsim.runs import load_run, open_run

        settings = self._plan.settings
        out = self._flags["output"]
        writer = open_run(
            self._plan,
            self._project.base / settings.reports,
            out=SUPERVISION.folder or (Path(out) if out else None),
            resume=not self._flags["no_resume"],
            command=self._typed,
        )
        with writer:
            SUPERVISION.begun(writer.folder)
            self._announce(writer)
            try:
                results = self._play(writer)
            except KeyboardInterrupt:
                return self._interrupted(writer, "interrupted")
            except CostLimitError as reached:
                return self._interrupted(writer, f"stopped: {reached}")
            against = self._against
            comparison = against.compare(writer.folder, settings)
            alone = judge(results, max_errors=settings.max_errors)
            verdict = against.rule(alone, comparison)
            write_comparison(writer.folder, comparison)
            if not writer.finished:
                writer.finish(verdict.exit_code, verdict.sentence, against=against.name)
        run = load_run(writer.folder, self._project.base / settings.reports)
        summary = replace(self._summary(run), verdict=verdict)
        self._keep_report(run, summary)
        self._show(run, summary)
        self._tell_lost(results)
        self._tell_hosts(results)
        for strategy, notes in summary.header.notes:
            complain(f"{strategy}: {'; '.join(notes)}")
        self._tell_spent()
        self._open_page()
        return summary.verdict.exit_code

    def _announce(self, writer: RunWriter) -> None:
        from memsim.cli.run_output import header_lines
        from memsim.cli.run_plan import plan_line
        from memsim.report.summarise import header_of

        total, done = len(self._plan.cases), len(self._plan.cases) - len(writer.lacking)
        if SUPERVISION.lost:
            case, cause = [*SUPERVISION.lost.items()][-1]
            complain(f"lost {case}: the process that played it died ({cause}); the run goes on")
            return
        if writer.finished:
            complain(f"{self._place(writer.folder)} is finished: it is shown again")
        elif done:
            complain(f"{self._place(writer.folder)} is continued: {done} of {total} cases are done")
        if self._flags["form"] == "table" and not self._flags["quiet"]:
            header = header_of(self._plan.settings)
            planned = plan_line(self._plan, self._terminal.marks)
            self._terminal.say_lines(list(header_lines(header, self._terminal, planned=planned)))

    def _play(self, writer: RunWriter) -> tuple[CaseResult, ...]:
        from memsim.executors import InProcess, choose_executor
        from memsim.gate import fails, lacks
        from memsim.runs import perform
        from memsim.runs.judge_trial import with_judge_trial

        flags = self._flags
        plan, self._spent = with_judge_trial(self._plan, writer)
        left = [plan.cases[place] for place in writer.lacking]
        # An earlier process of this command showed these already; the latest loss is still to be.
        shown = frozenset([*SUPERVISION.lost][:-1])
        done = len(plan.cases) - len(left) + sum(spec.key in shown for spec in left)
        turns = sum(spec.scenario.load().turns for spec in left)
        choice: ProgressChoice = "none" if writer.finished or flags["quiet"] else flags["progress"]
        with show_progress(choice, self._terminal, done=done, total=len(plan.cases)) as watcher:

            def begin(key: str) -> None:
                SUPERVISION.plays(key)
                watcher.begin(key)

            here = InProcess(begin, SUPERVISION.lost)
            jobs = plan.settings.jobs
            chosen = choose_executor(
                jobs, cases=len(left), turns=turns, here=here, begin=watcher.begin
            )
            executor = CostTally(chosen)

            def watch(result: CaseResult) -> bool:
                bad = fails(result) or lacks(result)
                if result.key not in shown:
                    watcher.end(case_step(result, failed=bad))
                return bool(flags["stop_at_first"]) and bad

            try:
                return perform(plan, writer, executor, watch=watch)
            finally:
                self._spent = add_spending(self._spent, executor.spent)

    def _interrupted(self, writer: RunWriter, why: str) -> int:
        kept, total = writer.finished_cases, len(self._plan.cases)
        complain(f"{why}: {kept} of {total} cases are kept in {self._place(writer.folder)}")
        self._tell_spent()
        complain(f"to go on: {shlex.join(self._typed)}")
        return ExitCode.INTERRUPTED

    def _summary(self, run: Run) -> RunSummary:
        from memsim.report.summarise import EXAMPLES, summarise

        shown = None if self._flags["verbose"] else EXAMPLES
        summary = summarise(run, seconds=self._watch.seconds, examples=shown)
        name = "" if self._flags["no_report"] else "report.md"
        name = "report.html" if self._with_page else name
        place = self._place(run.folder / name)
        return replace(summary, header=replace(summary.header, place=place))

    def _tell_lost(self, results: Sequence[CaseResult]) -> None:
        lost = sum(result.state == "lost" for result in results)
        if lost:
            complain(f"{lost} of {len(results)} cases lost: the process that played them died")
            complain(f"to play only these again: {shlex.join(self._typed)}")

    def _tell_hosts(self, results: Sequence[CaseResult]) -> None:
        hosts: dict[str, dict[str, None]] = {}
        for result in results:
            hosts.setdefault(result.strategy, {}).update(dict.fromkeys(result.hosts))
        for strategy, met in hosts.items():
            if met:
                complain(f"{strategy} talked to {', '.join(met)}")

    def _tell_spent(self) -> None:
        if said := spent_line(self._spent, self._plan.settings):
            complain(said)

    def _open_page(self) -> None:
        from memsim.cli.view import show_page

        if self._flags["open_page"] and self._page is not None:
            show_page(self._page)

    def _place(self, path: Path) -> str:
        return self._project.show(path)

    def _keep_report(self, run: Run, summary: RunSummary) -> None:
        from memsim.cli.saved_runs import write_page, write_report
        from memsim.report.github import VARIABLE, add_to_job_summary
        from memsim.report.run_markdown import markdown

        if not self._flags["no_report"]:
            write_report(run, summary)
        if self._with_page:
            self._page = write_page(run, summary)
        wrong = os.environ.get(VARIABLE) and add_to_job_summary(markdown(summary), os.environ)
        if wrong:
            complain(wrong)

    def _show(self, run: Run, summary: RunSummary) -> None:
        from memsim.cli.run_output import show_run

        flags = self._flags
        quiet, verbose = flags["quiet"], flags["verbose"]
        show_run(run, summary, flags["form"], self._terminal, quiet=quiet, verbose=verbose)
        self._annotate(summary)

    def _annotate(self, summary: RunSummary) -> None:
        from memsim.report.github import annotation_lines, on_github

        if not on_github(os.environ):
            return
        found = (summary.failures, summary.unscored, summary.comparison)
        # GitHub reads both streams, and standard output may carry JSON.
        for line in annotation_lines(*found, self._project.base, os.environ):
            click.echo(line, err=True)
