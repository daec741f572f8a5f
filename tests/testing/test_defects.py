"""Defects of strategies: each broken notebook is found by its invariant, and the honest one not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from memsim.testing import PROFILES, Case, Violation, verify
from memsim.testing.case_search import draw_cases
from memsim.testing.checks import generated
from memsim.testing.fresh_process import close_processes
from memsim.testing.invariants import invariant, processes
from tests.doubles.broken_notebooks import BROKEN

DOUBLES = Path(__file__).resolve().parents[1] / "doubles"
DOCS = Path(__file__).resolve().parents[2] / "docs"
HONEST = f"{DOUBLES / 'notebook.py'}@Notebook"
PAIRS = [(name, kind.__name__) for name, kinds in BROKEN.items() for kind in kinds]
CHEAP = {"turns_end_once", "messages_are_kept_once", "revoked_is_gone", "loading_replaces"}


@cache
def case_of(number: int) -> Case:
    """The case of that number, as `memsim check` tries it at the default profile."""
    case = draw_cases(generated("strategy", PROFILES["commit"]), 7, number)
    assert isinstance(case, Case)
    return case


def broken(name: str, subject: str, case: Case) -> str:
    """What an invariant finds; empty where it holds."""
    try:
        verify(name, subject, case)
    except Violation as found:
        return str(found)
    return ""


def found_in(name: str, kind: str) -> Case:
    """The first case of the default profile that tells."""
    subject = f"{DOUBLES / 'broken_notebooks.py'}@{kind}"
    try:
        for number in range(PROFILES["commit"].examples):
            if broken(name, subject, case_of(number)):
                return case_of(number)
    finally:
        close_processes(besides=HONEST)  # which every test looks at
    raise AssertionError(f"{kind} is not found by {name}")


@pytest.mark.parametrize(("name", "kind"), [pair for pair in PAIRS if pair[0] in CHEAP])
def test_a_broken_notebook_is_found(name: str, kind: str) -> None:
    """And in the case that tells, nothing is found in the honest notebook."""
    assert not broken(name, HONEST, found_in(name, kind))


@pytest.mark.parametrize(("name", "kind"), [pair for pair in PAIRS if pair[0] not in CHEAP])
def test_each_class_of_defects_is_found(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the default profile, whatever the class; the honest notebook is accused of nothing."""
    if kind != "SetOrder":  # to look for the cause starts a process for each
        monkeypatch.setattr(processes, "CAUSES", {})
    case = found_in(name, kind)

    assert not broken(name, HONEST, case)


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    """No process outlives the tests."""
    yield
    close_processes()


def test_the_page_names_each_class_and_what_to_do() -> None:
    """Every broken notebook's invariant has a row, with the sentence that a check prints."""
    page = (DOCS / "defects.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| `(\w+)` \| (.*) \|$", page, re.MULTILINE)

    assert set(BROKEN) <= {name for name, _ in rows}
    assert [] == [name for name, told in rows if invariant(name).remedy != told or not told]
