"""The style of every plot: one colour for each strategy, and the same bytes each time."""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from memsim.context import in_order

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memsim.report.frames import Frames
    from memsim.report.run_summary import Board, RunSummary

# The data of plots: the numbers that tables show, and the records behind them.


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotMaterial:
    """A run's numbers."""

    summary: RunSummary
    frames: Frames

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
CONTROL = "#8a8a8a"
READABLE = 0.183
"""Luminance from which on letters on white have less than 4.5 to 1."""
HALF_PAGE = (6.4, 4.0)
"""Inches; readable at half a page."""

# Okabe and Ito's colours, which the colour-blind tell apart, then Tol's muted ones.
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#882255",
    "#117733",
    "#332288",
    "#999933",
    "#aa4499",
    "#44aa99",
)
_KNOWN = (
    "layered",
    "rolling_summary",
    "bm25",
    "vector",
    "hybrid",
    "sliding_window",
    "agenticx",
    "agentscope",
    "prx",
    "cogtrix",
    "aegis",
)
_CONTROLS = frozenset({"full_context", "no_memory", "oracle"})
SECTION_COLOURS = {
    "system": "#332288",
    "core": "#88ccee",
    "summary": "#d55e00",
    "recalled": "#009e73",
    "working": "#ddcc77",
    "window": "#0072b2",
    "tools": "#cc79a7",
    "query": "#999999",
}
OWN_SECTION_COLOURS = ("#882255", "#117733", "#e69f00", "#44aa99", "#661100", "#6699cc")
"""Colours of sections with names of the strategies' own, by their order."""
PLACE_COLOURS = {
    "in the window": "#0072b2",
    "in a summary": "#d55e00",
    "stored and found": "#009e73",
    "in another section": "#88ccee",
    "stored and missed": "#e69f00",
    "cut to fit": "#aa4499",
    "unknown": "#d9cdee",
    "lost": "#b8b8b8",
}
PALE_PLACES = frozenset({"in another section", "stored and missed", "unknown", "lost"})
"""Places whose colour takes dark letters."""
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))

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


def colour(strategy: str) -> str:
    """The colour of a strategy, the same in every plot of every run; controls are grey."""
    name = strategy.partition(":")[0]
    if name in _CONTROLS:
        return CONTROL
    if strategy in _KNOWN:
        return _COLOURS[_KNOWN.index(strategy)]
    digest = int.from_bytes(hashlib.sha256(strategy.encode()).digest()[:4], "big")
    base = _KNOWN.index(name) if name in _KNOWN else digest
    return _COLOURS[base % len(_COLOURS)]


def section_colours(names: Iterable[str]) -> dict[str, str]:
    """Choose the colour of each section, in the order in which they are drawn."""
    ordered = in_order(names)
    own = [name for name in ordered if name not in SECTION_COLOURS]
    extra = dict(zip(own, cycle(OWN_SECTION_COLOURS), strict=False))
    return {name: SECTION_COLOURS.get(name) or extra[name] for name in ordered}


def lettering(ink: str) -> str:
    """Darken a colour, in the same hue, until letters on white can be read."""
    red, green, blue = (int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, light, strong = colorsys.rgb_to_hls(red, green, blue)
    while _luminance(red, green, blue) > READABLE:
        light -= 0.01
        red, green, blue = colorsys.hls_to_rgb(hue, light, strong)
    return "#" + "".join(f"{round(part * 255):02x}" for part in (red, green, blue))


def _luminance(*parts: float) -> float:
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def shortened(name: str, letters: int) -> str:
    """Cut the end of a name to at most so many letters."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def dashes(strategies: Iterable[str]) -> dict[str, Any]:
    """Choose line styles, so that lines of one colour differ."""
    styles: dict[str, Any] = {}
    seen: dict[str, int] = {}
    for strategy in strategies:
        place = seen.get(colour(strategy), 0)
        seen[colour(strategy)] = place + 1
        styles[strategy] = DASHES[place % len(DASHES)]
    return styles


def label_ends(axes: Axes, ends: Iterable[tuple[float, float, str, str]], *, gap: float) -> None:
    """Write names at the ends of lines, moved apart where they would cover each other.

    Args:
        axes: where.
        ends: (x, y, name, colour) of each line's last point.
        gap: least distance of two names, in the units of y.
    """
    placed: list[float] = []
    for x, y, name, ink in sorted(ends, key=lambda end: end[1]):
        at = max(y, placed[-1] + gap) if placed else y
        placed.append(at)
        axes.annotate(
            name,
            (x, at),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=lettering(ink),
            annotation_clip=False,
        )


def share(value: float) -> str:
    """Write a share as tables do: `.84`."""
    return f"{value:.2f}".replace("0.", ".", 1) if value < 1 else "1.00"
