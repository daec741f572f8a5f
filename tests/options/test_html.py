"""`--html`: write report.html, the page of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import memsim.runs
from memsim.cli import report
from memsim.cli.program import program

Run = Callable[..., Result]
Saved = Callable[[], memsim.runs.Run]


def test_the_page_is_written_and_named_and_the_same_again(run: Run, saved: Saved) -> None:
    """By the run itself, and to the byte from its records."""
    result = run("--html", "-k", "mine")
    folder = saved().folder
    first = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()

    again = CliRunner().invoke(program, ["report", "--html", "--quiet"])

    assert result.stdout.rstrip().endswith(f"/{folder.name}/report.html")
    assert again.stdout.rstrip().endswith(f"/{folder.name}/report.html")
    assert first == (folder / "report.html").read_bytes()


def test_a_report_of_all_has_the_plots_as_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One flag for everything that can be rebuilt."""
    run("-k", "mine")
    written: list[str] = []

    def write(played: memsim.runs.Run, _summary: object) -> Path:
        written.append("page")
        return played.folder / "report.html"

    monkeypatch.setattr(report, "write_page", write)
    monkeypatch.setattr(report, "draw", lambda *_, **__: written.append("plots"))

    CliRunner().invoke(program, ["report", "--all"], catch_exceptions=False)

    assert ["page", "plots"] == written


def test_without_it_there_is_none(run: Run, saved: Saved) -> None:
    """Drawing takes longer than replaying a few scenarios."""
    run("-k", "mine")

    assert not (saved().folder / "report.html").exists()
