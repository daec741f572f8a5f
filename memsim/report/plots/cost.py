"""Plot costs: the context turn by turn, and what the tokens were spent on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from memsim.config import show_budget
from memsim.context import in_order
from memsim.report.frames import TOKENS
from memsim.report.plots.labels import short_names
from memsim.report.plots.palette import SECTION_COLOURS, lettering, section_colours
from memsim.report.plots.style import FAINT, Picture

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

    from memsim.report.plots.style import PlotMaterial

MOST_PANELS = 8
COLUMNS = 2
LEGEND_COLUMNS = 8
PHASES = {
    "answering": ("answering", SECTION_COLOURS["window"]),
    "maintaining": ("summaries and facts", SECTION_COLOURS["summary"]),
    "searching": ("searching", SECTION_COLOURS["recalled"]),
}


def context_over_time(material: PlotMaterial) -> Picture | None:
    """Plot context tokens by section and turn, for the scenario with most compactions."""
    turns = material.of_board(material.frames.turns)
    turns = turns[(turns["control"] == "") & (turns["repeat"] == 0)]
    if turns.empty:
        return None
    scenario = _telling(turns)
    turns = turns[turns["scenario"] == scenario]
    played = [n for n in material.strategies if (turns["strategy"] == n).any()]
    names = played[:MOST_PANELS]
    narrow = material.narrow
    columns = 1 if narrow else COLUMNS
    rows = -(-len(names) // columns)
    width = material.width * (1.0 if narrow else 1.1)
    figure = Figure(figsize=(width, (1.25 if narrow else 1.45) * rows + 0.8))
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    used = in_order(name for name in material.frames.sections if turns[TOKENS + name].any())
    # By all sections of the run, as in the rest of the page.
    every = section_colours(material.frames.sections)
    colours = {name: every[name] for name in used}
    shown = short_names(names, 40)
    board = material.board
    budget = board.budget if board else 0
    counts: dict[str, int] = {}
    for axes, name in zip(grid.flat, names, strict=False):
        mine = turns[turns["strategy"] == name].sort_values("turn")
        _stack(axes, mine, colours)
        ticks = mine.loc[mine["compactions"] > 0, "turn"]
        counts[name] = int(mine["compactions"].sum())
        axes.plot(
            ticks, [budget * 1.09] * len(ticks), "|", color="#aa0000", markersize=4, alpha=0.6
        )
        axes.axhline(budget, color=FAINT, linewidth=0.8, linestyle=(0, (4, 3)))
        ink = lettering(material.looks[name].colour)
        axes.set_title(shown[name], fontsize=8, fontweight="normal", color=ink)
        axes.set_ylim(0, budget * 1.18)
        axes.margins(x=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _short(y)))
    for axes in list(grid.flat)[len(names) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("turn")
    figure.supylabel("tokens of the turn's largest context", fontsize=9)
    figure.legend(
        handles=[_patch(ink) for ink in colours.values()],
        labels=list(colours),
        loc="outside upper left",
        ncols=min(len(colours), 4 if narrow else LEGEND_COLUMNS),
        fontsize=8,
        handlelength=1,
    )
    most = max(counts, key=lambda name: counts[name])
    peak = int(turns["largest"].max())
    caption = (
        f"In {_name(scenario)}, the largest context had {peak:,} tokens;"
        f" the budget is {budget:,} ({show_budget(budget)}, dashed)."
    )
    if counts[most] and not _thinned(material, turns):
        caption += f" {most} compacted {counts[most]:,} times (ticks)."
    caption += _thinned(material, turns)
    if len(played) > len(names):
        caption += f" Shown are the best {len(names)} of {len(played)} strategies."
    return Picture(
        name="context-over-time", title="The context over time", caption=caption, figure=figure
    )


def spend(material: PlotMaterial) -> Picture | None:
    """Plot tokens per turn by what they were spent on."""
    turns = material.of_board(material.frames.turns)
    turns = turns[turns["control"] == ""]
    if turns.empty:
        return None
    means = turns.groupby("strategy")[[*PHASES, "cached"]].mean()
    means = means.loc[[n for n in material.strategies if n in means.index]]
    order = means[list(PHASES)].sum(axis=1).sort_values(ascending=False)
    means = means.loc[order.index]
    figure = Figure(figsize=(material.width, 0.9 + 0.34 * len(means)))
    axes = figure.subplots()
    means.index = means.index.map(short_names(means.index, material.letters))
    left = means["answering"] * 0
    for phase, (label, ink) in PHASES.items():
        if not means[phase].any():
            continue
        axes.barh(means.index, means[phase], left=left, color=ink, height=0.7, label=label)
        left = left + means[phase]
    # Next to nothing would look like a flaw of the bar.
    axes.plot(
        means["cached"].where(means["cached"] > 0.01 * left.max()),
        range(len(means)),
        "|",
        color="black",
        markersize=11,
        markeredgewidth=2,
        label="_",
    )
    # Room on the right for the numbers.
    for place, total in enumerate(left):
        axes.text(total, place, f" {total:,.0f}", va="center", fontsize=8)
    axes.margins(x=0.25 if material.narrow else 0.12)
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    joint = "\n" if material.narrow else " "
    said = f"tokens per turn;{joint}black line: what a prompt cache could serve"
    figure.supxlabel(said, fontsize=9)
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside upper left",
        ncols=2 if material.narrow else 3,
        fontsize=8,
        handlelength=1,
    )
    least, most = order.index[-1], order.index[0]
    caption = (
        f"{least} spends {order.iloc[-1]:,.0f} tokens a turn, {most} {order.iloc[0]:,.0f};"
        f" {float(means['maintaining'].iloc[0]):,.0f} of them go into keeping its memory."
    )
    caption += _thinned(material, turns)
    return Picture(name="spend", title="What it costs", caption=caption, figure=figure)


def _thinned(material: PlotMaterial, turns: pd.DataFrame) -> str:
    """Say that not every turn was read; empty if all were."""
    drawn = frozenset(turns["case"])
    frames = material.frames
    step = max((frames.step(c) for c in frames.run.cases if c.key in drawn), default=1)
    return f" One of {step:,} turns was read." if step > 1 else ""


def _telling(turns: pd.DataFrame) -> str:
    """Choose the scenario with most compactions, then with most turns."""
    by = turns.groupby("scenario").agg(c=("compactions", "sum"), t=("turn", "max"))
    by = by[by["t"] <= 1500] if (by["t"] <= 1500).any() else by
    return str(by.sort_values(["c", "t"]).index[-1])


def _stack(axes: Axes, turns: pd.DataFrame, colours: Mapping[str, str]) -> None:
    names = [n for n in colours if turns[TOKENS + n].any()]
    if names:
        axes.stackplot(
            turns["turn"],
            *(turns[TOKENS + n] for n in names),
            colors=[colours[n] for n in names],
            linewidth=0,
            step="post",
        )


def _patch(ink: str) -> object:
    from matplotlib.patches import Patch

    return Patch(color=ink)


def _short(tokens: float) -> str:
    return f"{tokens / 1000:g}k" if tokens >= 1000 else f"{tokens:g}"


def _name(scenario: str) -> str:
    return scenario.rpartition("::")[2]
