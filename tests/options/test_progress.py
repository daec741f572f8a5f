"""`--progress`: on standard error."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_where_nobody_watches_each_case_is_a_line(run: Run) -> None:
    """So that a log shows how far it came; results stay on standard output."""
    lines = run().stderr.splitlines()

    assert len(lines) == 5
    assert lines[0].startswith("[1/5]   scenarios/first.yaml::first[mine@4k]  recall .80  ")


def test_a_failed_case_is_marked(run: Run) -> None:
    """Without waiting for the end."""
    lines = run("--progress", "plain", "--fail-under", "recall=0.6").stderr.splitlines()

    assert lines[1].startswith("[2/5] ✗ scenarios/")


def test_none_says_nothing(run: Run) -> None:
    """Not a byte."""
    assert run("--progress", "none").stderr == ""
