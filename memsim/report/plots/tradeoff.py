"""Plot the trade-off: recall by context tokens, and recall by budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from memsim.config import show_budget
from memsim.report.plots.style import (
    CONTROL,
    FAINT,
    HALF_PAGE,
    Picture,
    PlotMaterial,
    colour,
    dashes,
    label_ends,
    lettering,
    share,
)
from memsim.report.run_summary import BoardRow

# Names beside points, placed so that none covers a point, a line or another name.

LETTER, LINE = 0.0132, 0.046
"""The size of a letter and of a line of a name."""
AROUND = (0.012, 0.022)
"""Half the width and half the height of a point's mark."""
BESIDE = 0.017
"""From the middle of a point to its name."""
ROUNDS = 4
"""How often each name may move once the others stand."""

_UP = (0.0, 0.03, -0.03, 0.05, -0.05, 0.075, -0.075, 0.1, -0.1, 0.14, -0.14)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelBox:
    """A part of the axes."""

    left: float
    right: float
    low: float
    high: float

    def shared(self, other: LabelBox) -> float:
        """The overlap of the two boxes."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.high, other.high) - max(self.low, other.low)
        return max(0.0, wide) * max(0.0, tall)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPoint:
    """A point with its name.

    Attributes:
        x, y: of the point.
        low, high: ends of its interval; the same as `y` where it has none.
    """

    name: str
    x: float
    y: float
    low: float
    high: float

    @property
    def mark(self) -> LabelBox:
        """What the point itself covers."""
        wide, tall = AROUND
        return LabelBox(
            left=self.x - wide, right=self.x + wide, low=self.y - tall, high=self.y + tall
        )

    @property
    def line(self) -> LabelBox:
        """What its interval covers."""
        return LabelBox(left=self.x - 0.003, right=self.x + 0.003, low=self.low, high=self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlace:
    """Where a name stands.

    Attributes:
        cost: of the place alone: how far it is from where one would look first.
        far: whether a line has to lead to it.
    """

    box: LabelBox
    cost: float
    far: bool

    @property
    def middle(self) -> float:
        """Of its height."""
        return (self.box.low + self.box.high) / 2


def placed(spots: Sequence[LabelPoint]) -> list[LabelPlace]:
    """Choose a place for the name of each point, in their order."""
    choices = [list(_choices(spot)) for spot in spots]
    found = [options[0] for options in choices]
    done: list[int] = []
    for turn in range(ROUNDS):
        for n, options in enumerate(choices):
            others = [found[k].box for k in (done if turn == 0 else range(len(spots))) if k != n]
            found[n] = min(options, key=lambda place: _cost(place, spots, others))
            if turn == 0:
                done.append(n)
    return found


def _choices(spot: LabelPoint) -> Iterator[LabelPlace]:
    wide, half = LETTER * len(spot.name), LINE / 2
    for up in _UP:
        for side, left in ((0.0, spot.x + BESIDE), (0.4, spot.x - BESIDE - wide)):
            at = spot.y + up
            box = LabelBox(left=left, right=left + wide, low=at - half, high=at + half)
            yield LabelPlace(box=box, cost=side + 12 * abs(up), far=abs(up) > 0.06)
    for up in (0.052, -0.052):
        at, left = spot.y + up, spot.x - wide / 2
        box = LabelBox(left=left, right=left + wide, low=at - half, high=at + half)
        yield LabelPlace(box=box, cost=0.8, far=False)


def _cost(place: LabelPlace, spots: Sequence[LabelPoint], others: Iterable[LabelBox]) -> float:
    box = place.box
    size = (box.right - box.left) * (box.high - box.low)
    upon = sum(bool(box.shared(spot.mark)) for spot in spots)
    lines = sum(bool(box.shared(spot.line)) for spot in spots)
    names = sum(box.shared(other) / size for other in others)
    outside = box.left < 0 or box.right > 1 or box.low < 0 or box.high > 1
    return place.cost + 6 * upon + 2 * lines + 40 * names + 50 * outside


def trade_off(material: PlotMaterial) -> Picture | None:
    """Plot recall by mean context tokens, with the Pareto front."""
    board = material.board
    if board is None:
        return None
    rows = [r for r in board.rows if r.recall.mean is not None and r.context_mean]
    compared = [r for r in rows if not r.control]
    if len(compared) < 2:
        return None
    figure = Figure(figsize=HALF_PAGE)
    axes = figure.subplots()
    whole = [r for r in compared if not r.partial] or compared
    front = _front(whole)
    axes.step(
        [_tokens(r) for r in front],
        [_recall(r) for r in front],
        where="post",
        color=FAINT,
        linewidth=1,
        linestyle=(0, (4, 3)),
        zorder=1,
    )
    for row in rows:
        _cross(axes, row)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _short(x)))
    _log_ticks(axes, [_tokens(r) for r in rows])
    axes.set_ylim(-0.03, 1.06)
    hollow = "; hollow: scored only in part" if any(r.partial for r in rows) else ""
    axes.set_xlabel(f"mean tokens of the context, per turn (log){hollow}")
    axes.set_ylabel("recall")
    _name_points(axes, rows)
    best = max(whole, key=lambda r: (_recall(r), -_tokens(r)))
    cheap = min(front, key=_tokens)
    caption = (
        f"At {show_budget(board.budget)}, {best.strategy} remembers most: {share(_recall(best))} of"
        f" {best.recall.n:,} answerable probes at {_short(_tokens(best))} tokens a turn."
    )
    if cheap is not best:
        caption += (
            f" The cheapest that nothing beats is {cheap.strategy}: {share(_recall(cheap))} at"
            f" {_short(_tokens(cheap))}."
        )
    return Picture(name="trade-off", title="Recall against context", caption=caption, figure=figure)


def budget_sweep(material: PlotMaterial) -> Picture | None:
    """Plot recall by budget, one line for each strategy; needs several budgets."""
    boards = material.boards
    if len(boards) < 2:
        return None
    figure = Figure(figsize=HALF_PAGE)
    axes = figure.subplots()
    names = list(dict.fromkeys(r.strategy for b in boards for r in b.rows if not r.control))
    styles = dashes(names)
    ends = []
    knees: dict[str, str] = {}
    for name in names:
        found = [(b.budget, r) for b in boards for r in b.rows if r.strategy == name]
        points = [(budget, _recall(r)) for budget, r in found if r.recall.mean is not None]
        if len(points) < 2:
            continue
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, color=colour(name), linestyle=styles[name], marker="o", markersize=4)
        lows = [r.recall.low for _, r in found if r.recall.low is not None]
        highs = [r.recall.high for _, r in found if r.recall.high is not None]
        if len(lows) == len(highs) == len(xs):
            axes.fill_between(xs, lows, highs, color=colour(name), alpha=0.1, linewidth=0)
        ends.append((xs[-1], ys[-1], name, colour(name)))
        knees[name] = show_budget(_knee(points))
    if not ends:
        return None
    axes.set_xscale("log")
    axes.set_xticks([b.budget for b in boards], [show_budget(b.budget) for b in boards])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlabel("budget of the context, tokens (log)")
    axes.set_ylabel("recall")
    label_ends(axes, ends, gap=0.045)
    best = max(ends, key=lambda end: end[1])[2]
    caption = f"{best} comes within .02 of its best only at the largest budget, {knees[best]}."
    if knees[best] != show_budget(boards[-1].budget):
        caption = (
            f"{best} is within .02 of its best from {knees[best]} on;"
            " a larger budget buys it next to nothing."
        )
    return Picture(name="budget-sweep", title="What budget to buy", caption=caption, figure=figure)


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


def _cross(axes: Axes, row: BoardRow) -> None:
    ink = CONTROL if row.control else colour(row.strategy)
    x, y = _tokens(row), _recall(row)
    if row.recall.low is not None and row.recall.high is not None:
        axes.plot([x, x], [row.recall.low, row.recall.high], color=ink, linewidth=1.2, alpha=0.7)
    mark, size = ("D", 5) if row.control else ("o", 7)
    filling = "white" if row.partial else ink
    axes.plot([x], [y], marker=mark, markersize=size, color=ink, markerfacecolor=filling)


def _name_points(axes: Axes, rows: Sequence[BoardRow]) -> None:
    """Write names beside the points, so that nothing overlaps."""
    to_share = axes.transData + axes.transAxes.inverted()

    def up(row: BoardRow, value: float) -> float:
        return float(to_share.transform((_tokens(row), value))[1])

    ordered = sorted(rows, key=lambda r: (-_recall(r), r.strategy))
    spots = [
        LabelPoint(
            name=row.strategy,
            x=float(to_share.transform((_tokens(row), _recall(row)))[0]),
            y=up(row, _recall(row)),
            low=up(row, _recall(row) if row.recall.low is None else row.recall.low),
            high=up(row, _recall(row) if row.recall.high is None else row.recall.high),
        )
        for row in ordered
    ]
    for row, spot, place in zip(ordered, spots, placed(spots), strict=True):
        ink = CONTROL if row.control else colour(row.strategy)
        if place.far:
            near = place.box.left if place.box.left > spot.x else place.box.right
            axes.plot(
                [spot.x, near],
                [spot.y, place.middle],
                transform=axes.transAxes,
                color=ink,
                linewidth=0.6,
                alpha=0.7,
                zorder=1,
            )
        axes.text(
            place.box.left,
            place.middle,
            row.strategy,
            transform=axes.transAxes,
            va="center",
            fontsize=8,
            color=lettering(ink),
        )


def _log_ticks(axes: Axes, values: Sequence[float]) -> None:
    low, high = min(values) * 0.8, max(values) * 2.4
    axes.set_xlim(low, high)
    ticks = [t for e in range(1, 7) for t in (10**e, 2 * 10**e, 5 * 10**e) if low <= t <= high]
    axes.set_xticks(ticks)
    axes.xaxis.set_minor_locator(NullLocator())


def _tokens(row: BoardRow) -> float:
    return row.context_mean or 0.0


def _recall(row: BoardRow) -> float:
    return row.recall.mean or 0.0


def _short(tokens: float) -> str:
    return f"{tokens / 1000:.1f}k".replace(".0k", "k") if tokens >= 1000 else f"{tokens:.0f}"
