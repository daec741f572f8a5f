"""Names in plots: no line crosses a name, no two names overlap, and nothing is cut off."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from memsim.report.plots import PLOTS
from memsim.report.plots.labels import (
    LabelBox,
    LabelPoint,
    Segment,
    column,
    short_names,
    with_column,
)
from memsim.report.plots.palette import strategy_looks
from memsim.report.plots.style import PlotMaterial, styled
from memsim.report.run_summary import BoardRow, Estimate

NAMED = ("trade-off", "budget-sweep", "survival", "forgetting")
ORDINARY = ["bm25", "hybrid", "vector", "prx:acl=on", "rolling_summary", "cogtrix:mode=code"]
LONG = [
    "layered:archive=on,core=off,hygiene=strict,neighbours=4",
    "layered:archive=on,core=off,hygiene=strict,neighbours=5",
    "some/folder/strategies/mine.py@AVeryLongNameOfAClassThatNobodyWouldWrite:messages=12",
    "mine.py@記憶の長い名前を持つ方式",
    "mine.py@ПамятьСОченьДлиннымИменем",
    "mine.py@ذاكرة",
]

RUNS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "four": {name: (256.0, 0.25 * n) for n, name in enumerate(LONG[:4], 1)},
    "a few": {name: (90.0 * (n + 1) ** 2, 0.9 - 0.07 * n) for n, name in enumerate(ORDINARY)},
    "equal points": dict.fromkeys([*ORDINARY, *LONG], (512.0, 0.5)),
    "all remember all": {name: (300.0 + n, 1.0) for n, name in enumerate(ORDINARY)},
    "all forget all": dict.fromkeys(LONG, (300.0, 0.0)),
    "twelve in a crowd": {
        name: (400.0 * 1.04**n, 0.62 + 0.013 * (n * 5 % 12))
        for n, name in enumerate([*ORDINARY, *LONG])
    },
    "thirty": {f"mine.py@Memory:size={n}": (60.0 * 1.12**n, n * 7 % 30 / 29) for n in range(30)},
}


PANELS = {"four", "equal points"}
"""Runs whose forgetting is drawn as well: in one picture, and in panels, which takes long."""


def material(run: str, *, narrow: bool = False) -> PlotMaterial:
    """What plots draw from: strategies with the tokens and the recall of a run above."""
    rows = [
        BoardRow(
            letter="a",
            strategy=name,
            budget=4096,
            recall=Estimate(mean=y, low=max(0.0, y - 0.06), high=min(1.0, y + 0.05), n=40),
            context_mean=x,
            control="floor" if name == "no_memory" else "",
        )
        for name, (x, y) in [*RUNS[run].items(), ("no_memory", (40.0, 0.0))]
    ]
    names = tuple(RUNS[run])
    boards = tuple(
        SimpleNamespace(rows=tuple(rows), budget=budget, dataset="") for budget in (1024, 4096)
    )
    made: Any = SimpleNamespace(
        board=boards[1],
        boards=boards,
        strategies=names,
        looks=strategy_looks([row.strategy for row in rows]),
        narrow=narrow,
        width=3.5 if narrow else 6.4,
        letters=20 if narrow else 30,
        frames=SimpleNamespace(probes=_probes(run), facts=_facts(run)),
        of_board=lambda frame: frame,
    )
    told: PlotMaterial = made
    return told


def _probes(run: str) -> pd.DataFrame:
    """Forty probes of each strategy at three ages, of which the oldest some are not asked."""
    rows = [
        {"strategy": name, "control": "", "age": age, "recall": float(n < y * 12)}
        for place, (name, (_, y)) in enumerate(RUNS[run].items())
        for age in (2, 15, 60)[: 2 + (place % 3 > 0)]
        for n in range(12)
    ]
    return pd.DataFrame(rows)


def _facts(run: str) -> pd.DataFrame:
    """What compactions leave; the lines end early or late."""
    rows = [
        {"strategy": name, "control": "", "compactions": count, "there": n < 8 * y}
        for place, (name, (_, y)) in enumerate(RUNS[run].items())
        for count in range(4 + place)
        for n in range(8)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("run", "narrow"),
    [*((run, False) for run in RUNS), ("four", True), ("a few", True), ("twelve in a crowd", True)],
)
def test_no_line_crosses_a_name_and_no_name_another(run: str, narrow: bool) -> None:
    """In the figures themselves, measured as they are drawn."""
    told = material(run, narrow=narrow)
    for plot in NAMED if run in PANELS else NAMED[:3]:
        with styled(), warnings.catch_warnings():
            # Of signs that its own font lacks: a browser draws them in the reader's.
            warnings.simplefilter("ignore")
            picture = PLOTS[plot](told)
            assert picture is not None, plot
            assert [] == list(_faults(picture.figure)), plot


def _faults(figure: Figure) -> Iterator[str]:
    canvas = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    names = [(text, _box(text, canvas)) for text in _texts(figure)]
    whole = figure.bbox
    for text, box in names:
        if box.left < -1 or box.right > whole.width + 1 or box.low < -1 or box.high > whole.height:
            yield f"{text.get_text()} is cut off: {box}"
    for (one, a), (other, b) in combinations(names, 2):
        if a.overlaps(b):
            yield f"{one.get_text()} overlaps {other.get_text()}"
    lines = list(_segments(figure))
    for text, box in names:
        if any(box.meets(line) for line in lines):
            yield f"a line crosses {text.get_text()}"


def _texts(figure: Figure) -> list[Text]:
    found = [text for axes in figure.axes for text in (*axes.texts, axes.title, axes._left_title)]  # type: ignore[attr-defined]
    found += [text for legend in figure.legends for text in legend.get_texts()]
    return [text for text in found if text.get_text() and text.get_visible()]


def _box(text: Text, canvas: FigureCanvasAgg) -> LabelBox:
    """The box of a text, less the air around its letters."""
    found = text.get_window_extent(canvas.get_renderer())  # type: ignore[no-untyped-call]
    air = 1.2
    return LabelBox(left=found.x0, right=found.x1, low=found.y0 + air, high=found.y1 - air)


def _segments(figure: Figure) -> Iterator[Segment]:
    for line in (line for axes in figure.axes for line in axes.lines if axes.get_visible()):
        points = np.asarray(line.get_xydata(), dtype=float)
        if str(line.get_drawstyle()).startswith("steps"):
            corners = [[after[0], before[1]] for before, after in pairwise(points)]
            points = np.vstack([points[:1], *zip(corners, points[1:], strict=True)])
        places = line.get_transform().transform(points)
        yield from ((*one, *two) for one, two in pairwise(places))
        if line.get_marker() not in {"None", "", None}:
            half = 0.35 * line.get_markersize() * figure.dpi / 72
            yield from ((x - half, y, x + half, y) for x, y in places)


SPOT = st.builds(
    lambda name, x, y: LabelPoint(name=name, x=x, y=y, low=y, high=y),
    st.text("ab:=記", min_size=1, max_size=30),
    st.sampled_from([0.0, 20.0, 21.0, 200.0, 399.0]),
    st.sampled_from([0.0, 5.0, 100.0, 250.0]),
)


@settings(max_examples=8, phases=(Phase.explicit, Phase.generate))
@given(st.lists(SPOT, max_size=14))
def test_every_point_gets_a_place_of_its_own_and_always_the_same(spots: list[LabelPoint]) -> None:
    """Beside it or in the column; also where many points are one."""
    found = with_column(spots, [(0, 100, 400, 100)], 400, 250)

    assert [*range(len(spots))] == sorted(found)
    assert found == with_column(list(spots), [(0, 100, 400, 100)], 400, 250)
    boxes = [place.box for place in found.values()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    leaders = [place.leader for place in found.values() if place.leader]
    assert not any(box.meets(line) for box in boxes for line in leaders)
    aside = column(spots, 400, 250)
    assert all(0 <= place.box.low and place.box.high <= 250 for place in aside.values())


def test_a_line_meets_a_box_that_it_only_passes_through() -> None:
    """With neither end inside; and not one beside it."""
    box = LabelBox(left=10, right=20, low=10, high=20)

    for line in ((0, 15, 30, 15), (15, 0, 15, 30), (0, 0, 30, 30), (12, 12, 13, 13)):
        assert box.meets(line)
    for line in ((0, 9, 30, 9), (21, 0, 21, 30), (0, 15, 9, 15), (0, 12, 12, 0)):
        assert not box.meets(line)


def test_short_names_stay_different_and_keep_what_tells_them_apart() -> None:
    """The folder of a file goes first, then the middle of the name."""
    names = short_names(LONG)

    assert len(LONG) == len({*names.values()})
    assert "layered:archive…t,neighbours=4" == names[LONG[0]]
    assert names[LONG[2]].startswith("AVery")
    assert "mine.py@ذاكرة" == names["mine.py@ذاكرة"]
    assert {"a" * 40: f"{'a' * 15}…{'a' * 14}"} == short_names(["a" * 40, "a" * 40])
    twins = short_names(["a" * 40, "a" * 41])
    assert 2 == len({*twins.values()})
