"""The options of a session: its settings, its baseline and the folder of its run."""

from __future__ import annotations

import os
import shlex
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memsim.cli.saved_runs import read_baseline_sheet, settings_of
from memsim.discovery.project import find_project
from memsim.errors import MemsimError
from memsim.models.model_ref import asks_provider, read_judge

if TYPE_CHECKING:
    from memsim.config import Settings
    from memsim.discovery.project import Project
    from memsim.models.model_access import ModelAccess


def explain_hint(case: str, probe: str, config: pytest.Config) -> str:
    """The command that explains a case, from the saved run or from a new one."""
    if (kept := config.getoption("--memsim-report")) is not None and probe:
        return f"memsim explain {shlex.quote(str(kept))} {shlex.quote(probe)}"
    played = f"memsim run {shlex.quote(case)}"
    return f"{played}; memsim explain {shlex.quote(probe)}" if probe else played


RUN_FILES = frozenset(
    {".lock", "ahead.jsonl", "cases.jsonl", "contexts.jsonl", "probes.jsonl", "turns.jsonl"}
    | {"comparison.json", "report.html", "report.md", "run.json"}
)
"""Files of a run folder; a new run in the same folder removes them."""
RUN_FOLDERS = {"plots": frozenset({".png", ".svg"}), "replays": frozenset({".html"})}
"""Folders of reports in a run folder, and the endings of memsim's files in them."""


def session_settings(project: Project, config: pytest.Config) -> Settings:
    """The project's settings with the session's options."""
    flags = {
        "strategies": config.getoption("--memsim-strategy") or None,
        "repeat": config.getoption("--memsim-repeat"),
        "baseline": config.getoption("--memsim-baseline"),
        "record": config.getoption("--memsim-record"),
        "judge": config.getoption("--memsim-judge"),
    }
    return settings_of(project, flags)


def check_options(config: pytest.Config) -> None:
    """Refuse invalid options before anything is collected."""
    if config.getoption("--memsim-judge"):
        _check_judge(config)
    if config.getoption("--memsim-record") in {"new", "rewrite"}:
        _check_recording(config)
    updating = config.getoption("--memsim-update-baseline")
    if updating and config.getoption("--memsim-baseline") == "none":
        message = "--memsim-update-baseline and --memsim-baseline none exclude each other"
        raise pytest.UsageError(message)
    if (folder := report_folder(config)) is not None:
        _check_folder(folder)
    if config.getoption("--memsim-baseline") and not updating:
        try:
            project = find_project(config.rootpath)
            read_baseline_sheet(session_settings(project, config), project, typed=True)
        except MemsimError as error:
            raise pytest.UsageError(str(error)) from error


def _check_judge(config: pytest.Config) -> None:
    try:
        settings = session_settings(find_project(config.rootpath), config)
        if settings.judge:
            read_judge(settings.judge)
    except MemsimError as error:
        raise pytest.UsageError(str(error)) from error


def _check_recording(config: pytest.Config) -> None:
    from memsim.models.provider_models import check_live

    try:
        project = find_project(config.rootpath)
        settings = session_settings(project, config)
        if asks_provider(settings.model, settings.embedder, settings.judge):
            access = session_access(settings, project, config)
            check_live(settings.model, settings.embedder, access, settings.judge)
            return
    except MemsimError as error:
        raise pytest.UsageError(str(error)) from error
    recording = config.getoption("--memsim-record")
    message = f"--memsim-record {recording}: the {settings.model} model has no answers to record"
    raise pytest.UsageError(message)


def session_access(settings: Settings, project: Project, config: pytest.Config) -> ModelAccess:
    """How a session gets the answers of a live model; all its workers share one cost limit."""
    from memsim.suite.case_models import access_of

    if settings.max_cost is None:
        return access_of(settings, project)
    worker = getattr(config, "workerinput", {})
    name = f"memsim-spent-{worker.get('testrunuid', os.getpid())}"
    ledger = Path(tempfile.gettempdir()) / name
    if not worker:
        config.add_cleanup(partial(ledger.unlink, missing_ok=True))
    return access_of(settings, project, ledger=ledger)


def report_folder(config: pytest.Config) -> Path | None:
    """The folder to save the session in; None to save no run."""
    asked = config.getoption("--memsim-report")
    return None if asked is None else config.invocation_params.dir / asked


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise pytest.UsageError(f"--memsim-report {folder}: is not a folder")
    inside = {p.name for p in folder.iterdir()} if folder.is_dir() else set()
    if "run.json" not in inside and inside - RUN_FILES - RUN_FOLDERS.keys():
        raise pytest.UsageError(f"--memsim-report {folder}: is not empty and not a run of memsim")
