"""The catalogue: sixty numbers, each promise told in a line, in symbols and by an example."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.errors import ConfigError, NoCasesError
from memsim.testing.checks import chosen
from memsim.testing.invariants import COUNT, Invariant, known

ROOT = Path(__file__).resolve().parents[2]
each = pytest.mark.parametrize("promise", known(), ids=lambda promise: promise.name)


def test_every_number_is_there() -> None:
    """None of the sixty is left out."""
    assert {*range(1, COUNT + 1)} == {promise.number for promise in known()}


@each
def test_a_promise_is_told_three_times(promise: Invariant) -> None:
    """In one sentence, in symbols, and by how it may fail."""
    assert promise.statement.endswith(".")
    assert "\n" not in promise.statement
    assert promise.formal
    assert promise.example.startswith("Fails")


def rows(page: str) -> list[str]:
    """The rows of a page's table."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith("| I")]


def test_the_documentation_has_them_all() -> None:
    """Number, name and statement, word for word; those of strategies on a page of their own."""
    told = {p: f"| I{p.number} | `{p.name}` | {p.statement} |" for p in known()}
    parts = [row[: row.rindex("|", 0, -1) + 1] for row in rows("part-invariants.md")]

    assert [told[p] for p in known() if p.on == "strategy"] == rows("invariants.md")
    assert [told[p] for p in known() if p.on != "strategy"] == parts


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("pair_closure", {"pair_closure"}),
        ("i35 or i36", {"exactly_once", "agreement"}),
        ("pins and strategy and not delimiter and not i12", {"summary_containment"}),
        ("Offload", {"references_resolve", "offload_round_trip"}),
    ],
)
def test_an_expression_chooses_by_number_name_and_family(expression: str, names: set[str]) -> None:
    """As pytest's own does, whatever the case of its letters."""
    assert names == {promise.name for promise in chosen(expression)}


def test_an_expression_that_means_nothing_is_told() -> None:
    """Nothing measured is never green."""
    with pytest.raises(NoCasesError):
        chosen("no_such_promise")
    with pytest.raises(ConfigError):
        chosen("pins and")
