"""Which saved run a command means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.config import COMMAND_KEYS, Settings, load_settings
from memsim.discovery import Project
from memsim.errors import RunFolderError

if TYPE_CHECKING:
    from memsim.report.rows import Summary
    from memsim.runs import Run

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


def write_page(run: Run, summary: Summary) -> Path:
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


def write_report(run: Run, summary: Summary) -> Path:
    """Write `report.md` into a run's folder.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    from memsim.report.markdown import markdown

    path = run.folder / "report.md"
    try:
        path.write_text(markdown(summary), encoding="utf-8")
    except OSError as error:
        raise RunFolderError(f"cannot be written: {error.strerror}", path=path) from error
    return path
