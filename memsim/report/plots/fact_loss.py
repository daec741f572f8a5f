"""Plot recall by age, where evidence went, and facts left after compactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from memsim.report.plots.labels import short_names
from memsim.report.plots.named_lines import NamedLine, axes_of_lines
from memsim.report.plots.palette import PLACE_COLOURS, Looks, lettering
from memsim.report.plots.style import BEHIND, FAINT, Picture, figure_of, share
from memsim.stats.interval import wilson

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from memsim.report.plots.style import PlotMaterial
    from memsim.scoring.outcomes import Whereabouts

AGES = (0, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10**9)
"""Ages in turns at which the next group begins."""
LEAST = 8
"""Fewest probes for a point of the curve."""
PLACES: dict[Whereabouts, str] = {
    "window": "in the window",
    "working": "in the window",
    "core": "in the window",
    "system": "in the window",
    "tools": "stored and found",
    "summary": "in a summary",
    "recalled": "stored and found",
    "other": "in another section",
    "stored": "stored and missed",
    "archived": "stored and missed",
    "denied": "stored and missed",
    "trimmed": "cut to fit",
    "unknown": "unknown",
    "not-inspectable": "unknown",
    "lost": "lost",
}
"""What the chart calls each of the whereabouts."""
SHOWN_COMPACTIONS = 40
CROWD, COLUMNS, LETTERS = 5, 4, 20
"""Curves that are drawn into one picture with their bands; panels beside each other beyond that,
and letters of a panel's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Recall of a strategy by the age of what is asked for.

    Attributes:
        oldest: the number of its last group of `AGES`.
        ages: medians of the groups, in turns, from 1 on.
        recall, low, high: of each group, with its 95 % interval.
    """

    name: str
    oldest: int
    ages: Sequence[float]
    recall: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def forgetting_curve(material: PlotMaterial) -> Picture | None:
    """Plot recall by the age of the fact when it is asked for."""
    curves = list(_curves(material))
    if not curves:
        return None
    crowded = len(curves) > CROWD
    figure = _panels(curves, material) if crowded else _together(curves, material)
    oldest = max(curve.oldest for curve in curves)
    keeps = max((c for c in curves if c.oldest == oldest), key=lambda curve: curve.recall[-1])
    caption = (
        f"{keeps.name} keeps most of what is old: {share(keeps.recall[0])} of the newest facts and"
        f" {share(keeps.recall[-1])} of those about {round(keeps.ages[-1] - 1):,} turns old."
    )
    return Picture(name="forgetting", title="How long it remembers", caption=caption, figure=figure)


def _curves(material: PlotMaterial) -> Iterator[Curve]:
    import pandas as pd

    probes = material.of_board(material.frames.probes)
    probes = probes[probes["recall"].notna() & probes["age"].notna() & (probes["control"] == "")]
    if probes.empty:
        return
    group = pd.cut(probes["age"].astype(float), bins=list(AGES), right=False, labels=False)
    for name in material.strategies:
        mine = probes[probes["strategy"] == name]
        points = []
        oldest = 0
        for number, found in mine.groupby(group.loc[mine.index]):
            if len(found) < LEAST:
                continue
            right, n, oldest = int(found["recall"].sum()), len(found), int(number)
            bounds = wilson(right, n)
            low, high = (bounds.low, bounds.high) if bounds else (right / n, right / n)
            points.append((float(found["age"].astype(float).median()) + 1, right / n, low, high))
        if len(points) > 1:
            ages, recall, lows, highs = zip(*points, strict=True)
            yield Curve(name=name, oldest=oldest, ages=ages, recall=recall, low=lows, high=highs)


def _together(curves: Sequence[Curve], material: PlotMaterial) -> Figure:
    lines = [_line(curve, material.looks) for curve in curves]
    axes = axes_of_lines(lines, (-0.03, 1.05), narrow=material.narrow, log=True)
    for line in lines:
        line.draw(axes)
    _ages(axes, few=material.narrow)
    axes.set_xlabel("age of the fact at the question, turns (log)")
    axes.set_ylabel("recall")
    return figure_of(axes)


def _line(curve: Curve, looks: Looks) -> NamedLine:
    band = (curve.low, curve.high)
    look = looks[curve.name]
    return NamedLine(name=curve.name, look=look, xs=curve.ages, ys=curve.recall, band=band)


def _panels(curves: Sequence[Curve], material: PlotMaterial) -> Figure:
    """One for each: many bands upon each other would be mud. The others stand behind it, pale."""
    columns = 2 if material.narrow else COLUMNS
    rows = -(-len(curves) // columns)
    width = material.width * (1.0 if material.narrow else 1.1)
    figure = Figure(figsize=(width, 1.35 * rows + 0.5))
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    names = short_names([curve.name for curve in curves], LETTERS)
    for axes, curve in zip(grid.flat, curves, strict=False):
        for other in curves:
            axes.plot(other.ages, other.recall, color=BEHIND, linewidth=0.7, zorder=1)
        look = material.looks[curve.name]
        ink = look.colour
        axes.fill_between(curve.ages, curve.low, curve.high, color=ink, alpha=0.2, linewidth=0)
        axes.plot(curve.ages, curve.recall, color=ink, marker=look.mark, markersize=3.5, zorder=3)
        axes.set_title(names[curve.name], fontsize=8, fontweight="normal", color=lettering(ink))
        axes.tick_params(labelsize=8, labelbottom=True)
    _ages(grid[0][0], few=True)
    for place in range(len(curves), rows * columns):
        grid.flat[place].set_visible(False)
    figure.supxlabel("age of the fact at the question, turns (log)", fontsize=9)
    figure.supylabel("recall", fontsize=9)
    return figure


def whereabouts(material: PlotMaterial) -> Picture | None:
    """Plot where the evidence was at the question, one bar for each strategy."""
    import pandas as pd

    probes = material.of_board(material.frames.probes)
    probes = probes[(probes["whereabouts"] != "") & (probes["control"] == "")]
    if probes.empty:
        return None
    places = probes["whereabouts"].map(PLACES).fillna("unknown")
    table = pd.crosstab(probes["strategy"], places, normalize="index")
    table = table.reindex(index=list(reversed(material.strategies))).fillna(0.0)
    shares = table.copy()
    narrow = material.narrow
    figure = Figure(figsize=(material.width, (1.5 if narrow else 0.9) + 0.34 * len(table)))
    axes = figure.subplots()
    table.index = table.index.map(short_names(table.index, material.letters))
    left = pd.Series(0.0, index=table.index)
    for place, ink in PLACE_COLOURS.items():
        if place not in table:
            continue
        width = table[place]
        bars = axes.barh(table.index, width, left=left, color=ink, height=0.72, label=place)
        for bar, part in zip(bars, width, strict=True):
            if part >= (0.14 if narrow else 0.08):
                axes.text(
                    bar.get_x() + part / 2,
                    bar.get_y() + bar.get_height() / 2,
                    share(part),
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color="black",
                )
        left = left + width
    for row, total in enumerate(left):
        if not total:
            axes.text(0.01, row, "not scored", va="center", fontsize=7.5, color=FAINT)
    axes.set_xlim(0, 1)
    axes.grid(visible=False)
    figure.supxlabel("share of probes with evidence", fontsize=9)
    axes.tick_params(axis="y", length=0)
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside upper left",
        ncols=2 if narrow else 4,
        fontsize=8,
        handlelength=1,
        columnspacing=1.2,
    )
    caption = "; ".join(_worst_places(shares)) or "All strategies had all of the evidence at hand"
    return Picture(
        name="whereabouts", title="Where the evidence was", caption=f"{caption}.", figure=figure
    )


TOLD = 0.005
"""The smallest share that is named; less would be shown as .00."""

_SAID = {
    "lost": "{strategy} lost {part} of the evidence for good",
    "stored and missed": "{strategy} had {part} in store and did not bring it up",
    "cut to fit": "{strategy} had {part} in a context that was cut to fit the budget",
    "unknown": "{strategy} does not show where {part} of the evidence is",
}


def _worst_places(table: pd.DataFrame) -> Iterator[str]:
    """Name, for each way to miss evidence, the strategy with the largest share."""
    for place, said in _SAID.items():
        if place in table and (part := float(table[place].max())) >= TOLD:
            yield said.format(strategy=table[place].idxmax(), part=share(part))


def survival(material: PlotMaterial) -> Picture | None:
    """Plot the share of facts still in the context, by compactions since they were said."""
    facts = material.of_board(material.frames.facts)
    facts = facts[(facts["control"] == "") & (facts["compactions"] <= SHOWN_COMPACTIONS)]
    worn = facts[facts["compactions"] > 0]
    if worn.empty:
        return None
    lines: list[NamedLine] = []
    left: dict[int, dict[str, float]] = {1: {}, 2: {}}
    for name in material.strategies:
        mine = facts[facts["strategy"] == name]
        if not (mine["compactions"] > 0).any():
            continue
        curve = mine.groupby("compactions")["there"].mean()
        xs, ys = [float(n) for n in curve.index], [float(y) for y in curve]
        lines.append(NamedLine(name=name, look=material.looks[name], xs=xs, ys=ys, steps=True))
        for count, found in left.items():
            if count in curve.index:
                found[name] = float(curve.loc[count])
    axes = axes_of_lines(lines, (-0.03, 1.05), narrow=material.narrow)
    for line in lines:
        line.draw(axes)
    axes.set_xlabel("compactions since the fact was said")
    axes.set_ylabel("facts still in the context")
    ordinal, shown = ("second", left[2]) if left[2] else ("first", left[1])
    worst, best = min(shown, key=shown.__getitem__), max(shown, key=shown.__getitem__)
    caption = (
        f"After the {ordinal} compaction {worst} still shows {share(shown[worst])} of the facts"
        f" that it was told{f', {best} {share(shown[best])}' if best != worst else ''}."
    )
    return Picture(
        name="survival",
        title="Survival over compactions",
        caption=caption,
        figure=figure_of(axes),
    )


def _ages(axes: Axes, *, few: bool = False) -> None:
    axes.set_xscale("log")
    axes.set_ylim(-0.03, 1.05)
    ticks = [1, 6, 11, 21, 41, 81, 161, 321, 641, 1281, 2561, 5121]
    low, high = axes.get_xlim()
    shown = [t for t in ticks if low <= t <= high][:: 3 if few else 1]
    axes.set_xticks(shown, [f"{t - 1:,}" for t in shown])
    axes.xaxis.set_minor_locator(NullLocator())
