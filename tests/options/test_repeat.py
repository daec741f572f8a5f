"""`--repeat N`: how often each case is played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Cases = Callable[..., list[dict[str, Any]]]


def test_each_case_is_played_so_often(cases: Cases) -> None:
    """The repeat is in the record, not in the id."""
    found = cases("--repeat", "2", "-k", "mine")

    assert [(c["id"], c["repeat"]) for c in found] == [
        ("scenarios/first.yaml::first[mine@4k]", 0),
        ("scenarios/first.yaml::first[mine@4k]", 1),
    ]


def test_zero_repeats_are_refused(run: Run) -> None:
    """There is nothing to be shown of nothing."""
    result = run("--repeat", "0")

    assert result.exit_code == 4
    assert "--repeat must be a whole number from 1" in result.stderr
