"""`--no-report`: write no report.md."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

import memsim.runs

Run = Callable[..., Result]
Saved = Callable[[], memsim.runs.Run]


def test_no_report_is_written_and_none_is_named(run: Run, saved: Saved) -> None:
    """The closing line names the folder instead."""
    result = run("--no-report", "-k", "mine")

    folder = saved().folder
    assert not (folder / "report.md").exists()
    assert result.stdout.rstrip().endswith(f"reports/runs/{folder.name}")


def test_otherwise_it_is(run: Run, saved: Saved) -> None:
    """And the closing line names it."""
    result = run("-k", "mine")

    assert (saved().folder / "report.md").is_file()
    assert result.stdout.rstrip().endswith("/report.md")
