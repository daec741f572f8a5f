"""Which saved run a command means."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.config import COMMAND_KEYS, Settings, load_settings
from memsim.discovery import Project
from memsim.errors import BaselineError, RunFolderError, UsageError, nearest

if TYPE_CHECKING:
    from memsim.gate import Verdict
    from memsim.gate.comparison import Comparison
    from memsim.gate.metric_comparison import ComparisonRules
    from memsim.gate.score_sheet import ScoreSheet
    from memsim.report.run_summary import RunSummary
    from memsim.runs import Run


# What a run is compared with: found, read and checked before anything is played.


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBaseline:
    """The baseline of a run.

    Attributes:
        name: what was asked for; empty for none.
        sheet: what it says; None where there is no such file yet.
        strict: what is unsure or stale fails, and so does a missing baseline.
        required: a missing baseline fails.
        generalise: whole scenarios are resampled.
    """

    name: str = ""
    sheet: ScoreSheet | None = None
    strict: bool = False
    required: bool = False
    generalise: bool = False

    @property
    def missing(self) -> str:
        """The baseline that is not there and has to be."""
        return self.name if self.sheet is None and (self.strict or self.required) else ""

    def compare(self, folder: Path, settings: Settings) -> Comparison | None:
        """The run in a folder against it; None where there is nothing to compare with.

        Raises:
            UsageError: they cannot be compared, or the run is damaged.
        """
        if self.sheet is None:
            return None
        from memsim.gate.metric_comparison import compare
        from memsim.gate.score_sheet import sheet_of_run
        from memsim.runs.run_reader import open_folder

        sheet = sheet_of_run(open_folder(folder))
        return compare(self.sheet, sheet, self._rules(settings))

    def rule(self, verdict: Verdict, comparison: Comparison | None) -> Verdict:
        """The verdict of a run with what was found against it."""
        from memsim.gate import rule

        return rule(verdict, comparison, strict=self.strict, required=self.missing)

    def check(self, settings: Settings, scenarios: int) -> None:
        """Refuse before the run what would be refused after it.

        Raises:
            UsageError: the gate's metrics or the number of scenarios do not allow a comparison.
        """
        from memsim.gate.metric_comparison import check_generalise, check_metrics

        if not self.name:
            for flag, meant in (
                ("--require-baseline", self.required),
                ("--generalise", self.generalise),
            ):
                if meant:
                    message = f"{flag} needs a baseline: --baseline NAME, or baseline in"
                    raise UsageError(f"{message} [tool.memsim]")
            return
        check_metrics(settings.gate.metrics)
        if self.generalise:
            check_generalise(scenarios)

    def _rules(self, settings: Settings) -> ComparisonRules:
        from memsim.gate.metric_comparison import ComparisonRules

        return ComparisonRules(gate=settings.gate, generalise=self.generalise)


def read_baseline_sheet(settings: Settings, project: Project, *, typed: bool) -> ScoreSheet | None:
    """The sheet of the baseline that the settings name.

    Args:
        settings: `baseline` may be empty.
        project: where baselines are.
        typed: a flag names it, so it has to be there; a configured one may come later.

    Raises:
        BaselineError: it is damaged, cannot be a name, or is not there though it was typed.
    """
    if not settings.baseline:
        return None
    from memsim.gate.baseline_file import baseline_path, find_baseline, is_path, read_baseline

    reports = project.base / settings.reports
    if typed:
        return read_baseline(find_baseline(settings.baseline, reports))
    path = baseline_path(settings.baseline, reports)
    if is_path(settings.baseline):
        path = project.base / path
    return read_baseline(path) if path.is_file() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSide:
    """One of two that are compared: a baseline file, or a saved run.

    Attributes:
        run: None of a baseline file.
    """

    sheet: ScoreSheet
    run: Run | None = None


def read_side(text: str, reports: Path) -> ComparisonSide:
    """What a name stands for: a baseline or its file, else a run.

    Args:
        text: a baseline's name or file, `latest`, the beginning of a run's id, or a run's folder.
        reports: where both are kept.

    Raises:
        BaselineError: it is neither, or a damaged baseline.
        RunFolderError: it is a damaged run.
    """
    from memsim.gate.baseline_file import SUFFIX, baseline_path, find_baseline, read_baseline
    from memsim.gate.score_sheet import sheet_of_run
    from memsim.runs import load_run

    if Path(text).is_dir():
        run = load_run(text, reports)
        return ComparisonSide(sheet=sheet_of_run(run), run=run)
    if text.endswith(SUFFIX):
        return ComparisonSide(sheet=read_baseline(find_baseline(text, reports)))
    path = baseline_path(text, reports)
    if path.is_file():
        return ComparisonSide(sheet=read_baseline(path))
    try:
        run = load_run(text, reports)
    except RunFolderError as error:
        if error.path is not None and error.message.startswith(f"there is no run {text!r}"):
            raise _neither(text, reports) from error
        raise
    return ComparisonSide(sheet=sheet_of_run(run), run=run)


def _neither(text: str, reports: Path) -> BaselineError:
    from memsim.gate.baseline_file import list_baselines
    from memsim.runs import list_runs

    names = [p.stem for p in list_baselines(reports)] + [p.name for p in list_runs(reports)]
    message = f"there is no baseline and no run {text!r}"
    return BaselineError(message, hint=nearest(text, ["latest", *names]))


COMMAND_VARIABLES = (*COMMAND_KEYS, "fail_under", "strategy")
"""Flags whose MEMSIM_ variable the command reads itself."""


def settings_of(project: Project, flags: dict[str, object] | None = None) -> Settings:
    """The settings of a command: its flags, the environment, the project.

    Raises:
        ConfigError: one of them is wrong.
    """
    return load_settings(project, flags, os.environ, also=COMMAND_VARIABLES)


def reports_folder(project: Project) -> Path:
    """Where runs are kept."""
    return project.base / settings_of(project).reports


def saved_run(text: str, project: Project) -> Run:
    """The run that a text names: `latest`, the beginning of an id, or a path.

    Raises:
        RunFolderError: there is no such run, or it is damaged.
    """
    from memsim.runs import load_run

    return load_run(text, reports_folder(project))


def write_page(run: Run, summary: RunSummary) -> Path:
    """Write `report.html` into a run's folder, and beside it the replays that it has no room for.

    Raises:
        RunFolderError: its records are damaged, or the folder cannot be written.
    """
    from memsim.report.html.page import save_page
    from memsim.report.viewer import fragment, save_beside

    viewer = fragment(run, beside=True)
    path = save_page(run, summary, viewer)
    save_beside(run, summary, viewer)
    return path


def write_report(run: Run, summary: RunSummary) -> Path:
    """Write `report.md` into a run's folder.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    from memsim.report.run_markdown import markdown

    path = run.folder / "report.md"
    try:
        path.write_text(markdown(summary), encoding="utf-8")
    except OSError as error:
        raise RunFolderError(f"cannot be written: {error.strerror}", path=path) from error
    return path
