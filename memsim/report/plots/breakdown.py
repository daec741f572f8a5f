"""Plot recall by scenario and place in the conversation, and leaks by channel."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from memsim.report.leak_board import LeakBoard
from memsim.report.plots.labels import short_names
from memsim.report.plots.style import Picture, PlotMaterial, share
from memsim.report.run_summary import Matrix

LOW_TO_HIGH = LinearSegmentedColormap.from_list("recall", ["#fbf3e4", "#7fb8ad", "#0b5d6b"])
VERDICTS = {"safe": "#cfe8dd", "leak": "#d55e00", "invalid": "#f6e3b4", "n/a": "#f2f2f2"}
REPORTED = "#f4b183"
"""A leak through a channel that is shown only, and fails nothing."""
DEPTHS = 10


def heat_map(material: PlotMaterial) -> Picture | None:
    """Plot recall by strategy and scenario, or by a dataset's categories."""
    board = material.board
    matrix = _matrix(material)
    if board is None or matrix is None or len(matrix.slices) < 2:
        return None
    columns = [n for n, row in enumerate(board.rows) if row.control != "evidence"]
    values = np.array([[_number(s.recall[n]) for n in columns] for s in matrix.slices], dtype=float)
    names = [board.rows[n].strategy for n in columns]
    shown = list(short_names(names).values())
    figure = Figure(figsize=(1.9 + 0.62 * len(names), 1.5 + 0.3 * len(matrix.slices)))
    axes = figure.subplots()
    _cells(axes, values)
    labels = [f"{s.name.rpartition('::')[2]}  ({s.n})" for s in matrix.slices]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xticks(range(len(names)), shown, rotation=38, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    caption = _widest(matrix, names, values)
    return Picture(
        name="heat-map",
        title=f"{matrix.of.capitalize()} by {matrix.by}",
        caption=caption,
        figure=figure,
    )


def needle_grid(material: PlotMaterial) -> Picture | None:
    """Plot recall by the place in the conversation where a fact was said."""
    probes = material.of_board(material.frames.probes)
    probes = probes[probes["recall"].notna() & probes["said"].notna() & (probes["control"] == "")]
    if len(probes) < DEPTHS:
        return None
    depth = probes["said"].astype(float) / probes["turn"].astype(float).clip(lower=1)
    band = (depth * DEPTHS).clip(upper=DEPTHS - 1).astype(int)
    table = probes.assign(band=band, recall=probes["recall"].astype(float)).pivot_table(
        index="strategy", columns="band", values="recall", aggfunc="mean"
    )
    table = table.reindex(index=list(material.strategies), columns=range(DEPTHS))
    figure = Figure(figsize=(material.width, 1.1 + 0.3 * len(table)))
    axes = figure.subplots()
    _cells(axes, table.to_numpy(dtype=float), small=material.narrow)
    shown = short_names(table.index, 12 if material.narrow else material.letters)
    axes.set_yticks(range(len(table)), [shown[name] for name in table.index])
    ticks = range(0, DEPTHS + 1, 5 if material.narrow else 2)
    axes.set_xticks([n - 0.5 for n in ticks], [f"{n * 10} %" for n in ticks])
    joint = "\n" if material.narrow else " "
    said = f"where the fact was said,{joint}as a share of the conversation so far"
    figure.supxlabel(said, fontsize=9)
    spread = (table.max(axis=1) - table.min(axis=1)).dropna()
    if spread.empty:
        return None
    worst = str(spread.idxmax())
    row = table.loc[[worst]].to_numpy(dtype=float)[0]
    low, high = int(np.nanargmin(row)), int(np.nanargmax(row))
    caption = (
        f"{worst} depends most on the place: {share(float(row[low]))} of what was said"
        f" {low * 10} % into the conversation, {share(float(row[high]))} at {high * 10} %."
    )
    return Picture(
        name="needle-grid", title="Does the place matter", caption=caption, figure=figure
    )


def leakage_matrix(material: PlotMaterial) -> Picture | None:
    """Plot leaks out of eligible attempts by channel and strategy."""
    boards = material.summary.leakage
    if not boards:
        return None
    board = boards[-1]
    names = list(board.strategies)
    figure = Figure(figsize=(3.0 + 0.95 * len(names), 1.2 + 0.31 * len(board.rows)))
    axes = figure.subplots()
    leaking = {
        n: sum(1 for r in board.rows if (c := r.cells[i]) and c.breaches)
        for i, n in enumerate(names)
    }
    for y, row in enumerate(board.rows):
        for x, cell in enumerate(row.cells):
            if cell is None:
                continue
            leaked = cell.verdict == "leak" and bool(cell.breaches)
            ink = VERDICTS.get(cell.verdict, VERDICTS["invalid"])
            ink = REPORTED if cell.verdict == "leak" and not leaked else ink
            axes.barh(y, 0.94, left=x + 0.03, height=0.86, color=ink)
            text = f"{cell.leaks} of {cell.eligible}" if cell.eligible else cell.verdict
            text += " ?" if cell.verdict == "invalid" and cell.eligible else ""
            axes.text(
                x + 0.5,
                y,
                text,
                ha="center",
                va="center",
                fontsize=7.5,
                color="white" if leaked else "#333333",
            )
    axes.set_yticks(
        range(len(board.rows)), [f"{r.channel}  {r.name}" for r in board.rows], fontsize=8
    )
    axes.set_xticks(
        [n + 0.5 for n in range(len(names))], names, rotation=25, ha="left", rotation_mode="anchor"
    )
    axes.xaxis.tick_top()
    axes.set_xlim(0, len(names))
    axes.set_ylim(len(board.rows) - 0.5, -0.5)
    _bare(axes)
    most = max(leaking, key=lambda name: leaking[name])
    rows = len(board.rows)
    caption = f"{most} leaks on {leaking[most]} of {rows} channels."
    if not leaking[most]:
        measured = _channels_with(board, {"safe", "leak"})
        caption = f"Nothing leaked on the {measured} of {rows} channels that could be measured."
        if reported := _channels_with(board, {"leak"}):
            caption = f"Only channels that fail nothing leak: {reported} of {rows}."
    axes.set_xlabel("pale: reported only; with ?: too little could be tried to say", fontsize=8)
    return Picture(name="leakage", title="Who sees what", caption=caption, figure=figure)


def _channels_with(board: LeakBoard, verdicts: Collection[str]) -> int:
    return sum(any(cell and cell.verdict in verdicts for cell in row.cells) for row in board.rows)


def _matrix(material: PlotMaterial) -> Matrix | None:
    board = material.board
    found = {m.by: m for m in board.matrices} if board else {}
    return next((found[by] for by in ("scenario", "category", "ability") if by in found), None)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _cells(axes: Axes, values: np.ndarray, *, small: bool = False) -> None:
    axes.imshow(values, cmap=LOW_TO_HIGH, vmin=0, vmax=1, aspect="auto")
    for (y, x), value in np.ndenumerate(values):
        known = not np.isnan(value)
        said = share(float(value)) if known else "–"
        axes.text(
            x,
            y,
            "1" if small and said == "1.00" else said,
            ha="center",
            va="center",
            fontsize=6.8 if small else 7.5,
            color="white" if known and value > 0.62 else "#333333",
        )
    _bare(axes)


def _bare(axes: Axes) -> None:
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _widest(matrix: Matrix, names: list[str], values: np.ndarray) -> str:
    """The slice in which strategies are furthest apart; one that few were scored in is none."""
    known = [(y, row[~np.isnan(row)]) for y, row in enumerate(values)]
    spread = {y: float(row.max() - row.min()) for y, row in known if len(row) > 1}
    if not spread:
        return f"By {matrix.by} there is nothing to compare: it was not scored."
    y = max(spread, key=lambda place: spread[place])
    best, worst = int(np.nanargmax(values[y])), int(np.nanargmin(values[y]))
    return (
        f"{matrix.slices[y].name.rpartition('::')[2]} tells most apart:"
        f" {names[best]} {share(float(values[y][best]))}, {names[worst]}"
        f" {share(float(values[y][worst]))}."
    )
