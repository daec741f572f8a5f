"""Draw every plot of a run: one function for each picture with its caption."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from memsim.errors import RunFolderError
from memsim.report.frames import Frames
from memsim.report.plots.abstention import abstention
from memsim.report.plots.baseline_change import forest
from memsim.report.plots.breakdown import heat_map, leakage_matrix, needle_grid
from memsim.report.plots.cost import context_over_time, spend
from memsim.report.plots.fact_loss import forgetting_curve, survival, whereabouts
from memsim.report.plots.query_time import query_time
from memsim.report.plots.style import Picture, PlotMaterial, styled
from memsim.report.plots.tradeoff import budget_sweep, trade_off
from memsim.report.run_summary import RunSummary
from memsim.runs import Run

Draw = Callable[[PlotMaterial], Picture | None]

PLOTS: Mapping[str, Draw] = {
    "trade-off": trade_off,
    "forgetting": forgetting_curve,
    "whereabouts": whereabouts,
    "context-over-time": context_over_time,
    "survival": survival,
    "forest": forest,
    "heat-map": heat_map,
    "spend": spend,
    "budget-sweep": budget_sweep,
    "abstention": abstention,
    "needle-grid": needle_grid,
    "leakage": leakage_matrix,
    "latency": query_time,
}
"""Each plot by its name, in the order in which a report shows them."""

FORMATS = ("svg", "png")
DPI = 150


def pictures(run: Run, summary: RunSummary, frames: Frames | None = None) -> Iterator[Picture]:
    """Every plot for which the run has numbers, in order."""
    material = PlotMaterial(summary=summary, frames=frames or Frames(run))
    with styled():
        for draw in PLOTS.values():
            picture = draw(material)
            if picture is not None:
                yield picture


def one_picture(
    name: str, summary: RunSummary, frames: Frames, *, narrow: bool = False
) -> Picture | None:
    """The plot of a name in `PLOTS`, wide or narrow; None where the run has no numbers for it."""
    with styled():
        return PLOTS[name](PlotMaterial(summary=summary, frames=frames, narrow=narrow))


def save_pictures(
    run: Run,
    summary: RunSummary,
    folder: Path,
    *,
    formats: Sequence[str] = FORMATS,
    frames: Frames | None = None,
) -> tuple[tuple[Picture, tuple[Path, ...]], ...]:
    """Draw every plot into a folder, the same bytes for the same run.

    `frames` are those of the run, where they were read already.

    Raises:
        RunFolderError: its records are damaged.
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if folder.is_symlink():
        raise RunFolderError("is a link: remove it", path=folder)
    saved = []
    for picture in pictures(run, summary, frames):
        paths = tuple(folder / f"{picture.name}.{form}" for form in formats)
        for path in paths:
            write_picture(picture, path)
        saved.append((picture, paths))
    return tuple(saved)


def write_picture(picture: Picture, path: Path) -> None:
    """Write one plot, in the format that its path ends with.

    Raises:
        OSError: it cannot be written.
    """
    if path.suffix != ".svg":
        picture.figure.savefig(path, dpi=DPI, metadata={"Software": None})
        return
    drawn = StringIO()
    # What would differ from day to day is left out: the date, and the version of the library.
    picture.figure.savefig(drawn, format="svg", dpi=DPI, metadata={"Date": None, "Creator": None})
    path.write_text(_NO_XML.sub("\ufffd", drawn.getvalue()), encoding="utf-8", newline="\n")


_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that a text may hold and XML may not."""
