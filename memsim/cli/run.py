"""`memsim run`: plan the cases, play and score them, save the run, print the result."""

from __future__ import annotations

import shlex
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
from memsim.cli.run_end import RunEnd, judge_run
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
from memsim.suite.shard import parse_shard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.discovery.project import Project
    from memsim.runs import RunWriter
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
    if flags["shard"] is not None:
        parse_shard(flags["shard"])
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
        return _dry_run(_part(ctx, planned.plan, flags), terminal)
    own = with_own_processes(planned.plan, project, flags["isolated"], out=flags["output"])
    with with_provider_access(_part(ctx, own, flags)) as plan:
        end = RunEnd(project, terminal, flags, watch)
        return _Performance(
            plan, project, terminal, flags, typed=ctx.obj.typed, against=against, end=end, whole=own
        ).perform()


def _part(ctx: click.Context, plan: CasePlan, flags: RunFlags) -> CasePlan:
    """The plan, or the shard of it that is to be played."""
    if flags["shard"] is None:
        return plan
    from memsim.suite.case_plan import shard_plan

    chosen = {
        "strict": flags["strict"],
        "require_baseline": flags["require_baseline"],
        "generalise": flags["generalise"],
        "baseline": is_given(ctx, "baseline"),
    }
    gate = [flag for flag, wanted in chosen.items() if wanted]
    return shard_plan(plan, parse_shard(flags["shard"]), gate)


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
        against: RunBaseline,
        end: RunEnd,
        whole: CasePlan,
    ) -> None:
        self._against = against
        self._end = end
        self._whole = whole
        self._plan = plan
        self._project = project
        self._terminal = terminal
        self._flags = flags
        self._typed = typed
        self._spent = NO_SPENDING

    def perform(self) -> int:
        from memsim.runs import open_run

        plan = self._plan
        writer = open_run(
            plan,
            self._project.base / plan.settings.reports,
            out=self._folder(),
            resume=not self._flags["no_resume"],
            command=reproducible(self._typed),
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
            if plan.shard:
                return self._end_shard(writer, results)
            verdict = judge_run(writer, results, plan.settings, self._against)
        code = self._end.show(writer.folder, verdict)
        self._tell_lost(results)
        self._end.tell_notes()
        self._tell_spent()
        self._end.open_page()
        return code

    def _folder(self) -> Path | None:
        from memsim.runs.run_folder import prepare_reports
        from memsim.runs.shards import shard_folder

        out = self._flags["output"]
        if found := SUPERVISION.folder or (Path(out) if out else None):
            return found
        if self._plan.shard is None:
            return None
        reports = self._project.base / self._plan.settings.reports
        prepare_reports(reports)
        return shard_folder(reports, self._plan.shard)

    def _end_shard(self, writer: RunWriter, results: Sequence[CaseResult]) -> int:
        """Finish a shard: what its cases tell is told, and only the merged run is judged."""
        from memsim.gate import Verdict, judge

        found = Verdict(exit_code=ExitCode.PASSED, sentence="no case falls to it")
        if results:
            found = judge(results, max_errors=self._plan.settings.max_errors)
        said = f"shard {self._plan.shard}: {found.sentence}"
        if not writer.finished:
            writer.finish(found.exit_code, said)
        self._tell_lost(results)
        self._tell_spent()
        folders = "DIR..." if self._flags["output"] else self._place(writer.folder.parent)
        line = f"{said}; no verdict yet: memsim merge {folders}"
        self._end.close(line, bad=bool(found.exit_code))
        return found.exit_code

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
        from memsim.heap import keep_large_blocks_apart
        from memsim.runs import perform
        from memsim.runs.judge_trial import with_judge_trial

        flags = self._flags
        whole = self._whole.cases if self._plan.shard else None
        plan, self._spent = with_judge_trial(self._plan, writer, whole)
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

            keep_large_blocks_apart()
            try:
                with SUPERVISION.played_by(jobs):
                    return perform(plan, writer, executor, watch=watch)
            finally:
                self._spent = add_spending(self._spent, executor.spent)

    def _interrupted(self, writer: RunWriter, why: str) -> int:
        kept, total = writer.finished_cases, len(self._plan.cases)
        complain(f"{why}: {kept} of {total} cases are kept in {self._place(writer.folder)}")
        self._tell_spent()
        complain(f"to go on: {shlex.join(self._typed)}")
        return ExitCode.INTERRUPTED

    def _tell_lost(self, results: Sequence[CaseResult]) -> None:
        lost = sum(result.state == "lost" for result in results)
        if lost:
            complain(f"{lost} of {len(results)} cases lost: the process that played them died")
            complain(f"to play only these again: {shlex.join(self._typed)}")

    def _tell_spent(self) -> None:
        if said := spent_line(self._spent, self._plan.settings):
            complain(said)

    def _place(self, path: Path) -> str:
        return self._project.show(path)


def reproducible(typed: Sequence[str]) -> tuple[str, ...]:
    """The command line that plays the same run anew: without its folder, and without a shard."""
    kept: list[str] = []
    skip = False
    for word in typed:
        named = word in {"--shard", "--output", "-o"}
        joined = word.startswith(("--shard=", "--output=")) or (word[:2] == "-o" and not named)
        if not (skip or named or joined):
            kept.append(word)
        skip = named and not skip
    return tuple(kept)
