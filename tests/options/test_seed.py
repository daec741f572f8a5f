"""`--seed N`: of fillers and chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Cases = Callable[..., list[dict[str, Any]]]


def test_another_seed_is_another_conversation(cases: Cases) -> None:
    """The same seed gives the same numbers, another one other fillers."""
    first, again, other = (
        cases("--seed", seed, "-k", "full_context")[0]["metrics"]["context_total"]
        for seed in ("1", "1", "2")
    )

    assert first == again
    assert first != other


def test_a_seed_is_a_whole_number(run: Run) -> None:
    """Not a word, not negative, not a fraction."""
    for text in ("x", "-1", "1.5", "1e400"):
        result = run("--seed", text)

        assert result.exit_code == 4
        assert "--seed must be a whole number" in result.stderr
