"""`--budget`: the context budgets to try."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Cases = Callable[..., list[dict[str, Any]]]


def test_each_budget_is_tried(cases: Cases) -> None:
    """K is 1024; a plain number is itself."""
    found = cases("--budget", "512,2k,3000", "-k", "mine")

    assert [c["budget"] for c in found] == [512, 2048, 3000]
    assert found[1]["id"].endswith("[mine@2k]")


def test_a_sweep_ends_with_recall_by_budget(run: Run) -> None:
    """The question of a sweep is which budget to buy."""
    result = run("--budget", "512,4k")

    assert "recall by budget\n  strategy" in result.stdout


def test_nonsense_is_exit_four(run: Run) -> None:
    """Zero, negative, not a number, nothing."""
    for text in ("0", "-4k", "nan", "4q", ""):
        result = run("--budget", text)

        assert result.exit_code == 4
        assert result.stderr.startswith("memsim: --budget ")
        assert result.stderr.count("\n") == 1
