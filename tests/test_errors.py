"""Errors: what they say, and the exit code that each means."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim import errors
from memsim.errors import (
    BudgetUnsatisfiable,
    ConfigError,
    ExitCode,
    LocatedError,
    MemsimError,
    ModelError,
    NoCasesError,
    RefError,
    RunFolderError,
    ScenarioError,
    SchemaError,
    StateError,
    StrategyError,
    Unmeasurable,
    UsageError,
    nearest,
)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (MemsimError, ExitCode.INTERNAL),
        (UsageError, ExitCode.USAGE),
        (ScenarioError, ExitCode.USAGE),
        (ConfigError, ExitCode.USAGE),
        (RefError, ExitCode.USAGE),
        (RunFolderError, ExitCode.USAGE),
        (StateError, ExitCode.USAGE),
        (NoCasesError, ExitCode.NOTHING),
        (Unmeasurable, ExitCode.UNMEASURABLE),
        (StrategyError, ExitCode.UNMEASURABLE),
        (ModelError, ExitCode.UNMEASURABLE),
        (BudgetUnsatisfiable, ExitCode.UNMEASURABLE),
    ],
)
def test_an_error_means_an_exit_code(kind: type[MemsimError], code: ExitCode) -> None:
    """Wrong input, nothing to do and nothing measured are told apart."""
    assert kind.exit_code is code
    assert issubclass(kind, MemsimError)


def test_exit_codes_are_pytests_where_it_has_one() -> None:
    """And 6, which pytest took later, is left alone."""
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 4, 5, 7]


def test_every_error_is_in_the_tree() -> None:
    """The module's docstring draws all of them."""
    kinds = [
        name
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, MemsimError) and thing is not LocatedError
    ]

    assert [name for name in kinds if name not in (errors.__doc__ or "")] == []


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({}, "it is wrong"),
        ({"path": "a.yaml"}, "a.yaml: it is wrong"),
        ({"path": Path("a.yaml"), "line": 3}, "a.yaml:3: it is wrong"),
        ({"path": "a.yaml", "line": 3, "column": 7}, "a.yaml:3:7: it is wrong"),
        ({"path": "a.yaml", "line": 0}, "a.yaml:0: it is wrong"),
        ({"hint": "probes"}, "it is wrong (did you mean 'probes'?)"),
        ({"path": "a.yaml", "hint": "x"}, "a.yaml: it is wrong (did you mean 'x'?)"),
    ],
)
def test_an_error_says_where_what_and_what_was_meant(
    place: dict[str, object], expected: str
) -> None:
    """In one line, as compilers do."""
    assert str(ScenarioError("it is wrong", **place)) == expected  # type: ignore[arg-type]


def test_an_error_can_be_placed_later() -> None:
    """Whoever knows the file adds it, and the text follows."""
    error = ConfigError("it is wrong")
    error.path, error.line = "pyproject.toml", 9

    assert str(error) == "pyproject.toml:9: it is wrong"


@pytest.mark.parametrize(
    "error",
    [
        ScenarioError("wrong", path=Path("a.yaml"), line=3, column=1, hint="x"),
        RefError("wrong"),
        BudgetUnsatisfiable("pins", 1200, 1000),
        ModelError("failed"),
    ],
)
def test_errors_cross_process_borders(error: MemsimError) -> None:
    """A worker's error is the same error here."""
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_a_budget_that_cannot_hold_says_by_how_much() -> None:
    """Which part, and the two numbers."""
    error = BudgetUnsatisfiable("pins", 1200, 1000)

    assert str(error) == "pins needs 1,200 tokens and the budget is 1,000"
    assert (error.part, error.tokens, error.budget) == ("pins", 1200, 1000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sliding_windw", "sliding_window"),
        ("Sliding_Window", "sliding_window"),
        (" BM25 ", "bm25"),
        ("summary", "rolling_summary"),
        ("xyz", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_the_likely_slip(name: str, expected: str | None) -> None:
    """Also in another case; nothing where nothing is near."""
    assert nearest(name, ["sliding_window", "rolling_summary", "bm25"]) == expected


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=5))
def test_the_nearest_name_is_a_known_one(name: str, known: list[str]) -> None:
    """And does not hang on their order."""
    found = nearest(name, known)

    assert found is None or found in known
    assert nearest(name, known[::-1]) == found


def test_a_store_of_an_older_version_needs_no_upgrade() -> None:
    """Its layout has changed since, and a newer memsim would read it no better."""
    assert "open it with the memsim that wrote it" in str(SchemaError("a.sqlite3", 2, 3))
    assert "upgrade memsim" in str(SchemaError("a.sqlite3", 4, 3))
    assert "upgrade memsim" in str(SchemaError("a.sqlite3", "another", 3))
