"""A scaffolded project to stand in, and the command line to call in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from memsim.scaffold import scaffold

ROOT = Path(__file__).resolve().parents[2]
Call = Callable[..., Result]
Spawn = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scaffolded project, as the present folder."""
    scaffold(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def call() -> Call:
    """Calls the command line in this process."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(program, list(arguments))

    return run


@pytest.fixture
def spawn() -> Spawn:
    """Calls the command line in a process of its own, in the present folder."""

    def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
        return subprocess.run(
            [sys.executable, "-m", "memsim", *arguments],
            env={**plain, "PYTHONPATH": str(ROOT), **environ},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    return run
