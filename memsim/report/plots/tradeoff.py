"""Plot the trade-off: recall by context tokens, and recall by budget."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.ticker import FuncFormatter, NullLocator

from memsim.config import show_budget
from memsim.report.plots.named_lines import NamedLine, axes_of_lines
from memsim.report.plots.named_points import front_of, point_axes, recall_of, steps_of
from memsim.report.plots.style import FAINT, Picture, PlotMaterial, figure_of, share
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
    front = front_of(whole, _tokens)
    path = [(_tokens(r), recall_of(r)) for r in front]
    axes = point_axes(rows, _tokens, steps_of(path), material)
    xs, ys = zip(*path, strict=True)
    behind = (0, (4, 3))
    axes.step(xs, ys, where="post", color=FAINT, linewidth=1, linestyle=behind, zorder=1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _short(x)))
    hollow = "; hollow: scored only in part" if any(r.partial for r in rows) else ""
    joint = "\n" if hollow and material.narrow else ""
    axes.set_xlabel(f"mean tokens of the context, per turn (log){joint}{hollow}")
    unread = any(r.unread for r in rows)
    axes.set_ylabel("evidence recall" if unread else "recall")
    best = max(whole, key=lambda r: (recall_of(r), -_tokens(r)))
    useful = [r for r in front if recall_of(r) >= recall_of(best) / 2]
    cheap = min(useful, key=_tokens)
    asked = "probes with evidence" if unread else "answerable probes"
    caption = (
        f"At {show_budget(board.budget)}, {best.strategy} remembers most:"
        f" {share(recall_of(best))} of {best.lead.n:,} {asked}"
        f" at {_short(_tokens(best))} tokens a turn."
    )
    if cheap is not best:
        caption += (
            " The cheapest that nothing beats, and that remembers at least half as much, is"
            f" {cheap.strategy}: {share(recall_of(cheap))} at"
            f" {_short(_tokens(cheap))}."
        )
    return Picture(
        name="trade-off", title="Recall against context", caption=caption, figure=figure_of(axes)
    )


MOST_BANDS = 5
"""Lines that are drawn with their intervals; of more, one would hide another."""


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
        points = [(budget, recall_of(r)) for budget, r in found if r.lead.mean is not None]
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


def _tokens(row: BoardRow) -> float:
    return row.context_mean or 0.0


def _short(tokens: float) -> str:
    return f"{tokens / 1000:.1f}k".replace(".0k", "k") if tokens >= 1000 else f"{tokens:.0f}"
