"""Plot what not knowing costs: recall against false answers, by how sure a memory has to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from matplotlib.ticker import FuncFormatter

from memsim.report.plots.named_lines import NamedLine, axes_of_lines
from memsim.report.plots.style import Picture, PlotMaterial, figure_of, share

if TYPE_CHECKING:
    import pandas as pd

HEIGHTS = (-0.03, 1.05)


def abstention(material: PlotMaterial) -> Picture | None:
    """Plot recall by false answers, one line for each strategy that says how sure it is.

    The line ends at what was played. Before it every answer counts as not known whose confidence
    is below a bound; the bound falls along the line. Needs answerable and unanswerable probes.
    """
    lines = list(_lines(material))
    if not any(len(line.xs) > 1 for line in lines):
        return None
    axes = axes_of_lines(lines, HEIGHTS, narrow=material.narrow)
    for line in lines:
        line.draw(axes)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: share(x)))
    axes.set_xlabel("false answers: unanswerable probes that were answered")
    axes.set_ylabel("recall")
    line = max((line for line in lines if len(line.xs) > 1), key=lambda line: line.ys[-1])
    x, y = _half(line)
    caption = (
        f"{line.name} answers {share(line.xs[-1])} of what nobody told it, at {share(line.ys[-1])}"
        f" recall; to halve that, it would have to be content with {share(y)} recall."
    )
    if x == line.xs[-1]:
        caption = f"{line.name} answers nothing that nobody told it, at {share(y)} recall."
    return Picture(
        name="abstention", title="What not knowing costs", caption=caption, figure=figure_of(axes)
    )


def _lines(material: PlotMaterial) -> Iterator[NamedLine]:
    probes = material.of_board(material.frames.probes)
    looks = material.looks
    for name in material.strategies:
        mine = probes[probes["strategy"] == name]
        asked, unasked = mine[mine["recall"].notna()], mine[mine["false"].notna()]
        if asked.empty or unasked.empty:
            continue
        points = [(float(unasked["false"].mean()), float(asked["recall"].mean()))]
        if mine["confidence"].notna().all():
            points = [*_bounded(asked, unasked), *points]
        xs, ys = zip(*dict.fromkeys(points), strict=True)
        yield NamedLine(name=name, look=looks[name], xs=xs, ys=ys)


STEPS = 20
"""Points of a line at most."""


def _bounded(asked: pd.DataFrame, unasked: pd.DataFrame) -> Iterator[tuple[float, float]]:
    """False answers and recall, for each bound of confidence from the highest."""
    shares = [n / STEPS for n in range(STEPS, -1, -1)]
    bounds = asked["confidence"].astype(float).quantile(shares, interpolation="lower")
    for bound in dict.fromkeys(bounds):
        false = unasked["false"].where(unasked["confidence"] >= bound, 0.0)
        right = asked["recall"].where(asked["confidence"] >= bound, 0.0)
        yield float(false.mean()), float(right.mean())


def _half(line: NamedLine) -> tuple[float, float]:
    """The best point of a line with at most half of its false answers; its end without any."""
    most = line.xs[-1] / 2
    fewer = [(x, y) for x, y in zip(line.xs, line.ys, strict=True) if x <= most]
    return max(fewer, key=lambda point: point[1], default=(line.xs[-1], line.ys[-1]))
