"""`--html`: write report.html, the page of a run."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import CliRunner, Result

import memsim.runs
from memsim.cli.program import program

Run = Callable[..., Result]
Saved = Callable[[], memsim.runs.Run]


def test_the_page_is_written_and_named_and_the_same_again(run: Run, saved: Saved) -> None:
    """By the run itself, and to the byte from its records with all plots beside it."""
    result = run("--html", "-k", "mine")
    folder = saved().folder
    first = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()

    again = CliRunner().invoke(program, ["report", "--all", "--quiet"])

    assert result.stdout.rstrip().endswith(f"/{folder.name}/report.html")
    assert again.stdout.rstrip().endswith(f"/{folder.name}/report.html")
    assert first == (folder / "report.html").read_bytes()
    assert (folder / "plots").is_dir()
    assert (folder / "report.md").is_file()


def test_without_it_there_is_none(run: Run, saved: Saved) -> None:
    """Drawing takes longer than replaying a few scenarios."""
    run("-k", "mine")

    assert not (saved().folder / "report.html").exists()
