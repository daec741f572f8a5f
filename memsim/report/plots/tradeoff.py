"""Plot the trade-off: recall by context tokens, and recall by budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from memsim.config import show_budget
from memsim.report.plots.labels import (
    LabelPlace,
    LabelPoint,
    Segment,
    beside,
    short_names,
    with_column,
    write_names,
)
from memsim.report.plots.named_lines import NamedLine, PlotSize, axes_of_lines, keyed_axes
from memsim.report.plots.palette import StrategyLook, lettering
from memsim.report.plots.style import FAINT, HALF_PAGE, Picture, PlotMaterial, figure_of, share
from memsim.report.run_summary import BoardRow


def trade_off(material: PlotMaterial) -> Picture | None:
    """Plot recall by mean context tokens, with the Pareto front."""
    board = material.board
    if board is None:
        return None
    rows = [r for r in board.rows if r.lead.mean is not None and r.context_mean]
    compared = [r for r in rows if not r.control]
    if len(compared) < 2:
        return None
    whole = [r for r in compared if not r.partial] or compared
    front = _front(whole)
    axes = _points_with_names(rows, front, material)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _short(x)))
    hollow = "; hollow: scored only in part" if any(r.partial for r in rows) else ""
    joint = "\n" if hollow and material.narrow else ""
    axes.set_xlabel(f"mean tokens of the context, per turn (log){joint}{hollow}")
    unread = any(r.unread for r in rows)
    axes.set_ylabel("evidence recall" if unread else "recall")
    best = max(whole, key=lambda r: (_recall(r), -_tokens(r)))
    useful = [r for r in front if _recall(r) >= _recall(best) / 2]
    cheap = min(useful, key=_tokens)
    asked = "probes with evidence" if unread else "answerable probes"
    caption = (
        f"At {show_budget(board.budget)}, {best.strategy} remembers most: {share(_recall(best))} of"
        f" {best.lead.n:,} {asked} at {_short(_tokens(best))} tokens a turn."
    )
    if cheap is not best:
        caption += (
            " The cheapest that nothing beats, and that remembers at least half as much, is"
            f" {cheap.strategy}: {share(_recall(cheap))} at"
            f" {_short(_tokens(cheap))}."
        )
    return Picture(
        name="trade-off", title="Recall against context", caption=caption, figure=figure_of(axes)
    )


def _points_with_names(
    rows: Sequence[BoardRow], front: Sequence[BoardRow], material: PlotMaterial
) -> Axes:
    """Draw the points, and names that nothing crosses: beside them, at the right or below."""
    ordered = sorted(rows, key=lambda r: (-_recall(r), r.strategy))
    looks = material.looks
    names = short_names([r.strategy for r in ordered])
    scale = _Scale(ordered, names, [(_tokens(r), _recall(r)) for r in front])
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
    axes.set_xticks(scale.ticks(few=material.narrow))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(*RECALL)
    xs, ys = [_tokens(r) for r in front], [_recall(r) for r in front]
    behind = (0, (4, 3))
    axes.step(xs, ys, where="post", color=FAINT, linewidth=1, linestyle=behind, zorder=1)
    for row in rows:
        _cross(axes, row, looks[row.strategy])
    return axes


RECALL = (-0.03, 1.06)
MOST_BANDS = 5
"""Lines that are drawn with their intervals; of more, one would hide another."""


class _Scale:
    """The places of points in points of the axes, whatever the size of these is."""

    def __init__(
        self,
        rows: Sequence[BoardRow],
        names: Mapping[str, str],
        front: Sequence[tuple[float, float]],
    ) -> None:
        tokens = [_tokens(r) for r in rows]
        self.low, self.high = min(tokens) * 0.8, max(tokens) * 1.4
        self._rows, self._names, self._front = rows, names, front

    def ticks(self, *, few: bool) -> list[int]:
        steps = (1,) if few and self.high > 20 * self.low else (1, 2, 5)
        known = [m * 10**e for e in range(7) for m in steps]
        return [tick for tick in known if self.low <= tick <= self.high]

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
                x=at(_tokens(row)),
                y=up(None, _recall(row)),
                low=up(row.lead.low, _recall(row)),
                high=up(row.lead.high, _recall(row)),
            )
            for row in self._rows
        ]
        lines: list[Segment] = []
        for (x, y), (x2, y2) in pairwise((at(x), up(y, 0.0)) for x, y in self._front):
            lines += [(x, y, x2, y), (x2, y, x2, y2)]
        return points, lines


@dataclass(frozen=True, slots=True)
class _Placed:
    """The size that a plot has to have, and the places of its names by their number."""

    size: PlotSize
    places: Mapping[int, LabelPlace]


def budget_sweep(material: PlotMaterial) -> Picture | None:
    """Plot recall by budget, one line for each strategy; needs several budgets."""
    boards = material.boards
    if len(boards) < 2:
        return None
    names = list(dict.fromkeys(r.strategy for b in boards for r in b.rows if not r.control))
    looks = material.looks
    lines: list[NamedLine] = []
    knees: dict[str, str] = {}
    for name in names:
        found = [(b.budget, r) for b in boards for r in b.rows if r.strategy == name]
        points = [(budget, _recall(r)) for budget, r in found if r.lead.mean is not None]
        if len(points) < 2:
            continue
        xs, ys = zip(*points, strict=True)
        lows = [r.lead.low for _, r in found if r.lead.low is not None]
        highs = [r.lead.high for _, r in found if r.lead.high is not None]
        whole = len(lows) == len(highs) == len(xs) and len(names) <= MOST_BANDS
        band = (lows, highs) if whole else None
        lines.append(NamedLine(name=name, look=looks[name], xs=xs, ys=ys, band=band))
        knees[name] = show_budget(_knee(points))
    if not lines:
        return None
    axes = axes_of_lines(lines, (-0.03, 1.03), narrow=material.narrow, log=True)
    for line in lines:
        line.draw(axes)
    axes.set_xticks([b.budget for b in boards], [show_budget(b.budget) for b in boards])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("budget of the context, tokens (log)")
    axes.set_ylabel("recall")
    best = max(lines, key=lambda line: line.ys[-1]).name
    caption = f"{best} comes within .02 of its best only at the largest budget, {knees[best]}."
    if knees[best] != show_budget(boards[-1].budget):
        caption = (
            f"{best} is within .02 of its best from {knees[best]} on;"
            " a larger budget buys it next to nothing."
        )
    return Picture(
        name="budget-sweep", title="What budget to buy", caption=caption, figure=figure_of(axes)
    )


def _front(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Select the Pareto front of tokens and recall, cheapest first."""
    front: list[BoardRow] = []
    for row in sorted(rows, key=lambda r: (_tokens(r), -_recall(r))):
        if not front or _recall(row) > _recall(front[-1]):
            front.append(row)
    return front


NEAR = 0.02
"""Recall that a larger budget may still add, and that counts as nothing."""


def _knee(points: Iterable[tuple[int, float]]) -> int:
    known = list(points)
    best = max(y for _, y in known)
    near = known[-1][0]
    for x, y in reversed(known):
        if y < best - NEAR:
            break
        near = x
    return near


def _cross(axes: Axes, row: BoardRow, look: StrategyLook) -> None:
    x, y = _tokens(row), _recall(row)
    ink = look.colour
    if row.lead.low is not None and row.lead.high is not None:
        axes.plot([x, x], [row.lead.low, row.lead.high], color=ink, linewidth=1.2, alpha=0.7)
    filling = "white" if row.partial else ink
    size = 5.5 if row.control else 7
    axes.plot([x], [y], marker=look.mark, markersize=size, color=ink, markerfacecolor=filling)


def _tokens(row: BoardRow) -> float:
    return row.context_mean or 0.0


def _recall(row: BoardRow) -> float:
    return row.lead.mean or 0.0


def _short(tokens: float) -> str:
    return f"{tokens / 1000:.1f}k".replace(".0k", "k") if tokens >= 1000 else f"{tokens:.0f}"
