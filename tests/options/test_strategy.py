"""`-s REF`: what is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Cases = Callable[..., list[dict[str, Any]]]


def test_refs_replace_the_projects_and_controls_are_added(cases: Cases) -> None:
    """A comparison always has a floor and its ceilings."""
    found = cases("-s", "sliding_window:messages=4", "--strategy", "mine")

    assert [c["strategy"] for c in found] == [
        "sliding_window:messages=4",
        "mine",
        "full_context",
        "no_memory",
        "oracle",
    ]


def test_a_file_is_a_strategy(cases: Cases) -> None:
    """By path, by path and class, with parameters."""
    found = cases("-s", "strategies/mine.py", "-s", "strategies/mine.py@Mine:messages=3")

    assert [c["strategy"] for c in found][:2] == [
        "strategies/mine.py",
        "strategies/mine.py@Mine:messages=3",
    ]


def test_a_slip_is_one_line_with_the_nearest_name(run: Run) -> None:
    """Of a strategy, and of a parameter."""
    strategy = run("-s", "slidingwindow")
    parameter = run("-s", "mine:mesages=3")

    assert (strategy.exit_code, parameter.exit_code) == (4, 4)
    assert "(did you mean 'sliding_window'?)" in strategy.stderr
    assert "(did you mean 'messages'?)" in parameter.stderr
    assert strategy.stderr.count("\n") == parameter.stderr.count("\n") == 1
