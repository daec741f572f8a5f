"""`--data PATH`: where a dataset is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
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


@pytest.mark.parametrize("flags", [("--data", "."), ("--mask-bad-gold",)])
def test_without_a_dataset_there_is_nothing_to_read(run: Run, flags: tuple[str, ...]) -> None:
    """A flag that would change nothing was meant otherwise."""
    result = run(*flags)

    assert result.exit_code == 4
    assert f"{flags[0]} needs a dataset such as locomo, but none is selected" in result.stderr


def test_the_variable_may_stand_for_other_runs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is set once for a shell."""
    monkeypatch.setenv("MEMSIM_DATA", ".")

    assert run("-k", "mine").exit_code == 0


def test_an_empty_path_is_exit_four(run: Run) -> None:
    """As a variable that is not set leaves behind."""
    assert "--data needs a path" in run("locomo", "--data", "").stderr
