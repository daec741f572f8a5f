"""`--lf`: only what failed in the latest run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Cases = Callable[..., list[dict[str, Any]]]


def test_only_failed_cases_are_run_again(run: Run, cases: Cases) -> None:
    """Ids of the latest run, with its strategies and budgets."""
    run("--fail-under", "recall=0.6", "--budget", "2k", "-s", "sliding_window:messages=6")

    found = cases("--lf")

    assert [c["id"] for c in found] == ["scenarios/first.yaml::first[sliding_window:messages=6@2k]"]


def test_without_failures_all_are_run(run: Run, cases: Cases) -> None:
    """As pytest does, and it says so."""
    run()

    result = run("--lf", "--dry-run")

    assert result.exit_code == 0
    assert "nothing failed in the latest run: all cases are run" in result.stderr
    assert "5 cases" in result.stdout


def test_without_a_run_all_are_run(run: Run) -> None:
    """The first time there is nothing to look up."""
    result = run("--lf", "--dry-run")

    assert result.exit_code == 0
    assert "5 cases" in result.stdout


def test_selectors_narrow_it(run: Run) -> None:
    """What failed elsewhere stays out."""
    run("--fail-under", "recall=0.6")

    result = run("--lf", "scenarios/other.yaml", "--dry-run")

    assert result.exit_code == 5
