"""`-q`: only the last line."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_one_line_says_what_the_exit_code_says(run: Run) -> None:
    """No table, no progress."""
    result = run("-q", "--fail-under", "recall=0.6")

    assert result.exit_code == 1
    assert result.stdout.startswith("1 failed, 1 passed in ")
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""


def test_with_verbose_it_means_nothing(run: Run) -> None:
    """Neither wins in silence."""
    result = run("-q", "-v")

    assert result.exit_code == 4
    assert "memsim run: -q and -v exclude each other: use one of them\n" == result.stderr
