"""Draw strategies as points of recall, with names that nothing crosses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from memsim.report.plots.labels import (
    LabelPlace,
    LabelPoint,
    Segment,
    beside,
    short_names,
    with_column,
    write_names,
)
from memsim.report.plots.named_lines import PlotSize, keyed_axes
from memsim.report.plots.palette import StrategyLook, lettering
from memsim.report.plots.style import HALF_PAGE, PlotMaterial
from memsim.report.run_summary import BoardRow

Across = Callable[[BoardRow], float]
"""What a row is plotted against: more than 0."""


def point_axes(
    rows: Sequence[BoardRow], across: Across, lines: Sequence[Segment], material: PlotMaterial
) -> Axes:
    """Draw the points, and names that nothing crosses: beside them, at the right or below.

    Args:
        rows: the points, by recall.
        across: the other number of each, on a logarithmic scale.
        lines: other lines that will be drawn, from and to points of the axes.
        material: the run.
    """
    ordered = sorted(rows, key=lambda r: (-recall_of(r), r.strategy))
    looks = material.looks
    names = short_names([r.strategy for r in ordered])
    scale = _Scale(ordered, names, across, lines)
    if material.narrow:
        axes = keyed_axes([(names[r.strategy], looks[r.strategy]) for r in rows])
    else:
        plot = scale.placed(PlotSize.of(HALF_PAGE))
        axes = plot.size.axes()
        inks = [lettering(looks[r.strategy].colour) for r in ordered]
        named = [(place, names[ordered[n].strategy], inks[n]) for n, place in plot.places.items()]
        write_names(axes, named, scale=(plot.size.width, plot.size.height))
    axes.set_xscale("log")
    axes.set_xlim(scale.low, scale.high)
    axes.set_xticks(ticks(scale.low, scale.high, few=material.narrow))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(*RECALL)
    for row in rows:
        _cross(axes, across(row), row, looks[row.strategy])
    return axes


RECALL = (-0.03, 1.06)

ROOM = 0.06
"""Share of the width at the right end that has no tick."""


def ticks(low: float, high: float, *, few: bool = False) -> list[float]:
    """The ticks of a logarithmic scale; `few` where it is narrow."""
    wide = high / low
    steps = (1,) if wide > 1000 or (few and wide > 20) else (1, 2, 5)
    known = [float(f"{m}e{e}") for e in range(-4, 7) for m in steps]
    # The number at a tick is centred, and would be cut at the right end of the picture.
    return [tick for tick in known if low <= tick <= high * wide**-ROOM]


class _Scale:
    """The places of points in points of the axes, whatever the size of these is."""

    def __init__(
        self,
        rows: Sequence[BoardRow],
        names: Mapping[str, str],
        across: Across,
        lines: Sequence[Segment],
    ) -> None:
        values = [*map(across, rows), *(x for line in lines for x in (line[0], line[2]))]
        self.low, self.high = min(values) * 0.8, max(values) * 1.4
        self._rows, self._names, self._across, self._lines = rows, names, across, lines

    def placed(self, size: PlotSize) -> _Placed:
        """Place each name beside its point; those without room get a column."""
        points, lines = self._in(size)
        places = beside(points, lines, size.width, size.height)
        if len(places) == len(points):
            return _Placed(size, places)
        size = size.with_column(self._names.values())
        points, lines = self._in(size)
        return _Placed(size, with_column(points, lines, size.width, size.height))

    def _in(self, size: PlotSize) -> tuple[list[LabelPoint], list[Segment]]:
        wide = size.width / math.log(self.high / self.low)
        tall = size.height / (RECALL[1] - RECALL[0])

        def at(x: float) -> float:
            return wide * math.log(x / self.low)

        def up(y: float | None, otherwise: float) -> float:
            return tall * ((otherwise if y is None else y) - RECALL[0])

        points = [
            LabelPoint(
                name=self._names[row.strategy],
                x=at(self._across(row)),
                y=up(None, recall_of(row)),
                low=up(row.lead.low, recall_of(row)),
                high=up(row.lead.high, recall_of(row)),
            )
            for row in self._rows
        ]
        lines: list[Segment] = [
            (at(x), up(y, 0.0), at(x2), up(y2, 0.0)) for x, y, x2, y2 in self._lines
        ]
        return points, lines


@dataclass(frozen=True, slots=True)
class _Placed:
    """The size that a plot has to have, and the places of its names by their number."""

    size: PlotSize
    places: Mapping[int, LabelPlace]


def front_of(rows: Sequence[BoardRow], across: Across) -> list[BoardRow]:
    """Select the Pareto front of recall and a cost, cheapest first."""
    front: list[BoardRow] = []
    for row in sorted(rows, key=lambda r: (across(r), -recall_of(r))):
        if not front or recall_of(row) > recall_of(front[-1]):
            front.append(row)
    return front


def _cross(axes: Axes, x: float, row: BoardRow, look: StrategyLook) -> None:
    y = recall_of(row)
    ink = look.colour
    if row.lead.low is not None and row.lead.high is not None:
        axes.plot([x, x], [row.lead.low, row.lead.high], color=ink, linewidth=1.2, alpha=0.7)
    filling = "white" if row.partial else ink
    size = 5.5 if row.control else 7
    axes.plot([x], [y], marker=look.mark, markersize=size, color=ink, markerfacecolor=filling)


def recall_of(row: BoardRow) -> float:
    """The recall by which a row is ranked; 0 where there is none."""
    return row.lead.mean or 0.0


def steps_of(path: Sequence[tuple[float, float]]) -> list[Segment]:
    """The lines of a step function through some points."""
    lines: list[Segment] = []
    for (x, y), (x2, y2) in pairwise(path):
        lines += [(x, y, x2, y), (x2, y, x2, y2)]
    return lines
