"""`--tokenizer ID`: what counts tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Cases = Callable[..., list[dict[str, Any]]]


def test_the_tokenizer_counts(cases: Cases) -> None:
    """Characters over four is not what an encoding says."""
    exact, estimate = (
        cases("--tokenizer", name, "-k", "full_context")[0]["metrics"]["context_peak"]
        for name in ("o200k_base", "chars/4")
    )

    assert exact != estimate


def test_an_unknown_tokenizer_is_refused(run: Run) -> None:
    """With the nearest one."""
    result = run("--tokenizer", "o200k")

    assert result.exit_code == 4
    assert "(did you mean 'o200k_base'?)" in result.stderr
