"""Columns of text: as wide as they must be, and fewer of them where the terminal is narrow."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "plain", "dim", "bad", "good", "head"]
"""How a line is meant: dim for controls, bad for what failed."""

GAP = "  "
LEAST = 24
"""Cells that a clipped column keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Attributes:
        head: its name above it.
        group: a word over this and the neighbouring columns of the same group.
        right: numbers stand to the right.
        rank: 0 is always shown; of the others, the highest goes first where there is no room.
        clip: its texts are cut where there is no room, down to `LEAST` cells.
    """

    head: str
    group: str = ""
    right: bool = True
    rank: int = 0
    clip: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A line ready to print, and its tone."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A table as lines, and the heads of the columns that found no room."""

    lines: tuple[TextLine, ...]
    hidden: tuple[str, ...] = ()


def cells_wide(text: str) -> int:
    """Cells that a text takes on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_character, text))


def _character(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Cf", "Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text filled with spaces to a width in cells."""
    fill = " " * max(0, width - cells_wide(text))
    return fill + text if right else text + fill


def lay_out(
    columns: Sequence[Column],
    rows: Sequence[tuple[Sequence[str], Tone]],
    width: int,
    *,
    indent: str = "  ",
) -> Laid:
    """Rows under heads within a width in cells; columns give way by rank, none is ever cut.

    Args:
        columns: what stands above each cell.
        rows: the cells, one for each column, and the tone of the line.
        width: cells that there are.
        indent: what every line begins with.
    """
    texts = [cells for cells, _ in rows]
    wide = [
        max([cells_wide(c.head), *(cells_wide(cells[i]) for cells in texts)])
        for i, c in enumerate(columns)
    ]
    room = width - len(indent)
    wide = _clipped(columns, wide, room)
    shown = _shown(columns, wide, room)
    lines = [*_heads(columns, wide, shown, indent)]
    for cells, tone in rows:
        text = GAP.join(_cell(cells[i], wide[i], columns[i]) for i in shown)
        lines.append(TextLine(text=(indent + text).rstrip(), tone=tone))
    gone = tuple(_full_head(c) for i, c in enumerate(columns) if i not in shown)
    return Laid(lines=tuple(lines), hidden=gone)


def _cell(text: str, width: int, column: Column) -> str:
    return pad(clip(text, width) if column.clip else text, width, right=column.right)


def clip(text: str, width: int) -> str:
    """The text cut to a width in cells, with two dots where something is left out."""
    if cells_wide(text) <= width:
        return text
    kept = text
    while kept and cells_wide(kept) > width - 2:
        kept = kept[:-1]
    return f"{kept.rstrip()}.."


def _clipped(columns: Sequence[Column], wide: Sequence[int], room: int) -> list[int]:
    excess = sum(wide) + len(GAP) * (len(wide) - 1) - room
    widths = list(wide)
    for i, column in enumerate(columns):
        if column.clip and excess > 0:
            widths[i] = max(min(LEAST, wide[i]), wide[i] - excess)
            excess -= wide[i] - widths[i]
    return widths


def _full_head(column: Column) -> str:
    return f"{column.group} {column.head}".strip()


def _shown(columns: Sequence[Column], wide: Sequence[int], room: int) -> list[int]:
    shown = list(range(len(columns)))
    while sum(wide[i] + len(GAP) for i in shown) - len(GAP) > room:
        ranked = [i for i in shown if columns[i].rank > 0]
        if not ranked:
            break
        shown.remove(max(ranked, key=lambda i: (columns[i].rank, i)))
    return shown


def _heads(
    columns: Sequence[Column], wide: Sequence[int], shown: Sequence[int], indent: str
) -> list[TextLine]:
    below = GAP.join(pad(columns[i].head, wide[i], right=columns[i].right) for i in shown)
    lines = [TextLine(text=(indent + below).rstrip(), tone="head")]
    if any(columns[i].group for i in shown):
        above = _groups(columns, wide, shown)
        lines.insert(0, TextLine(text=(indent + above).rstrip(), tone="head"))
    return lines


def _groups(columns: Sequence[Column], wide: Sequence[int], shown: Sequence[int]) -> str:
    text, before = "", ""
    at = 0
    for i in shown:
        group = columns[i].group
        if group and group != before:
            indent = wide[i] - cells_wide(columns[i].head) if columns[i].right else 0
            text = pad(text, at + indent) + group
        before = group
        at += wide[i] + len(GAP)
    return text
