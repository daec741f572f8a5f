"""Hold a table once, and render it for the terminal and as Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Literal

_MARKUP = re.compile(r"[\\|*_`]|<(?=\S)|\](?=[(\[:])")
_LINE_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
BACKTICKS = re.compile("`+")


def markdown_escape(text: str) -> str:
    """Escape a text for Markdown, on one line."""
    return _MARKUP.sub(lambda sign: f"\\{sign[0]}", _LINE_BREAKS.sub(" ", text))


def markdown_code(text: str) -> str:
    """Quote a text as Markdown code, on one line."""
    line = _LINE_BREAKS.sub(" ", text)
    ticks = "`" * (1 + max((len(run) for run in BACKTICKS.findall(line)), default=0))
    gap = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{gap}{line}{gap}{ticks}"


def markdown_table(table: Table) -> Iterator[str]:
    """Render a table as Markdown, with every column and no colours."""
    yield _markdown_row([column.name for column in table.columns])
    yield "|" + "|".join(" ---: " if c.right else " :--- " for c in table.columns) + "|"
    yield from (_markdown_row(cells) for cells, _ in table.rows)


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(markdown_escape(cell.strip()) for cell in cells) + " |"


LETTERS = "abcdefghijklmnoprstuvwxyz"
"""Row letters: all with a superscript, so without q."""

_RAISED = dict(zip(LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """One set of signs.

    Attributes:
        failed: before a row that broke a bound.
        control: in place of the letter of a row that only marks a floor or a ceiling.
        dot: between the parts of a line.
        minus, times, at_least, at_most, dots, dash: as their names say.
    """

    failed: str
    control: str
    dot: str
    minus: str
    times: str
    at_least: str
    at_most: str
    dots: str
    dash: str
    raised: bool

    def superscript(self, letters: tuple[str, ...]) -> str:
        """Write row letters as superscripts; empty for none."""
        if not letters:
            return ""
        if self.raised and all(len(name) == 1 for name in letters):
            return "".join(_RAISED[name] for name in letters)
        joined = "".join(letters) if all(len(n) == 1 for n in letters) else ",".join(letters)
        return f"^{joined}"


UNICODE = Marks(
    failed="✗",
    control="·",
    dot="·",
    minus="−",  # noqa: RUF001 - the minus sign is what is meant
    times="×",
    at_least="≥",
    at_most="≤",
    dots="…",
    dash="–",
    raised=True,
)
ASCII = Marks(
    failed="x",
    control=".",
    dot="-",
    minus="-",
    times="x",
    at_least=">=",
    at_most="<=",
    dots="...",
    dash="-",
    raised=False,
)


def row_letter(place: int) -> str:
    """Name a row by its place from 0: a to z without q, then aa, ab and so on."""
    letters = ""
    place += 1
    while place > 0:
        place, rest = divmod(place - 1, len(LETTERS))
        letters = LETTERS[rest] + letters
    return letters


Tone = Literal["", "plain", "dim", "bad", "good", "head"]
"""How a line is meant: dim for controls, bad for what failed."""

GAP = "  "
LEAST = 24
"""Cells that a clipped column keeps."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its head, and how it gives way where there is no room.

    Attributes:
        group: a word over this and the neighbouring columns of the same group.
        rank: 0 is always shown; of the others, the highest goes first where there is no room.
        clip: its texts are cut where there is no room, down to `LEAST` cells.
        meaning: what its cells say, for the legend and tooltips; empty where the head says it.
    """

    head: str
    group: str = ""
    right: bool = True
    rank: int = 0
    clip: bool = False
    meaning: str = ""

    @property
    def name(self) -> str:
        """Group and head together, as one head."""
        return f"{self.group} {self.head}".strip()


Row = tuple[Sequence[str], Tone]
"""The cells of a row, one for each column, and how the row is meant."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that the terminal, Markdown and HTML show alike."""

    columns: Sequence[Column]
    rows: Sequence[Row]

    @classmethod
    def of_columns(
        cls, series: Iterable[tuple[Column, Sequence[str]]], tones: Iterable[Tone] = ()
    ) -> Table:
        """Make a table from columns with their cells."""
        columns, cells = zip(*series, strict=True)
        plain: Iterable[Tone] = repeat("")
        rows = zip(zip(*cells, strict=True), chain(tones, plain), strict=False)
        return cls(columns, tuple(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A line ready to print, and its tone."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalTable:
    """A table as lines, and the heads of the columns that found no room."""

    lines: tuple[TextLine, ...]
    hidden: tuple[str, ...] = ()


def cells_wide(text: str) -> int:
    """Count the terminal cells of a text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_character, text))


def _character(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Cf", "Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Pad a text with spaces to a width in cells."""
    fill = " " * max(0, width - cells_wide(text))
    return fill + text if right else text + fill


def terminal_table(table: Table, width: int, *, indent: str = "  ") -> TerminalTable:
    """Render a table within a width in cells; columns give way by rank, and none is cut."""
    columns = table.columns
    wide = [
        max([cells_wide(c.head), *(cells_wide(cells[i]) for cells, _ in table.rows)])
        for i, c in enumerate(columns)
    ]
    room = width - len(indent)
    wide = _clipped(columns, wide, room)
    shown = _shown(columns, wide, room)
    lines = [*_heads(columns, wide, shown, indent)]
    for cells, tone in table.rows:
        text = GAP.join(_cell(cells[i], wide[i], columns[i]) for i in shown)
        lines.append(TextLine(text=(indent + text).rstrip(), tone=tone))
    hidden = tuple(c.name for i, c in enumerate(columns) if i not in shown)
    return TerminalTable(lines=tuple(lines), hidden=hidden)


def _cell(text: str, width: int, column: Column) -> str:
    return pad(clip(text, width) if column.clip else text, width, right=column.right)


def clip(text: str, width: int) -> str:
    """Cut a text to a width in cells, with two dots at the cut."""
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
            alone = sum(columns[other].group == group for other in shown) == 1
            over = group if alone else columns[i].head
            indent = wide[i] - cells_wide(over) if columns[i].right else 0
            text = pad(text, max(at + indent, len(text) + len(GAP) if text else 0)) + group
        before = group
        at += wide[i] + len(GAP)
    return text
