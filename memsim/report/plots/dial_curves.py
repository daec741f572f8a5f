"""Plot how much memories hold of generated stories, for each setting of a dial."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from memsim.report.plots.labels import short_names
from memsim.report.plots.palette import Looks, strategy_looks
from memsim.report.plots.style import FAINT, Picture, share

CONTROLS = {"oracle": (0, (6, 2)), "no_memory": (0, (1, 2))}
"""Dashes of lines without marks: they say where the top and the floor are."""

COLUMNS = 2
"""Panels beside each other."""
PANEL = (3.2, 2.2)
"""Inches of a panel."""
LEGEND = 4
"""Names beside each other in the legend."""
MARKS = 7
"""Settings that are written below a panel, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialPoint:
    """The share of questions whose answer a memory had in the context, in one story."""

    dial: str
    strategy: str
    setting: int
    share: float


def dial_curves(points: Sequence[DialPoint], bound: float) -> Picture:
    """Draw a panel for each dial, a line for each strategy: the mean share at each setting.

    Args:
        points: what was played; there must be one at least.
        bound: the share that counts as holding, drawn as a thin line.
    """
    dials = list(dict.fromkeys(point.dial for point in points))
    names = list(dict.fromkeys(point.strategy for point in points))
    looks = strategy_looks(names)
    columns = min(COLUMNS, len(dials))
    rows = math.ceil(len(dials) / columns)
    size = (
        PANEL[0] * max(columns, 2),
        PANEL[1] * rows + 0.5 + 0.2 * math.ceil(len(names) / LEGEND),
    )
    figure = Figure(figsize=size)
    panels = list(figure.subplots(rows, columns, sharey=True, squeeze=False).flat)
    for dial, axes in zip(dials, panels, strict=False):
        _draw(axes, dial, [point for point in points if point.dial == dial], looks, bound)
    for axes in panels[len(dials) :]:
        axes.set_visible(False)
    figure.supylabel("answer in context", fontsize=9)
    shown = short_names(names)
    handles = [_handle(figure, name) for name in names]
    figure.legend(
        handles,
        [shown[name] for name in names],
        loc="outside lower center",
        ncols=min(LEGEND, len(names)),
        fontsize=8,
    )
    caption = "The share of questions whose answer is in the context, by the setting of a dial."
    return Picture(
        name="dial-curves", title="Where a memory breaks", caption=caption, figure=figure
    )


def _draw(axes: Axes, dial: str, points: Sequence[DialPoint], looks: Looks, bound: float) -> None:
    shares: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        shares[point.strategy][point.setting].append(point.share)
    for name, by_setting in shares.items():
        settings = sorted(by_setting)
        look = looks[name]
        axes.plot(
            [_place(setting) for setting in settings],
            [mean(by_setting[setting]) for setting in settings],
            color=look.colour,
            linestyle=CONTROLS.get(name, look.dash),
            linewidth=1.2 if name in CONTROLS else None,
            zorder=1.5 if name in CONTROLS else 2,
            marker="" if name in CONTROLS else look.mark,
            markersize=4,
            label=name,
        )
    axes.axhline(bound, color=FAINT, linewidth=0.8, zorder=0.5)
    axes.set_title(dial)
    axes.set_xlabel("setting, on a log scale", fontsize=8)
    axes.set_ylim(-0.04, 1.06)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: share(y)))
    marks = _marks(sorted({point.setting for point in points}))
    axes.xaxis.set_major_locator(FixedLocator([_place(mark) for mark in marks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{mark:,}" for mark in marks])


def _place(setting: int) -> float:
    """Doubling a setting is one step to the right; none at all has a place too."""
    return math.log2(1 + setting)


def _marks(settings: Sequence[int]) -> list[int]:
    """Some of the settings, far enough from one another to be read."""
    first, last = settings[0], settings[-1]
    gap = (_place(last) - _place(first)) / MARKS
    chosen = [first]
    for setting in settings[1:-1]:
        if min(_place(setting) - _place(chosen[-1]), _place(last) - _place(setting)) >= gap:
            chosen.append(setting)
    return [*chosen, last] if last > first else chosen


def _handle(figure: Figure, name: str) -> Line2D:
    lines = (line for axes in figure.axes for line in axes.get_lines())
    return next(line for line in lines if line.get_label() == name)
