"""Draw lines with their names at the right of the axes or, on a phone, in a key below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memsim.report.plots.labels import (
    LINE_HEIGHT,
    SIZE,
    LabelPoint,
    column,
    column_width,
    name_width,
    short_names,
    write_names,
)
from memsim.report.plots.palette import StrategyLook, lettering
from memsim.report.plots.style import HALF_PAGE, NARROW, figure_of

POINTS = 72
"""Points of an inch."""
MARGIN = 0.04
"""Room between the axes' ends and the first and last points, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotSize:
    """The size of axes and of what is around them, in points.

    Attributes:
        below: room under the axes, with their label.
        right: room to their right.
    """

    width: float
    height: float
    left: float = 44.0
    below: float = 40.0
    right: float = 8.0
    above: float = 8.0

    @classmethod
    def of(cls, inches: tuple[float, float]) -> PlotSize:
        """The size of axes that fill a figure."""
        bare = cls(width=0.0, height=0.0)
        return replace(
            bare,
            width=POINTS * inches[0] - bare.left - bare.right,
            height=POINTS * inches[1] - bare.below - bare.above,
        )

    def with_column(self, names: Iterable[str]) -> PlotSize:
        """Make room for a column of names, and for the height of all of them."""
        known = list(names)
        room = column_width(known) + 2.0
        return replace(
            self,
            width=self.width + self.right - room,
            right=room,
            height=max(self.height, LINE_HEIGHT * len(known)),
        )

    def axes(self) -> Axes:
        """Make a figure of this size with its axes."""
        wide = self.left + self.width + self.right
        tall = self.below + self.height + self.above
        figure = Figure(figsize=(wide / POINTS, tall / POINTS))
        figure.set_layout_engine("none")
        place = (self.left / wide, self.below / tall, self.width / wide, self.height / tall)
        return figure.add_axes(place)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLine:
    """A line of a strategy, with its last point at its end.

    Attributes:
        band: lower and upper ends of the intervals.
        steps: whether it stays level until the next point.
    """

    name: str
    look: StrategyLook
    xs: Sequence[float]
    ys: Sequence[float]
    band: tuple[Sequence[float], Sequence[float]] | None = None
    steps: bool = False

    def draw(self, axes: Axes) -> None:
        """Draw the line with its marks and its band."""
        ink, look = self.look.colour, self.look
        shape: Any = "steps-post" if self.steps else "default"
        axes.plot(
            self.xs,
            self.ys,
            color=ink,
            linestyle=look.dash,
            marker=look.mark,
            markersize=4,
            drawstyle=shape,
        )
        if self.band is not None:
            axes.fill_between(self.xs, *self.band, color=ink, alpha=0.09, linewidth=0)


def axes_of_lines(
    lines: Sequence[NamedLine],
    heights: tuple[float, float],
    *,
    narrow: bool = False,
    log: bool = False,
) -> Axes:
    """Make axes for lines, with the names of the lines that no line crosses."""
    names = short_names([line.name for line in lines])
    low, high = _ends(lines, log=log)
    if narrow:
        axes = keyed_axes([(names[line.name], line.look) for line in lines], lines=True)
    else:
        size = PlotSize.of(HALF_PAGE).with_column(names.values())
        axes = size.axes()
        points = [_last(line, names[line.name], size, (low, high), heights, log) for line in lines]
        places = column(points, size.width, size.height)
        inks = [lettering(line.look.colour) for line in lines]
        named = [(place, points[n].name, inks[n]) for n, place in places.items()]
        write_names(axes, named, scale=(size.width, size.height))
    axes.set_xscale("log" if log else "linear")
    axes.set_xlim(low, high)
    axes.set_ylim(*heights)
    return axes


def _ends(lines: Sequence[NamedLine], *, log: bool) -> tuple[float, float]:
    low, high = min(min(line.xs) for line in lines), max(max(line.xs) for line in lines)
    if log:
        room = (high / low) ** MARGIN if high > low else 1.5
        return low / room, high * room
    room = MARGIN * (high - low) or 0.5
    return low - room, high + room


def _last(
    line: NamedLine,
    name: str,
    size: PlotSize,
    ends: tuple[float, float],
    heights: tuple[float, float],
    log: bool,  # noqa: FBT001 - as the axes are
) -> LabelPoint:
    low, high, at = map(math.log, (*ends, line.xs[-1])) if log else (*ends, line.xs[-1])
    x = size.width * (at - low) / (high - low)
    y = size.height * (line.ys[-1] - heights[0]) / (heights[1] - heights[0])
    return LabelPoint(name=name, x=x, y=y, low=y, high=y)


KEY_LINE = 11.9
"""The height of a line of a key."""


def keyed_axes(entries: Sequence[tuple[str, StrategyLook]], *, lines: bool = False) -> Axes:
    """Make narrow axes with a key of marks and names below them."""
    room = NARROW * POINTS
    widest = max(name_width(name) for name, _ in entries)
    columns = 2 if len(entries) > 1 and 2 * (widest + 38) < room else 1
    rows = -(-len(entries) // columns)
    key = KEY_LINE * rows + 8
    bare = PlotSize(width=room - 44 - 8, height=190.0)
    axes = replace(bare, below=bare.below + key).axes()
    handles = [
        Line2D(
            [],
            [],
            color=look.colour,
            marker=look.mark,
            markersize=5,
            linestyle=look.dash if lines else "",
        )
        for _, look in entries
    ]
    figure_of(axes).legend(
        handles,
        [name for name, _ in entries],
        loc="lower left",
        bbox_to_anchor=(0.0, 0.0),
        ncols=columns,
        fontsize=SIZE,
        handlelength=2.4 if lines else 1.2,
        labelspacing=0.45,
        borderaxespad=0.2,
        columnspacing=1.0,
    )
    return axes
