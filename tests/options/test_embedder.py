"""`--embedder ID`: what makes vectors."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_an_unknown_embedder_is_refused(run: Run) -> None:
    """Before anything is loaded or written."""
    result = run("--embedder", "wordlama")

    assert result.exit_code == 4
    assert "(did you mean 'wordllama'?)" in result.stderr


def test_the_embedder_is_in_the_header(run: Run) -> None:
    """Numbers name what made them."""
    assert "embedder hash:dim=64" in run("--embedder", "hash:dim=64", "-k", "mine").stdout
