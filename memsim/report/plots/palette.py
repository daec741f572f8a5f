"""Colours, marks and line styles: none is shared by two strategies, or by a strategy and a section.

Strategies have dark colours and sections pale ones. The first colours differ most, also for the
colour-blind. Marks and line styles tell strategies apart on grey paper.
"""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memsim.context import in_order

if TYPE_CHECKING:
    from memsim.report.run_summary import RunSummary

READABLE = 0.183
"""Luminance from which on letters on white have less than 4.5 to 1."""

# Okabe and Ito's colours first. Each further one is as far as possible from those before it: to
# ordinary and to colour-blind eyes, on white and on a dark page.
STRATEGY_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#7a006e", "#276218", "#550713"),
    *("#007a7a", "#144fff", "#7a0099", "#d600a1", "#622f18", "#b80053", "#8a43d0", "#46914d"),
    *("#673242", "#258293", "#0b8e7a", "#532828", "#5c4500", "#53284e", "#c431b5", "#6714ff"),
    *("#8b0eaa", "#d60000", "#b37961", "#1090c6", "#c61047", "#b8001c", "#656732", "#61a550"),
    *("#1266e2", "#a55083", "#7a12e2", "#8d2593", "#123949", "#369900", "#936725", "#469164"),
    *("#491223", "#d04398", "#231f7a", "#1d12e2", "#824691", "#0b8e3f", "#32673f"),
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
MARKS = ("o", "s", "^", "D", "v", "P", "X", "p", "*")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
_CONTROLS = {
    "full_context": ("#6f6f6f", "d"),
    "oracle": ("#8a8a8a", "<"),
    "no_memory": ("#a0a0a0", ">"),
}

# After Tol's light colours, on which black letters can be read.
SECTION_COLOURS = {
    "system": "#bbcc33",
    "core": "#99ddff",
    "summary": "#ee8866",
    "recalled": "#44bb99",
    "working": "#eedd88",
    "window": "#77aadd",
    "tools": "#ffaabb",
    "query": "#bbbbbb",
}
OWN_SECTION_COLOURS = (
    *("#9292fc", "#7dd47d", "#f3d6ba", "#c1b6d8", "#affde3", "#fcb592"),
    *("#d6fdaf", "#aff0fd", "#fdc3d7", "#afbcfd", "#cda2a9", "#8ea0c2"),
)
"""Colours of sections with names of the strategies' own, by their order."""
PLACE_COLOURS = {
    "in the window": SECTION_COLOURS["window"],
    "in a summary": SECTION_COLOURS["summary"],
    "stored and found": SECTION_COLOURS["recalled"],
    "in another section": SECTION_COLOURS["core"],
    "stored and missed": SECTION_COLOURS["working"],
    "cut to fit": SECTION_COLOURS["tools"],
    "unknown": "#d9cdee",
    "lost": SECTION_COLOURS["query"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyLook:
    """How every plot of a report shows a strategy."""

    colour: str
    mark: str
    dash: Any


def report_looks(summary: RunSummary) -> dict[str, StrategyLook]:
    """The look of every strategy of a report."""
    names = [row.strategy for board in summary.boards for row in board.rows]
    return strategy_looks([*names, *(n for board in summary.leakage for n in board.strategies)])


def strategy_looks(strategies: Iterable[str]) -> dict[str, StrategyLook]:
    """Choose a look for each strategy, whatever their order.

    memsim's own strategies look the same in every report, and others do where their colour is free.
    """
    names = sorted(set(strategies))
    places = {name: _KNOWN.index(name) for name in names if name in _KNOWN}
    looks: dict[str, StrategyLook] = {}
    for name in names:
        if (control := _CONTROLS.get(name)) is not None:
            looks[name] = StrategyLook(colour=control[0], mark=control[1], dash="-")
            continue
        if name not in places:
            places[name] = _free_place(name, set(places.values()))
        looks[name] = _look(places[name])
    return looks


def _free_place(name: str, taken: Collection[int]) -> int:
    own, count = len(_KNOWN), len(STRATEGY_COLOURS)
    family = name.partition(":")[0]
    if family in _KNOWN and _KNOWN.index(family) not in taken:
        return _KNOWN.index(family)
    digest = int.from_bytes(hashlib.sha256(name.encode(errors="replace")).digest()[:4], "big")
    # The first colours differ most, so that a few strategies of one's own are far apart.
    near = [own + (digest + n) % (own + 1) for n in range(own + 1)]
    later = [*near, *range(2 * own + 1, count), *range(own), *range(count, 2 * count)]
    return next((n for n in later if n not in taken), 2 * count + len(taken))


def _look(place: int) -> StrategyLook:
    colours = STRATEGY_COLOURS
    ink = colours[place] if place < len(colours) else _further(place, 0.31, STRATEGY_COLOURS)
    return StrategyLook(
        colour=ink, mark=MARKS[place % len(MARKS)], dash=DASHES[place % len(DASHES)]
    )


def _further(place: int, light: float, known: Collection[str]) -> str:
    """Make another colour, of the given lightness, when all the chosen ones are used up."""
    strong, turn = 0.35 + 0.05 * (place % 7), place * 0.618034 % 1
    ink = _hex(*colorsys.hls_to_rgb(turn, light + 0.005 * (place % 11), strong))
    return ink if ink not in known else _further(place + 997, light, known)


def section_colours(names: Iterable[str]) -> dict[str, str]:
    """Choose the colour of each section, in the order in which they are drawn."""
    ordered = in_order(names)
    own = [name for name in ordered if name not in SECTION_COLOURS]
    more = (_further(n, 0.8, OWN_SECTION_COLOURS) for n in range(len(own)))
    extra = dict(zip(own, [*OWN_SECTION_COLOURS, *more], strict=False))
    return {name: SECTION_COLOURS.get(name) or extra[name] for name in ordered}


def lettering(ink: str) -> str:
    """Darken a colour, in the same hue, until letters on white can be read."""
    red, green, blue = (int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, light, strong = colorsys.rgb_to_hls(red, green, blue)
    while _luminance(red, green, blue) > READABLE:
        light -= 0.01
        red, green, blue = colorsys.hls_to_rgb(hue, light, strong)
    return _hex(red, green, blue)


def _hex(*parts: float) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


def _luminance(*parts: float) -> float:
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


Looks = Mapping[str, StrategyLook]
"""The look of each strategy by its name."""
