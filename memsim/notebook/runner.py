"""Play, load and compare runs: `memsim.run`, `memsim.load` and `memsim.compare`."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from memsim.errors import ConfigError, UsageError
from memsim.notebook.arguments import (
    ArgumentError,
    ScenarioInput,
    StrategyInput,
    check_settings,
    described,
    scenario_selectors,
    strategy_choice,
)
from memsim.notebook.results import Results, ResultsChange

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from memsim.cli.progress import ProgressChoice, Watcher
    from memsim.cli.run_plan import RunPlan, RunRequest
    from memsim.cli.saved_runs import ComparisonSide
    from memsim.discovery.project import Project
    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.suite.case_plan import CasePlan
    from memsim.suite.cases import CaseOutcome, CaseResult, CaseSpec
    from memsim.suite.play import MakeStrategy

RunInput: TypeAlias = str | Path | Results
Makers: TypeAlias = Mapping["StrategyRef", "MakeStrategy"]

_NAMES = {"--budget": "budgets", "-j": "jobs", "--fail-under": "expect", "-k": "select"}


def run(
    scenarios: ScenarioInput | Iterable[ScenarioInput] | None = None,
    strategies: StrategyInput | Iterable[StrategyInput] | Mapping[str, StrategyInput] | None = None,
    *,
    budgets: int | str | Iterable[int | str] | None = None,
    model: str | None = None,
    judge: str | None = None,
    embedder: str | None = None,
    tokenizer: str | None = None,
    seed: int | None = None,
    repeat: int | None = None,
    jobs: int = 1,
    timeout: float | str | None = None,
    expect: Mapping[str, str] | None = None,
    leakage: bool | float = False,
    select: str | None = None,
    data: str | Path | None = None,
    controls: bool = True,
    isolated: bool | None = None,
    out: str | Path | None = None,
    record: str | None = None,
    cassettes: str | Path | None = None,
    max_cost: float | None = None,
    progress: bool = False,
) -> Results:
    """Replay scenarios through strategies and score them, as `memsim run` does.

    Args:
        scenarios: names, paths, globs, datasets or `Scenario` objects; one or several. None takes
            those of the project, or memsim's own.
        strategies: refs such as `bm25:k=8`, paths, `Strategy` classes or functions of an
            `Environment` that make one; one or several, or objects by name. None takes those of
            the project, or memsim's own.
        budgets: tokens that a context may use, such as `4k`; one or several.
        model: the model that answers; `offline` needs no key.
        judge: a model that judges answers besides the rules.
        embedder: makes vectors.
        tokenizer: counts tokens.
        seed: of the generated talk.
        repeat: how often each case is played.
        jobs: processes. More than 1 needs `if __name__ == "__main__":` in a script, and no objects.
        timeout: seconds that a case may take.
        expect: bounds by metric, such as `{"recall": ">= 0.8"}`.
        leakage: also attack the strategies through all channels, or only that where no scenario
            is given; a share such as 0.25 plays that share of the attempts.
        select: an expression over case ids, as `-k`.
        data: where the data of a dataset is.
        controls: also play the floor, the ceiling and the evidence alone.
        isolated: whether strategies that are no objects get processes of their own; None for yours,
            where they are attacked.
        out: a folder for the run, the same as the command line writes. A run that was interrupted
            is continued there. None keeps the records only as long as the results.
        record: whether a live model may be called, as `--record`.
        cassettes: where recorded answers of live models are.
        max_cost: dollars that live models may cost.
        progress: show case, rate and time left on standard error.

    Raises:
        ArgumentError: an argument has a wrong type.
        UsageError: a name, a file or a value is wrong.
        NoCasesError: there is no case to play.
    """
    from memsim.cli.own_processes import with_own_processes
    from memsim.cli.run_plan import RunRequest
    from memsim.discovery.project import find_project

    if budgets is not None and not isinstance(budgets, int | str):
        budgets = list(budgets) if isinstance(budgets, Iterable) else budgets
    given = {
        "model": model,
        "judge": judge,
        "embedder": embedder,
        "tokenizer": tokenizer,
        "seed": seed,
        "repeat": repeat,
        "jobs": jobs,
        "timeout": timeout,
        "expect": expect,
        "record": record,
        "cassettes": cassettes,
        "max_cost": max_cost,
    }
    others = {"budgets": budgets, "leakage": leakage, "select": select, "data": data}
    switches = {"controls": controls, "isolated": isolated, "out": out, "progress": progress}
    check_settings({**given, **others, **switches})
    selectors = scenario_selectors(scenarios)
    choice = strategy_choice(strategies, controls=controls)
    objects = [str(each) for each in selectors if not isinstance(each, str)]
    objects += map(str, choice.makers)
    if jobs > 1 and objects:
        raise UsageError(f"jobs={jobs} needs names and paths: {objects[0]} is an object")
    request = RunRequest(
        selectors=(*selectors, "leakage") if leakage is not False else selectors,
        strategies=choice.refs,
        expression=select,
        data=None if data is None else str(data),
        leak_attempts=None if isinstance(leakage, bool) else str(leakage),
        controls=controls,
        isolated=isolated,
        settings=given
        | {
            "budget": budgets,
            "baseline": "none",
            "cassettes": None if cassettes is None else str(cassettes),
        },
    )
    project = find_project()
    planned = _planned(request, project)
    for remark in planned.remarks:
        warnings.warn(remark, stacklevel=2)
    own = with_own_processes(
        planned.plan,
        project,
        isolated,
        out=None if out is None else str(out),
        here=choice.makers,
    )
    command: tuple[str, ...] = ()
    if isolated is None and not objects and controls and expect is None:
        told = {"leak_attempts": request.leak_attempts, "data": data, "budget": budgets}
        command = _command(request.selectors, choice.refs, {**given, **told, "k": select})
    return _Performance(
        plan=own,
        project=project,
        makers=choice.makers,
        command=command,
        named=not objects,
        progress=progress,
    ).results(out)


def _command(
    selectors: Iterable[object], refs: Iterable[object], settings: Mapping[str, object]
) -> tuple[str, ...]:
    """The command line that plays the same cases."""
    words = ["memsim", "run", *map(str, selectors)]
    for ref in refs:
        words += ["-s", str(ref)]
    for name, value in settings.items():
        if value is not None and (name, value) != ("jobs", 1):
            flag = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            words += [flag, ",".join(map(str, value if isinstance(value, list) else [value]))]
    return tuple(words)


def _planned(request: RunRequest, project: Project) -> RunPlan:
    from memsim.cli.run_plan import plan_run

    try:
        return plan_run(request, project)
    except ConfigError as error:
        raise _in_python(error) from None


def _in_python(error: ConfigError) -> ConfigError:
    """The error with the name of an argument, where it names a flag of the command line."""
    if error.path in _NAMES:
        return ConfigError(error.message, path=_NAMES[str(error.path)], hint=error.hint)
    flag, _, rest = error.message.partition(" ")
    if error.path is not None or not flag.startswith("-"):
        return error
    name = _NAMES.get(flag.rstrip(":")) or flag.lstrip("-").replace("-", "_")
    return ConfigError(f"{name} {rest}", hint=error.hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Performance:
    """A run, from its plan to its results.

    Attributes:
        makers: what makes the strategies that were given as objects.
        command: the command line that plays the same cases; empty where there is none.
        named: whether a command line can name every case.
        progress: whether progress is shown.
    """

    plan: CasePlan
    project: Project
    makers: Makers
    command: tuple[str, ...]
    named: bool
    progress: bool

    def results(self, out: str | Path | None) -> Results:
        """Play the cases into a folder, or into a temporary one."""
        from memsim.runs.run_reader import open_folder

        folder = Path(tempfile.mkdtemp(prefix="memsim-run-")) if out is None else Path(out)
        try:
            self._write(folder)
            return Results(open_folder(folder), named=self.named, temporary=out is None)
        except BaseException:
            if out is None:
                shutil.rmtree(folder, ignore_errors=True)
            raise

    def _write(self, folder: Path) -> None:
        from memsim.cli.model_costs import with_provider_access
        from memsim.executors import InProcess, choose_executor
        from memsim.gate import judge
        from memsim.runs import open_run, perform
        from memsim.runs.judge_trial import with_judge_trial

        settings = self.plan.settings
        reports = self.project.base / settings.reports
        with (
            with_provider_access(self.plan) as paid,
            open_run(paid, reports, out=folder, command=self.command) as writer,
        ):
            tried, _ = with_judge_trial(paid, writer)
            turns = sum(spec.turns for spec in tried.cases)
            done = len(tried.cases) - len(writer.lacking)
            with self._watched(done, len(tried.cases)) as watcher:
                executor = choose_executor(
                    settings.jobs,
                    cases=len(tried.cases),
                    turns=turns,
                    here=InProcess(watcher.begin),
                    begin=watcher.begin,
                )
                play = self._play if self.makers else None
                watch = partial(_tell, watcher)
                results = perform(tried, writer, executor, play=play, watch=watch)
            if not writer.finished:
                verdict = judge(results, max_errors=settings.max_errors)
                writer.finish(verdict.exit_code, verdict.sentence)

    def _watched(self, done: int, total: int) -> AbstractContextManager[Watcher]:
        from memsim.cli.progress import show_progress
        from memsim.cli.terminal import Terminal

        choice: ProgressChoice = "auto" if self.progress else "none"
        return show_progress(choice, Terminal.of_process(), done=done, total=total)

    def _play(self, spec: CaseSpec) -> CaseOutcome:
        from memsim.suite.play import run_case

        return run_case(spec, self.makers.get(spec.strategy))


def _tell(watcher: Watcher, result: CaseResult) -> None:
    from memsim.cli.progress import case_step
    from memsim.gate import fails, lacks

    watcher.end(case_step(result, failed=fails(result) or lacks(result)))


def load(run: str | Path = "latest") -> Results:
    """Load a saved run: `latest`, the beginning of a run's id, or its folder.

    Raises:
        ArgumentError: it is neither a text nor a path.
        RunFolderError: there is no such run, or it is damaged.
    """
    from memsim.cli.saved_runs import saved_run
    from memsim.discovery.project import find_project

    if not isinstance(run, str | Path):
        raise ArgumentError(f"a run is 'latest', an id or a folder, not {described(run)}")
    saved = saved_run(str(run), find_project())
    return Results(saved, named=bool(saved.info.get("command")))


def compare(
    base: RunInput,
    now: RunInput = "latest",
    *,
    strict: bool = False,
    generalise: bool = False,
    same_machine: bool = False,
) -> ResultsChange:
    """Compare two runs, or a run and a baseline, probe by probe, as `memsim compare` does.

    Args:
        base: results, a saved run or a baseline, by name or path.
        now: what is compared with it.
        strict: also fail on metrics that are unsure or stale.
        generalise: resample whole scenarios.
        same_machine: both were made by one job, so seconds and dollars are compared too.

    Raises:
        ArgumentError: a side is neither results nor a text nor a path.
        UsageError: there is no such run or baseline.
    """
    from memsim.cli.compare import compare_sides
    from memsim.cli.saved_runs import settings_of
    from memsim.discovery.project import find_project

    project = find_project()
    settings = settings_of(project)
    reports = project.base / settings.reports
    found, verdict = compare_sides(
        _side(base, reports, "the first"),
        _side(now, reports, "the second"),
        settings,
        strict=strict,
        generalise=generalise,
        same_machine=same_machine,
    )
    return ResultsChange(found, verdict)


def _side(given: object, reports: Path, unsaved: str) -> ComparisonSide:
    from memsim.cli.saved_runs import ComparisonSide, read_side
    from memsim.gate.score_sheet import sheet_of_run

    if isinstance(given, Results):
        sheet = sheet_of_run(given.run)
        named = sheet if given.folder else replace(sheet, name=unsaved)
        return ComparisonSide(sheet=named, run=given.run)
    if isinstance(given, str | Path):
        return read_side(str(given), reports)
    raise ArgumentError(
        f"a side is Results, or the name or path of a run or baseline, not {described(given)}"
    )
