"""A strategy that kills its own process loses its case, and the run goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memsim.runs import Run, load_run
from memsim.scaffold import scaffold
from tests.conftest import ROOT

KILLS = """
import os, signal
from memsim import Strategy

class Kills(Strategy):
    "Ends its process in turn 3, unless the file `spare` is there."

    def observe(self, message):
        if message.turn == 3 and not os.path.exists("spare"):
            os.kill(os.getpid(), signal.{signal})

    def context(self, query):
        return self.env.build.context()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two strategies that kill, the second by another signal."""
    scaffold(tmp_path)
    for name, sent in (("kills", "SIGKILL"), ("faults", "SIGSEGV")):
        text = KILLS.format(signal=sent).replace("Kills", name.title())
        (tmp_path / "strategies" / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def call(project: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Calls `memsim run` as a process of its own."""
    command = [sys.executable, "-m", "memsim", "run", "-k", "kills or faults or mine"]
    flags = ("-s", "kills", "-s", "faults", "-s", "mine", *flags)
    environ = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    return subprocess.run(
        [*command, *flags], cwd=project, env=environ, capture_output=True, text=True, check=False
    )


def states(run: Run) -> dict[str, str]:
    """How each strategy's case ended."""
    return {case.strategy: case.state for case in run.cases}


@pytest.mark.kills
@pytest.mark.parametrize("flags", [("-j", "1", "-o", "out"), ("--no-resume",)])
def test_a_killed_process_is_a_lost_case(project: Path, flags: tuple[str, ...]) -> None:
    """In one process as in two; the same command then plays the lost ones, and nothing else."""
    done = call(project, *flags)

    reports = project / "reports"
    folder: str | Path = project / "out" if "-o" in flags else "latest"
    run = load_run(folder, reports)
    assert 7 == done.returncode, done.stderr
    assert {"kills": "lost", "faults": "lost", "mine": "scored"} == states(run)
    assert 1 == done.stdout.count("model offline")
    assert "LOST scenarios/first.yaml::first[kills@4k]" in done.stdout
    assert "the process that played it died (signal SIGKILL)" in done.stdout
    assert "the process that played it died (signal SIGSEGV)" in done.stdout
    assert "2 of 3 cases lost: the process that played them died" in done.stderr
    told = [line[:5] for line in done.stderr.splitlines() if line.startswith("[")]
    assert ["[1/3]", "[2/3]", "[3/3]"] == told, "each case is told once"
    assert "Traceback" not in done.stderr
    if "--no-resume" in flags:
        assert 1 == len([*(reports / "runs").iterdir()])
        return
    (project / "spare").touch()
    begun = project / "out" / ".report.md.0a1b2c3d.tmp"
    begun.write_text("half of a rep", encoding="utf-8")

    again = call(project, *flags)

    assert not begun.exists(), "what was begun when the run was killed"
    assert {"scored"} == {*states(load_run(folder, reports)).values()}
    assert "is continued: 1 of 3 cases are done" in again.stderr


@pytest.mark.kills
def test_a_run_that_is_killed_takes_its_child_with_it(project: Path) -> None:
    """Whatever kills the process that waits; the folder is then free for the same command."""
    text = KILLS.format(signal="SIGSTOP")
    (project / "strategies" / "kills.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "memsim", "run", "-s", "kills", "-k", "kills", "-j", "1"]
    environ = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    with subprocess.Popen(command, cwd=project, env=environ, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.stdout.read()  # ends when the child has ended as well

    (folder,) = (project / "reports" / "runs").iterdir()
    assert not json.loads((folder / "run.json").read_text(encoding="utf-8"))["finished"]
