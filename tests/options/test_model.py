"""`-m ID`: the language model."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_only_the_offline_model_is_there(run: Run) -> None:
    """A live model is refused before anything is written, in one line."""
    result = run("-m", "gpt-5")

    assert result.exit_code == 4
    assert result.stderr.startswith("memsim: no model is called 'gpt-5'")
    assert result.stderr.count("\n") == 1


def test_the_model_is_in_the_header(run: Run) -> None:
    """Numbers name what made them."""
    assert "model offline" in run("--model", "offline", "-k", "mine").stdout
