"""The style of every plot: letters, lines and sizes, and the same bytes each time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from memsim.report.plots.palette import Looks, report_looks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memsim.report.frames import Frames
    from memsim.report.run_summary import Board, RunSummary

# The data of plots: the numbers that tables show, and the records behind them.


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotMaterial:
    """A run's numbers, and how large they are drawn.

    Attributes:
        narrow: for the screen of a phone.
    """

    summary: RunSummary
    frames: Frames
    narrow: bool = False

    @property
    def looks(self) -> Looks:
        """The look of each strategy of the report."""
        return report_looks(self.summary)

    @property
    def width(self) -> float:
        """The width of a plot, in inches."""
        return NARROW if self.narrow else HALF_PAGE[0]

    @property
    def letters(self) -> int:
        """Most letters of a name beside a bar or above a panel."""
        return 20 if self.narrow else 30

    @property
    def board(self) -> Board | None:
        """The main board of the run."""
        return self.summary.main_board

    @property
    def boards(self) -> tuple[Board, ...]:
        """The boards of the same scenarios or dataset, by budget."""
        board = self.board
        mine = [b for b in self.summary.boards if board and b.dataset == board.dataset]
        return tuple(sorted(mine, key=lambda b: b.budget))

    def of_board(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of a frame that belong to the board."""
        board = self.board
        if board is None:
            return frame.iloc[:0]
        return frame[(frame["budget"] == board.budget) & (frame["dataset"] == board.dataset)]

    @property
    def strategies(self) -> tuple[str, ...]:
        """The board's rows without controls, best first."""
        board = self.board
        return tuple(r.strategy for r in board.rows if not r.control) if board else ()


INK, FAINT, GRID = "#222222", "#767676", "#e4e4e4"
BEHIND = "#c9c9c9"
"""The colour of lines in the background."""
HALF_PAGE = (6.4, 4.0)
"""Inches; readable at half a page."""
NARROW = 3.5
"""Inches; readable on a phone."""

_SETTINGS: Any = {
    "svg.hashsalt": "memsim",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A plot with its caption."""

    name: str
    title: str
    caption: str
    figure: Figure


@contextmanager
def styled() -> Iterator[None]:
    """Draw in memsim's style, whatever the user's own settings say."""
    with mpl.rc_context():
        backend = mpl.rcParams["backend"]
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        mpl.rcParams["backend"] = backend
        yield


def share(value: float) -> str:
    """Write a share as tables do: `.84`."""
    return f"{value:.2f}".replace("0.", ".", 1) if value < 1 else "1.00"


def figure_of(axes: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = axes.get_figure(root=True)
    if figure is None:
        raise ValueError("the axes were removed from their figure")
    return figure
