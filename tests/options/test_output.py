"""`-o DIR`: the run's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from memsim.runs import load_run

Run = Callable[..., Result]


def test_the_folder_holds_the_run(run: Run, project: Path) -> None:
    """In place of one below reports."""
    result = run("-o", "out/mine", "-k", "mine")

    names = {p.name for p in (project / "out/mine").iterdir()}
    assert result.exit_code == 0
    assert {"run.json", "probes.jsonl", "turns.jsonl", "cases.jsonl", "report.md"} <= names
    assert result.stdout.rstrip().endswith("out/mine/report.md")
    assert not (project / "reports/runs").exists()


def test_a_finished_run_is_shown_again(run: Run) -> None:
    """The same plan into the same folder plays nothing."""
    first = run("-o", "out", "-k", "mine")
    again = run("-o", "out", "-k", "mine")

    assert again.exit_code == 0
    assert "is finished: it is shown again" in again.stderr
    assert first.stdout.splitlines()[3:12] == again.stdout.splitlines()[3:12]


def test_latest_is_the_run_that_started_last(
    run: Run, project: Path, runs: Callable[[], tuple[Path, ...]]
) -> None:
    """A folder with a name of one's own among the others is no newer than it is."""
    run("-k", "no_memory")
    run("-o", "reports/runs/ci", "-k", "no_memory")
    named = [folder.name for folder in runs()]
    run("-k", "mine")

    assert named[0] == "ci"
    assert [folder.name for folder in runs()][1:] == named
    assert load_run("latest", project / "reports").folder.name != "ci"


def test_another_plan_or_a_foreign_folder_is_refused(run: Run, project: Path) -> None:
    """Nothing is overwritten."""
    run("-o", "out", "-k", "mine")
    (project / "own").mkdir()
    (project / "own/thesis.tex").touch()

    other, foreign = run("-o", "out"), run("-o", "own")

    assert (other.exit_code, foreign.exit_code) == (4, 4)
    assert "another plan" in other.stderr
    assert "not empty" in foreign.stderr


def test_a_file_is_no_folder(run: Run, project: Path) -> None:
    """One line, no traceback."""
    (project / "out").touch()

    result = run("-o", "out")

    assert result.exit_code == 4
    assert result.stderr.count("\n") == 1


def test_an_empty_name_is_exit_four(run: Run) -> None:
    """It would otherwise be as if nothing had been said."""
    result = run("-o", "")

    assert result.exit_code == 4
    assert "-o needs a path, not ''" in result.stderr
