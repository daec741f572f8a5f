"""Wrong arguments of `memsim.run` raise at once, with one sentence that says what is accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import memsim
from memsim.errors import NoCasesError, UsageError
from tests.notebook.conftest import Everything

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"scenarios": 3}, "a scenario is a name, a path, .*, or a list of them, not 3"),
    ({"scenarios": ["desk", None]}, "a scenario is a name, .* or a Scenario, not None"),
    ({"scenarios": {"desk": 1}}, "a scenario is a name"),
    ({"strategies": 3}, "a strategy is a ref such as 'bm25:k=8', a path, .*, not 3"),
    ({"strategies": [b"bm25"]}, "a strategy is a ref such as .*, not b'bm25'"),
    ({"strategies": {"a b": Everything}}, "the name of a strategy is a word .*, not 'a b'"),
    ({"strategies": {"mine": "bm25"}}, "strategies by name are classes or functions, not 'bm25'"),
    ({"budgets": 4.5}, "budgets is a number of tokens such as 4096 or '4k', or a list, not 4.5"),
    ({"budgets": [True]}, r"budgets is a number of tokens .*, not \[True\]"),
    ({"model": 3}, "model is the name of a model such as 'offline', not 3"),
    ({"seed": "7"}, "seed is a whole number, not '7'"),
    ({"jobs": True}, "jobs is a whole number of processes, not True"),
    ({"leakage": "all"}, "leakage is True, False or a share such as 0.25, not 'all'"),
    ({"controls": 1}, "controls is True or False, not 1"),
    ({"out": 3}, "out is a path, not 3"),
    ({"expect": ["recall"]}, r"expect is bounds by metric, .*, not \['recall'\]"),
]

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"scenarios": []}, "scenarios is empty"),
    ({"strategies": ()}, "strategies is empty"),
    ({"strategies": [Everything, Everything]}, "two of them are called 'everything'"),
    ({"strategies": {"oracle": Everything}}, "two of them are called 'oracle'"),
    ({"strategies": int}, "int is not a memsim.Strategy"),
    ({"strategies": Everything, "jobs": 2}, "jobs=2 needs names and paths: everything is an obj"),
    ({"scenarios": "desc"}, "no scenario is called 'desc' .*did you mean 'desk'"),
    ({"strategies": "bm26"}, "bm26.*did you mean 'bm25'"),
    ({"budgets": "0"}, "budgets must be a positive number of tokens"),
    ({"seed": -1}, "seed must be a whole number from 0"),
    ({"repeat": 0}, "repeat must be a whole number from 1"),
    ({"model": "nobody"}, "nobody"),
    ({"expect": {"recal": ">= 0.8"}}, "there is no metric 'recal' .*did you mean 'recall'"),
    ({"select": "a and"}, "select .*at column"),
]


def call(given: dict[str, Any]) -> memsim.Results:
    """`memsim.run` with these arguments and sound ones for the others."""
    return memsim.run(**{"scenarios": "desk", "strategies": "last", **given})


def test_wrong_types_are_refused(project: Path, subtests: pytest.Subtests) -> None:
    """As TypeError and as memsim's own error, in one line."""
    for given, said in WRONG:
        with subtests.test(given=given):
            with pytest.raises(TypeError, match=said) as raised:
                call(given)
            assert isinstance(raised.value, UsageError)
            assert "\n" not in str(raised.value)


def test_wrong_values_are_refused(project: Path, subtests: pytest.Subtests) -> None:
    """In the words of Python: no error names a flag of the command line."""
    for given, said in REFUSED:
        with subtests.test(given=given):
            with pytest.raises(UsageError, match=said) as raised:
                call(given)
            assert "--" not in str(raised.value)


def test_an_instance_is_no_strategy(project: Path) -> None:
    """Each case needs a new one: the class is what is meant."""

    class Called(Everything):
        def __call__(self) -> None:
            """A strategy that can be called is still no class."""

    with pytest.raises(TypeError, match="give its class"):
        call({"strategies": Called.__new__(Called)})


def test_nothing_left_to_play_is_an_error(project: Path) -> None:
    """As on the command line."""
    with pytest.raises(NoCasesError):
        call({"select": "nowhere"})


def test_other_functions_check_their_arguments() -> None:
    """A run by its name or path; two sides of a comparison."""
    with pytest.raises(TypeError, match="a run is 'latest', an id or a folder, not 3"):
        memsim.load(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a side is Results, or the name or path of a run"):
        memsim.compare(3, "main")  # type: ignore[arg-type]
