"""The recommended strategy: among those that recall as much, no leak first, then the price."""

from __future__ import annotations

import pytest

from memsim.report.recommendation import recommend
from memsim.report.run_summary import BoardRow, Estimate


def row(letter: str, recall: float | None, tokens: float, leaks: int, *, n: int = 40) -> BoardRow:
    """A strategy that is called by its letter and beats only `d`."""
    return BoardRow(
        letter=letter,
        strategy=letter,
        budget=4096,
        recall=Estimate(mean=recall, n=n),
        context_mean=tokens,
        leaks=leaks,
        answerable=40,
        beats=("d",),
    )


@pytest.mark.parametrize(
    ("rows", "chosen", "reason"),
    [
        (
            [row("a", 0.89, 758, 22), row("b", 0.88, 372, 0)],
            "b",
            "Others of them leak (a: 22 leaks).",
        ),
        (
            [row("a", 0.9, 758, 0), row("b", 0.89, 300, 1), row("c", 0.88, 372, 0)],
            "c",
            (
                "Others of them leak (b: 1 leak)."
                " It is the cheapest of those that do not: 372 tokens a turn."
            ),
        ),
        (
            [row("a", 0.9, 758, 0), row("b", 0.88, 372, 0)],
            "b",
            "It is the cheapest of them: 372 tokens a turn.",
        ),
        (
            [row("a", 0.9, 758, 3), row("b", 0.88, 372, 5)],
            "b",
            "All of them leak; it is the cheapest: 372 tokens a turn.",
        ),
        ([row("a", 0.9, 758, 22), row("d", 0.2, 100, 0)], "a", ""),
        ([row("a", 0.9, 758, 22), row("b", 0.88, 372, 0, n=20)], "a", ""),
        ([row("a", None, 758, 22), row("b", None, 372, 0)], "a", ""),
    ],
)
def test_among_equals_no_leak_comes_first_and_then_the_price(
    rows: list[BoardRow], chosen: str, reason: str
) -> None:
    """A strategy that is beaten, or scored only in part, is no equal."""
    found = recommend(rows)

    assert (chosen, reason) == (found.chosen.strategy, found.reason)
