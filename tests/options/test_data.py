"""`--data PATH`: where a dataset is."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_a_dataset_needs_its_data(run: Run) -> None:
    """The error says with which flag."""
    result = run("locomo")

    assert result.exit_code == 4
    assert "--data PATH" in result.stderr


def test_a_path_that_is_not_there_is_exit_four(run: Run) -> None:
    """One line, with the path."""
    result = run("locomo", "--data", "nowhere.json")

    assert result.exit_code == 4
    assert "nowhere.json" in result.stderr
    assert result.stderr.count("\n") == 1
