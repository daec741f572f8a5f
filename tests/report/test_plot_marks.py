"""Single plots from numbers made by hand: the forest, the heat map, colours of letters."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from memsim.gate.comparison import ChangeWord, Comparison, MetricChange
from memsim.report.layout import UNICODE
from memsim.report.plots.baseline_change import WORDS, forest
from memsim.report.plots.breakdown import heat_map, leakage_matrix
from memsim.report.plots.palette import lettering, strategy_looks
from memsim.report.plots.style import Picture, styled
from memsim.report.run_summary import BoardRow, Estimate, Matrix, Slice


def cell(metric: str, word: ChangeWord, change: float, low: float, high: float) -> MetricChange:
    """A finding about one strategy."""
    return MetricChange(
        variant="bm25@4k", metric=metric, word=word, change=change, low=low, high=high, margin=0.02
    )


def drawn(*cells: MetricChange) -> Picture:
    """The forest of some findings."""
    comparison = Comparison(base="main", now="now", cells=cells, stale=(), moved=())
    told = SimpleNamespace(comparison=comparison)
    material: Any = SimpleNamespace(summary=told, narrow=False, width=6.4, letters=30)
    with styled():
        picture = forest(material)
    assert picture is not None
    return picture


def test_every_word_has_a_colour_and_a_mark_of_its_own() -> None:
    """Whoever sees no colours, and whoever prints without them, can tell unsure from same."""
    assert {"worse", "better", "same", "unsure"} == set(WORDS)
    for part in (0, 1):
        assert len(WORDS) == len({looks[part] for looks in WORDS.values()})


def test_an_interval_that_goes_on_ends_in_an_arrow() -> None:
    """Of an amount that more than doubled the axis of the shares shows only that it goes on."""
    picture = drawn(
        cell("recall", "worse", -0.1, -0.19, -0.05), cell("context_mean", "worse", 2.3, 1.8, 2.9)
    )
    (axes,) = picture.figure.axes

    arrows = [line for line in axes.lines if line.get_marker() in {"<", ">"}]
    assert [">"] == [line.get_marker() for line in arrows]
    assert axes.get_xlim()[1] < 0.3
    told = {text.get_text() for text in axes.texts}
    assert {f"{UNICODE.minus}0.10  worse", "+230%  worse"} == told
    assert "an arrow: it goes on" in axes.get_xlabel()
    (whole,) = drawn(cell("recall", "same", 0, -0.01, 0.01)).figure.axes
    assert "an arrow" not in whole.get_xlabel()


def test_what_is_unsure_is_said_below() -> None:
    """Not shown to be worse is not the same as not worse."""
    caption = drawn(cell("recall", "unsure", -0.03, -0.1, 0.04)).caption

    assert caption.startswith("Nothing is shown to be worse than main.")
    assert caption.endswith(" One change cannot be told from noise.")


def test_a_slice_that_nobody_was_scored_in_is_drawn_and_no_warning() -> None:
    """It has dashes, and is not what tells strategies apart."""
    rows = tuple(
        BoardRow(letter=n, strategy=n, budget=4096, recall=Estimate(mean=0.5)) for n in "ab"
    )
    slices = (
        Slice(name="x::none", n=3, recall=(None, None)),
        Slice(name="x::one", n=3, recall=(0.2, None)),
        Slice(name="x::both", n=3, recall=(0.2, 0.6)),
    )
    matrix = Matrix(by="scenario", slices=slices)
    board: Any = SimpleNamespace(rows=rows, matrices=(matrix,))
    material: Any = SimpleNamespace(board=board)

    with warnings.catch_warnings(), styled():
        warnings.simplefilter("error")
        picture = heat_map(material)

    assert picture is not None
    assert "both tells most apart: b .60, a .20." == picture.caption
    assert 3 == sum(text.get_text() == "–" for text in picture.figure.axes[0].texts)


@pytest.mark.parametrize("name", ["sliding_window", "hybrid", "vector", "layered"])
def test_letters_on_white_are_dark_enough(name: str) -> None:
    """4.5 to 1, and no darker than they are already."""
    colour = strategy_looks([name])[name].colour
    ink = lettering(colour)

    assert lettering(ink) == ink
    assert (colour == ink) == (name in {"layered", "sliding_window"})


@pytest.mark.parametrize(
    ("cells", "caption"),
    [
        ({"safe": 0, "leak": 3}, "b leaks on 1 of 2 channels."),
        ({"safe": 0, "n/a": 0}, "Nothing leaked on the 1 of 2 channels that could be measured."),
        ({"n/a": 0, "leak": 0}, "Only channels that fail nothing leak: 1 of 2."),
    ],
)
def test_a_channel_that_was_not_measured_is_not_called_safe(
    cells: dict[str, int], caption: str
) -> None:
    """Nor is one that leaks and fails nothing."""
    found = [
        SimpleNamespace(verdict=verdict, breaches=breaches, leaks=breaches, eligible=0)
        for verdict, breaches in cells.items()
    ]
    other = SimpleNamespace(verdict="n/a", breaches=0, leaks=0, eligible=0)
    rows = [
        SimpleNamespace(channel="L1", name="one", cells=tuple(found)),
        SimpleNamespace(channel="L2", name="two", cells=(other, other)),
    ]
    board = SimpleNamespace(strategies=("a", "b"), rows=rows)
    material: Any = SimpleNamespace(summary=SimpleNamespace(leakage=(board,)))
    with styled():
        picture = leakage_matrix(material)
    assert picture is not None
    assert caption == picture.caption
