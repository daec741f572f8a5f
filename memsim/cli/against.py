"""What a run is compared with: found, read and checked before anything is played."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import BaselineError, RunFolderError, UsageError, nearest

if TYPE_CHECKING:
    from memsim.config import Settings
    from memsim.discovery import Project
    from memsim.gate import Verdict
    from memsim.gate.comparing import Rules
    from memsim.gate.findings import Comparison
    from memsim.gate.sheet import Sheet
    from memsim.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The baseline of a run.

    Attributes:
        name: what was asked for; empty for none.
        sheet: what it says; None where there is no such file yet.
        strict: what is unsure or stale fails, and so does a missing baseline.
        required: a missing baseline fails.
        generalise: whole scenarios are resampled.
    """

    name: str = ""
    sheet: Sheet | None = None
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
        from memsim.gate.comparing import compare
        from memsim.gate.sheet import sheet_of_run
        from memsim.runs.reading import open_folder

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
        from memsim.gate.comparing import check_generalise, check_metrics

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

    def _rules(self, settings: Settings) -> Rules:
        from memsim.gate.comparing import Rules

        return Rules(gate=settings.gate, generalise=self.generalise)


def read_against(settings: Settings, project: Project, *, typed: bool) -> Sheet | None:
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
    from memsim.gate.baseline import baseline_path, find_baseline, is_path, read_baseline

    reports = project.base / settings.reports
    if typed:
        return read_baseline(find_baseline(settings.baseline, reports))
    path = baseline_path(settings.baseline, reports)
    if is_path(settings.baseline):
        path = project.base / path
    return read_baseline(path) if path.is_file() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two that are compared: a baseline file, or a saved run.

    Attributes:
        run: None of a baseline file.
    """

    sheet: Sheet
    run: Run | None = None


def read_side(text: str, reports: Path) -> Side:
    """What a name stands for: a baseline or its file, else a run.

    Args:
        text: a baseline's name or file, `latest`, the beginning of a run's id, or a run's folder.
        reports: where both are kept.

    Raises:
        BaselineError: it is neither, or a damaged baseline.
        RunFolderError: it is a damaged run.
    """
    from memsim.gate.baseline import SUFFIX, baseline_path, find_baseline, read_baseline
    from memsim.gate.sheet import sheet_of_run
    from memsim.runs import load_run

    if Path(text).is_dir():
        run = load_run(text, reports)
        return Side(sheet=sheet_of_run(run), run=run)
    if text.endswith(SUFFIX):
        return Side(sheet=read_baseline(find_baseline(text, reports)))
    path = baseline_path(text, reports)
    if path.is_file():
        return Side(sheet=read_baseline(path))
    try:
        run = load_run(text, reports)
    except RunFolderError as error:
        if error.path is not None and error.message.startswith(f"there is no run {text!r}"):
            raise _neither(text, reports) from error
        raise
    return Side(sheet=sheet_of_run(run), run=run)


def _neither(text: str, reports: Path) -> BaselineError:
    from memsim.gate.baseline import list_baselines
    from memsim.runs import list_runs

    names = [p.stem for p in list_baselines(reports)] + [p.name for p in list_runs(reports)]
    message = f"there is no baseline and no run {text!r}"
    return BaselineError(message, hint=nearest(text, ["latest", *names]))
