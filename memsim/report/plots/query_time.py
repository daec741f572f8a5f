"""Plot accuracy against latency: recall by the time that a question takes."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter

from memsim.latency import REAL, LatencyRow
from memsim.report.number_format import milliseconds
from memsim.report.plots.labels import Segment
from memsim.report.plots.named_points import front_of, point_axes, recall_of
from memsim.report.plots.style import Picture, PlotMaterial, figure_of, share
from memsim.report.run_summary import BoardRow
from memsim.runs.latency_file import latency_by_strategy


def query_time(material: PlotMaterial) -> Picture | None:
    """Plot recall by the median time of a query; None where nothing was timed."""
    times = _query_times(material)
    board = material.board
    if board is None:
        return None
    rows = [r for r in board.rows if r.lead.mean is not None and r.strategy in times]
    compared = [r for r in rows if not r.control]
    if len(compared) < 2:
        return None

    def median(row: BoardRow) -> float:
        return times[row.strategy].p50

    tails: list[Segment] = [
        (median(r), recall_of(r), times[r.strategy].p95, recall_of(r)) for r in rows
    ]
    axes = point_axes(rows, median, tails, material)
    for row, (x, y, x2, y2) in zip(rows, tails, strict=True):
        ink = material.looks[row.strategy].colour
        axes.plot([x, x2], [y, y2], color=ink, linewidth=1, alpha=0.6, zorder=1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: milliseconds(x)))
    joint = "\n" if material.narrow else " "
    axes.set_xlabel(f"time of a query: median, line to 95th percentile{joint}(log)")
    axes.set_ylabel("evidence recall" if any(r.unread for r in rows) else "recall")
    return Picture(
        name="latency",
        title="Recall against latency",
        caption=_caption(compared, times),
        figure=figure_of(axes),
    )


def _query_times(material: PlotMaterial) -> dict[str, LatencyRow]:
    board = material.board
    found = latency_by_strategy(material.frames.run.cases)
    return {
        strategy: row
        for (strategy, budget, dataset), rows in found.items()
        if board and (budget, dataset) == (board.budget, board.dataset)
        for row in rows
        if (row.operation, row.clock) == ("query", REAL)
    }


def _caption(compared: list[BoardRow], times: dict[str, LatencyRow]) -> str:
    def median(row: BoardRow) -> float:
        return times[row.strategy].p50

    best = max(compared, key=lambda r: (recall_of(r), -median(r)))
    quick = front_of(compared, median)[0]
    said = (
        f"{best.strategy} remembers most, {share(recall_of(best))},"
        f" and takes {milliseconds(median(best))} for a query."
    )
    if quick is not best:
        said += (
            f" {quick.strategy} is quickest: {milliseconds(median(quick))}"
            f" at {share(recall_of(quick))}."
        )
    return f"{said} Times are those of the machine that played the run."
