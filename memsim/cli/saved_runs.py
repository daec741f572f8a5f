"""Saved runs and baselines that a command names: find, read and report them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.atomic_files import write_whole
from memsim.config import COMMAND_KEYS, Settings, load_settings
from memsim.discovery.project import Project
from memsim.errors import BaselineError, RunFolderError, UsageError, nearest
from memsim.json_input import is_folder, is_regular
from memsim.runs.run_folder import INFO, read_info

if TYPE_CHECKING:
    from memsim.gate import Verdict
    from memsim.gate.comparison import Comparison
    from memsim.gate.metric_comparison import ComparisonRules
    from memsim.gate.score_sheet import ScoreSheet
    from memsim.report.run_summary import RunSummary
    from memsim.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBaseline:
    """The baseline that a run is compared with.

    Attributes:
        sheet: its scores; None if the file does not exist yet.
        strict: fail on unsure or stale metrics and on a missing baseline.
        required: fail if the baseline is missing.
        generalise: resample whole scenarios.
    """

    name: str = ""
    sheet: ScoreSheet | None = None
    strict: bool = False
    required: bool = False
    generalise: bool = False

    @property
    def missing(self) -> str:
        """The name of a baseline that is required but does not exist; empty otherwise."""
        return self.name if self.sheet is None and (self.strict or self.required) else ""

    def compare(self, folder: Path, settings: Settings) -> Comparison | None:
        """Compare the run in a folder with the baseline; None without a baseline."""
        if self.sheet is None:
            return None
        from memsim.gate.metric_comparison import compare
        from memsim.gate.score_sheet import sheet_of_run
        from memsim.runs.run_reader import open_folder

        sheet = sheet_of_run(open_folder(folder))
        return compare(self.sheet, sheet, self._rules(settings))

    def rule(self, verdict: Verdict, comparison: Comparison | None) -> Verdict:
        """Combine the verdict of a run with the comparison."""
        from memsim.gate import rule

        return rule(verdict, comparison, strict=self.strict, required=self.missing)

    def check(self, settings: Settings, scenarios: int) -> None:
        """Check before the run that a comparison will be possible."""
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
    """Read the scores of the baseline that the settings name.

    Args:
        settings: `baseline` may be empty.
        project: the project with the baselines.
        typed: a flag names the baseline, so it must exist. A configured baseline may be made later.
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
    return read_baseline(path) if is_regular(path) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSide:
    """One side of a comparison: a baseline file or a saved run.

    Attributes:
        run: None for a baseline file, and where several runs are pooled.
        pool: what is pooled: runs, baseline files, and shards of runs.
    """

    sheet: ScoreSheet
    run: Run | None = None
    pool: tuple[ComparisonSide, ...] = ()


def read_side(text: str, reports: Path) -> ComparisonSide:
    """Find a baseline or a run by its name.

    Args:
        text: a baseline's name or file, `latest`, the beginning of a run's id, or a run's folder.
        reports: the folder of both.
    """
    from memsim.gate.baseline_file import SUFFIX, baseline_path, find_baseline, read_baseline
    from memsim.gate.score_sheet import sheet_of_run
    from memsim.runs import load_run

    if is_folder(Path(text)):
        run = load_run(text, reports)
        return ComparisonSide(sheet=sheet_of_run(run), run=run)
    if text.endswith(SUFFIX):
        return ComparisonSide(sheet=read_baseline(find_baseline(text, reports)))
    path = baseline_path(text, reports)
    if is_regular(path):
        return ComparisonSide(sheet=read_baseline(path))
    try:
        run = load_run(text, reports)
    except RunFolderError as error:
        if error.path is not None and error.message.startswith(f"there is no run {text!r}"):
            raise _neither(text, reports) from error
        raise
    return ComparisonSide(sheet=sheet_of_run(run), run=run)


def read_pool(text: str, reports: Path) -> ComparisonSide:
    """Find several runs, and pool them into one side.

    Args:
        text: runs as `read_side` finds them, with commas between them; a folder may also hold runs,
            or all shards of one run.
        reports: the folder of runs and baselines.

    Raises:
        BaselineError: they cannot be pooled.
    """
    from memsim.gate.pool import pool_sheets

    parts = [side for name in text.split(",") for side in _pool_members(name.strip(), reports)]
    sheet = pool_sheets([side.sheet for side in parts])
    return parts[0] if len(parts) == 1 else ComparisonSide(sheet=sheet, pool=tuple(parts))


def _pool_members(text: str, reports: Path) -> list[ComparisonSide]:
    folder = Path(text)
    if not text or not is_folder(folder) or is_regular(folder / INFO):
        return [read_side(text, reports)]
    inside = sorted(path for path in folder.iterdir() if is_regular(path / INFO))
    if not inside:
        raise RunFolderError("is no run, and holds none", path=folder)
    if "shard" in read_info(inside[0]):
        return [_side_of_shards(folder, reports)]
    return [read_side(str(path), reports) for path in inside]


def _side_of_shards(folder: Path, reports: Path) -> ComparisonSide:
    from memsim.gate.score_sheet import sheet_of
    from memsim.runs.shards import describe_merged, read_shards

    shards = read_shards([folder])
    sheet = sheet_of(
        [case for shard in shards for case in shard.run.cases],
        [line for shard in shards for line in shard.run.probes()],
        describe_merged(shards, reports),
        name=folder.name,
        place=str(folder),
    )
    parts = tuple(ComparisonSide(sheet=sheet, run=shard.run) for shard in shards)
    return ComparisonSide(sheet=sheet, pool=parts)


def _neither(text: str, reports: Path) -> BaselineError:
    from memsim.gate.baseline_file import list_baselines
    from memsim.runs import list_runs

    names = [p.stem for p in list_baselines(reports)] + [p.name for p in list_runs(reports)]
    message = f"there is no baseline and no run {text!r}"
    return BaselineError(message, hint=nearest(text, ["latest", *names]))


COMMAND_VARIABLES = (*COMMAND_KEYS, "fail_under", "strategy")
"""Settings whose MEMSIM_ variable is read by the command itself."""


def settings_of(project: Project, flags: dict[str, object] | None = None) -> Settings:
    """The settings of a command, from its flags, the environment and the project."""
    return load_settings(project, flags, os.environ, also=COMMAND_VARIABLES)


def reports_folder(project: Project) -> Path:
    """The folder of saved runs."""
    return project.base / settings_of(project).reports


def saved_run(text: str, project: Project) -> Run:
    """Find a saved run by `latest`, the beginning of its id, or its path."""
    from memsim.runs import load_run

    return load_run(text, reports_folder(project))


def write_page(run: Run, summary: RunSummary) -> Path:
    """Write `report.html` into a run's folder, and large replays as files beside it."""
    from memsim.heap import rare_garbage_collection
    from memsim.report.html.page import save_page
    from memsim.report.viewer import fragment, save_beside

    with rare_garbage_collection():
        viewer = fragment(run, beside=True)
        path = save_page(run, summary, viewer)
        save_beside(run, summary, viewer)
    return path


def write_report(run: Run, summary: RunSummary) -> Path:
    """Write `report.md` into a run's folder."""
    from memsim.report.run_markdown import markdown

    path = run.folder / "report.md"
    try:
        # The folder may be a stranger's: a link at this place is replaced and not followed.
        write_whole(path, markdown(summary).encode(errors="backslashreplace"), private=False)
    except OSError as error:
        raise RunFolderError(f"cannot be written: {error.strerror}", path=path) from error
    return path
