"""`--fail-under METRIC=N`: a bound for every case."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]


def test_a_case_below_it_fails_the_run(run: Run) -> None:
    """Exit 1, the block of the case, and a closing line that says the same."""
    result = run("--fail-under", "recall=0.6")

    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert "FAILED scenarios/first.yaml::first[sliding_window:messages=12@4k]" in lines
    assert "  recall .40 < .6    --fail-under" in lines
    assert lines[-1].startswith("1 failed, 1 passed in ")


def test_bounds_may_be_several_and_of_any_direction(run: Run) -> None:
    """A cost is bounded from above."""
    result = run("--fail-under", "context_peak<=100", "--fail-under", "recall=0.1", "-k", "mine")

    assert result.exit_code == 1
    assert "context_peak " in result.stdout


def test_controls_are_never_judged(run: Run) -> None:
    """The floor is there to fail."""
    assert run("--fail-under", "recall=0.9", "-k", "no_memory").exit_code == 0


def test_an_unknown_metric_is_exit_four(run: Run) -> None:
    """Never a bound that silently holds."""
    result = run("--fail-under", "recal=0.8")

    assert result.exit_code == 4
    assert result.stderr == "--fail-under: there is no metric 'recal' (did you mean 'recall'?)\n"


@pytest.mark.parametrize(
    ("bound", "hint"),
    [("recall=80", " (did you mean '0.8'?)"), ("recall=1.2", ""), ("recall=-1", "")],
)
def test_a_share_that_cannot_be_is_exit_four(run: Run, bound: str, hint: str) -> None:
    """Every case would fail it, or none; percent may be written as such."""
    result = run("--fail-under", bound, "--dry-run")

    text = bound.removeprefix("recall").removeprefix("=")
    assert result.exit_code == 4
    said = f"--fail-under: recall: a bound on a share is from 0 to 1, not {text!r}{hint}\n"
    assert result.stderr == said
    assert run("--fail-under", "recall=80%", "--dry-run").exit_code == 0


def test_what_is_no_bound_is_exit_four(run: Run) -> None:
    """The message shows how it is written."""
    result = run("--fail-under", "recall")

    assert result.exit_code == 4
    assert "METRIC=NUMBER" in result.stderr
