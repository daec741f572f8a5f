"""A scaffolded project, and `memsim run` to call in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from memsim.runs import Run, list_runs, load_run
from memsim.scaffold import scaffold


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scaffolded project, as the present folder."""
    scaffold(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def run(project: Path) -> Callable[..., Result]:
    """Calls `memsim run` in the project."""

    def call(*flags: str) -> Result:
        return CliRunner().invoke(program, ["run", *flags])

    return call


@pytest.fixture
def saved(project: Path) -> Callable[[], Run]:
    """Reads the newest run."""
    return lambda: load_run("latest", project / "reports")


@pytest.fixture
def runs(project: Path) -> Callable[[], tuple[Path, ...]]:
    """Lists the folders of all runs."""
    return lambda: list_runs(project / "reports")


@pytest.fixture
def cases(run: Callable[..., Result]) -> Callable[..., list[dict[str, Any]]]:
    """Calls `memsim run --format jsonl` and returns its cases."""

    def call(*flags: str) -> list[dict[str, Any]]:
        result = run("--format", "jsonl", *flags)
        assert result.exit_code in {0, 1, 7}, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]

    return call
