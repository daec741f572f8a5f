"""Plot every change against the baseline with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from memsim.gate.comparison import Comparison, MetricChange
from memsim.gate.score_sheet import is_share
from memsim.report.layout import UNICODE
from memsim.report.plots.labels import middle_cut, short_names
from memsim.report.plots.style import FAINT, INK, Picture, PlotMaterial

WORDS: dict[str, tuple[str, str, str, Any]] = {
    "worse": ("#d55e00", "v", "#d55e00", "-"),
    "better": ("#0072b2", "^", "#0072b2", "-"),
    "same": ("#767676", "o", "#767676", "-"),
    "unsure": ("#7b3294", "D", "white", (0, (1.5, 1.5))),
}
"""Colour, mark, filling and line of each word: told apart without colours too."""
_OTHER: tuple[str, str, str, Any] = (FAINT, "s", "white", "-")


def forest(material: PlotMaterial) -> Picture | None:
    """Plot the change of each metric against the baseline with its interval."""
    comparison = material.summary.comparison
    cells = [c for c in comparison.cells if c.low is not None] if comparison else []
    if not comparison or not cells:
        return None
    narrow = material.narrow
    width = material.width * (1.0 if narrow else 1.1)
    figure = Figure(
        figsize=(width, (1.5 if narrow else 1.05) + (0.42 if narrow else 0.3) * len(cells))
    )
    axes = figure.subplots()
    limit = _limit(cells)
    axes.set_xlim(-limit, limit)
    margin = max(cell.margin for cell in cells)
    axes.axvspan(-margin, margin, color="#efefef", zorder=0)
    axes.axvline(0, color=FAINT, linewidth=1)
    for place, cell in enumerate(reversed(cells)):
        _whisker(axes, place, cell, limit)
    shown = short_names([cell.variant for cell in cells], material.letters)
    joint = "\n" if narrow else "  "
    named = [f"{shown[cell.variant]}{joint}{cell.metric}" for cell in reversed(cells)]
    axes.set_yticks(range(len(cells)), named)
    axes.set_ylim(-0.7, len(cells) - 0.3)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(3 if narrow else 5, symmetric=True))
    joint = ";\n" if narrow else "; "
    said = [f"change against {middle_cut(comparison.base, 30)}", "grey: too small to count"]
    if any(_ends(cell, limit)[2] for cell in cells):
        said.append("an arrow: it goes on")
    axes.set_xlabel(joint.join(said))
    _legend(figure, cells, columns=2 if narrow else 4)
    title = f"Against {comparison.base}"
    return Picture(name="forest", title=title, caption=_caption(comparison, cells), figure=figure)


def _limit(cells: Sequence[MetricChange]) -> float:
    """How far the axis goes: as far as shares do, and for amounts alone as far as most of them."""
    ends = {c: max(abs(c.low or 0.0), abs(c.high or 0.0), abs(c.change or 0.0)) for c in cells}
    shares = [end for c, end in ends.items() if is_share(c.metric)]
    amounts = sorted(end for c, end in ends.items() if not is_share(c.metric))
    least = 3 * max(c.margin for c in cells)
    widest = max(shares) if shares else 2 * amounts[len(amounts) // 2]
    return 1.06 * max(least, min(widest, max(ends.values())), 0.05)


def _ends(cell: MetricChange, limit: float) -> tuple[float, float, bool]:
    low, high = cell.low or 0.0, cell.high or 0.0
    return max(low, -limit), min(high, limit), low < -limit or high > limit


def _whisker(axes: Axes, place: int, cell: MetricChange, limit: float) -> None:
    ink, mark, filling, line = WORDS.get(cell.word, _OTHER)
    low, high, _ = _ends(cell, limit)
    if low < high:
        axes.plot([low, high], [place, place], color=ink, linewidth=2, linestyle=line)
    change = cell.change or 0.0
    if abs(change) <= limit:
        axes.plot(
            [change], [place], mark, color=ink, markerfacecolor=filling, markersize=6.5, zorder=3
        )
    for end, beyond, arrow in (
        (-limit, (cell.low or 0.0) < -limit, "<"),
        (limit, (cell.high or 0.0) > limit, ">"),
    ):
        if beyond:
            axes.plot([end], [place], arrow, color=ink, markersize=7, clip_on=False, zorder=4)
    axes.annotate(
        f"{_signed(cell)}  {cell.word}",
        (1, place),
        xycoords=("axes fraction", "data"),
        xytext=(9, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=ink if cell.word in WORDS else INK,
        annotation_clip=False,
    )


def _legend(figure: Figure, cells: Sequence[MetricChange], columns: int) -> None:
    from matplotlib.lines import Line2D

    words = [word for word in WORDS if any(c.word == word for c in cells)]
    handles = [
        Line2D([], [], color=ink, marker=mark, markerfacecolor=filling, linestyle=line)
        for ink, mark, filling, line in (WORDS[word] for word in words)
    ]
    figure.legend(handles, words, loc="outside upper left", ncols=columns, fontsize=8)


def _caption(comparison: Comparison, cells: Sequence[MetricChange]) -> str:
    worse = [c for c in cells if c.word == "worse"]
    unsure = sum(c.word == "unsure" for c in cells)
    more = f" {unsure} changes cannot be told from noise." if unsure > 1 else ""
    more = " One change cannot be told from noise." if unsure == 1 else more
    if not worse:
        return f"Nothing is shown to be worse than {comparison.base}.{more}"
    first = min(worse, key=lambda c: c.change or 0.0)
    lost = f", {first.lost} probes lost" if first.lost else ""
    what = f"{first.metric} {_signed(first)}{lost}"
    return f"{first.variant} is worse than {comparison.base}: {what}.{more}"


def _signed(cell: MetricChange) -> str:
    change = cell.change or 0.0
    shown = f"{change:+.2f}" if is_share(cell.metric) else f"{change:+.0%}"
    return shown.replace("-", UNICODE.minus)
