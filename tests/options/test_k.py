"""`-k EXPR`: cases by their ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Cases = Callable[..., list[dict[str, Any]]]


def test_cases_are_chosen_by_expression(cases: Cases) -> None:
    """The grammar of pytest's own -k."""
    found = cases("-k", "first and not (full or oracle or memory) and not sliding")

    assert [c["id"] for c in found] == ["scenarios/first.yaml::first[mine@4k]"]


def test_nothing_left_is_exit_five(run: Run) -> None:
    """As pytest says it: nothing was collected."""
    result = run("-k", "nonesuch")

    assert result.exit_code == 5
    assert result.stderr == "memsim: no case is left to run by -k 'nonesuch'\n"


def test_a_broken_expression_is_exit_four(run: Run) -> None:
    """With the column at which it breaks."""
    result = run("-k", "first and (")

    assert result.exit_code == 4
    assert result.stderr.count("\n") == 1
    assert "column" in result.stderr
