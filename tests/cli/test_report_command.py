"""`memsim report`: a saved run again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]


@pytest.fixture
def folder(project: Path, call: Call) -> Path:
    """The folder of one failed run."""
    call("run", "--fail-under", "recall=0.6")
    (found,) = (project / "reports/runs").iterdir()
    return found


def test_table_failures_and_exit_code_are_the_runs(folder: Path, call: Call) -> None:
    """Nothing is played again, and nothing is decided anew."""
    result = call("report")

    assert result.exit_code == 1
    assert "FAILED scenarios/first.yaml::first[sliding_window:messages=12@4k]" in result.stdout
    last = result.stdout.splitlines()[-1]
    assert last == f"1 failed, 1 passed · reports/runs/{folder.name}/report.md"


def test_it_needs_neither_scenarios_nor_strategies(folder: Path, call: Call, project: Path) -> None:
    """What is shown is in the run's folder alone."""
    before = call("report").stdout
    (project / "scenarios/first.yaml").unlink()
    (project / "strategies/mine.py").unlink()

    assert before == call("report", folder.name).stdout


def test_report_md_is_written_anew(folder: Path, call: Call) -> None:
    """A lost report is no loss."""
    before = (folder / "report.md").read_text(encoding="utf-8")
    (folder / "report.md").unlink()

    call("report", str(folder))

    assert before == (folder / "report.md").read_text(encoding="utf-8")


def test_other_formats_carry_the_same(folder: Path, call: Call) -> None:
    """One document, or the Markdown of the file."""
    document = json.loads(call("report", "--format", "json").stdout)
    text = call("report", "--format", "md").stdout

    assert document["verdict"]["failed"] == 1
    assert text == (folder / "report.md").read_text(encoding="utf-8")


def test_a_damaged_run_is_exit_four(folder: Path, call: Call) -> None:
    """One line, no half of a table."""
    (folder / "probes.jsonl").write_bytes(b"{}\n")

    result = call("report", "-q")

    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.count("\n") == 1


def test_an_unknown_run_is_exit_four(folder: Path, call: Call) -> None:
    """With the nearest one."""
    result = call("report", "lastest")

    assert result.exit_code == 4
    assert "(did you mean 'latest'?)" in result.stderr
