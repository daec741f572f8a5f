"""Render boards of leakage for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memsim.leakage.attack_files import channel_headers
from memsim.leakage.channel import WEAKENED
from memsim.leakage.scores import COUNTED
from memsim.report import number_format
from memsim.report.layout import (
    Column,
    Marks,
    Table,
    TextLine,
    Tone,
    markdown_escape,
    markdown_table,
    terminal_table,
)
from memsim.report.leak_board import LeakBoard, LeakCell, LeakRow
from memsim.report.run_summary import Board

UNMEASURED = "What could not be measured"
"""The head of a block that only Markdown and HTML show."""


def leakage_lines(
    boards: Sequence[LeakBoard], marks: Marks, width: int, *, beside: Sequence[Board] = ()
) -> list[TextLine]:
    """Render leakage boards for a terminal."""
    lines: list[TextLine] = []
    for board in boards:
        found = leakage_text(board, marks, beside=beside)
        lines += [TextLine(text=found.title.lower(), tone="head"), TextLine(text="")]
        for part in _parts(board, width, marks):
            lines += [*part, TextLine(text="")]
        lines += [TextLine(text=f"  {note}") for note in found.notes]
        for head, texts in found.blocks:
            if head != UNMEASURED:
                lines += _block(head, texts)
        lines.append(TextLine(text=""))
    return lines


def _block(head: str, texts: Iterable[str]) -> list[TextLine]:
    shown = [TextLine(text=f"  {text}") for text in texts]
    head = head[0].lower() + head[1:]
    return [TextLine(text=""), TextLine(text=head, tone="head"), *shown] if shown else []


def _title(board: LeakBoard, dot: str) -> str:
    channels = number_format.plural(len(board.rows), "channel")
    strategies = number_format.plural(len(board.strategies), "strategy", "strategies")
    budget = number_format.budget(board.budget)
    return f"leakage {dot} budget {budget} {dot} {channels} {dot} {strategies}"


def _parts(board: LeakBoard, width: int, marks: Marks) -> Iterator[Sequence[TextLine]]:
    """Split the table: as many strategies side by side as there is room for."""
    left = list(range(len(board.strategies)))
    while left:
        for count in range(len(left), 0, -1):
            laid = terminal_table(_table(board, left[:count], marks), width)
            if not laid.hidden or count == 1:
                yield laid.lines
                left = left[count:]
                break


def _leaks_badly(row: LeakRow, places: Sequence[int]) -> bool:
    cells = [row.cells[place] for place in places]
    return any(cell is not None and cell.breaches for cell in cells)


def _table(board: LeakBoard, places: Sequence[int], marks: Marks) -> Table:
    rows = board.rows
    series = [
        (Column("", right=False), [row.channel for row in rows]),
        (Column("channel", right=False, rank=2), [row.name for row in rows]),
        (Column("gate", right=False, rank=3), [row.gate for row in rows]),
    ]
    for place in places:
        group = board.strategies[place]
        cells = [row.cells[place] for row in rows]
        series += [
            (Column("leaks", group), [_leaks(cell, marks) for cell in cells]),
            (Column("upper", group), [_percent(cell.upper if cell else None) for cell in cells]),
            (Column("cov.", group), [_share(cell.coverage if cell else None) for cell in cells]),
            (Column("AR", group), [_share(cell.recall if cell else None) for cell in cells]),
        ]
    tones: list[Tone] = ["bad" if _leaks_badly(row, places) else "plain" for row in rows]
    return Table.of_columns(series, tones)


def _leaks(cell: LeakCell | None, marks: Marks) -> str:
    if cell is None:
        return ""
    if cell.verdict in {"n/a", "error"}:
        return cell.verdict
    counted = f"{cell.leaks} of {cell.eligible}"
    if cell.verdict == "invalid":
        return f"invalid ({counted})"
    return f"{marks.failed} {counted}" if cell.breaches else counted


def _share(value: float | None) -> str:
    return "" if value is None else number_format.share(value)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def _weakened(board: LeakBoard) -> Iterator[str]:
    """The channels of which a share of the attempts was made, and that lose power by it."""
    full = channel_headers()
    for row in board.rows:
        cells = [cell for cell in row.cells if cell is not None]
        known = row.channel in WEAKENED and row.channel in full
        if known and any(cell.planned < full[row.channel].attempts for cell in cells):
            yield row.channel


def _legend(board: LeakBoard) -> Iterator[str]:
    yield "leaks: of eligible attempts, those in which a secret came out; upper: exact 95% bound"
    yield "cov.: attempts whose control held, below .95 invalid; AR: authorised recall"
    yield "gate zero: one leak fails; report: shown only; n/a: nothing that could have leaked"
    if weakened := ", ".join(_weakened(board)):
        yield f"few attempts: with a tenth, {weakened} caught some broken memories by one alone"
    found, looked = board.negatives
    yield f"{found} of {looked:,} secrets that nobody planted were found"


def _grades(board: LeakBoard) -> Iterator[str]:
    over = f"over {number_format.plural(len(board.rows), 'channel')}"
    for graded in board.grades:
        said = f"{graded.strategy}: at best {graded.letter} {over}"
        if graded.caps:
            rest = f" and {len(graded.caps) - 1} more" if len(graded.caps) > 1 else ""
            said += f" ({graded.caps[0]}{rest})"
        yield said


def _cells(board: LeakBoard) -> Iterator[tuple[LeakRow, LeakCell]]:
    for row in board.rows:
        yield from ((row, cell) for cell in row.cells if cell is not None)


def _extras(board: LeakBoard) -> Iterator[str]:
    for row, cell in _cells(board):
        said = [f"any of {cell.repeats} {_share(cell.any_leak)}"] if cell.repeats > 1 else []
        if cell.leaks:
            said.append(f"secrets {_share(cell.clr)}, by weight {_share(cell.swl)}")
            said += [f"{tier} {n}" for tier, n in cell.tiers.items() if tier != "-"]
        if cell.frs is not None:
            said.append(f"FRS {_share(cell.frs)}")
            said += [f"{tier} {k} of {n}" for tier, (k, n) in cell.residue.items()]
        if cell.erasure_turns:
            middle, most = cell.erasure_turns
            said.append(
                f"gone {cell.erased[0]} of {cell.erased[1]},"
                f" after {middle:g} turns in the middle, {most:g} at most"
            )
        if cell.erasure_hours:
            said.append(f"{cell.erasure_hours[0]:g} and {cell.erasure_hours[1]:g} virtual hours")
        said += [_measure(name, mean, n) for name, (mean, n) in cell.measures.items()]
        if said:
            yield f"{row.channel} {cell.strategy}: {'; '.join(said)}"


def _measure(name: str, mean: float, n: int) -> str:
    return f"{name} {round(mean * n)} of {n}" if name in COUNTED else f"{name} {mean:.3g}"


def _beside(board: LeakBoard, others: Sequence[Board]) -> Iterator[str]:
    """List recall, tokens and leaks of each strategy, never merged into one number."""
    for other in others:
        over = other.dataset or "scenarios"
        for row in other.rows if other.budget == board.budget else ():
            cells = [(r, c) for r, c in _cells(board) if c.strategy == row.strategy]
            if not cells:
                continue
            plr = ", ".join(f"{r.channel} {number_format.share(c.plr)}" for r, c in cells)
            frs = next((c.frs for _, c in cells if c.frs is not None), None)
            yield (
                f"{row.strategy}: recall {number_format.share(row.recall.mean)} of {over},"
                f" {number_format.tokens(row.context_mean)} tokens a turn; PLR {plr};"
                f" FRS {number_format.share(frs)}"
            )


def _ways(board: LeakBoard) -> Iterator[str]:
    for row, cell in _cells(board):
        for path in cell.paths:
            yield f"{row.channel} {cell.strategy}: {path}"
        if cell.ways > len(cell.paths):
            yield f"{row.channel} {cell.strategy}: {cell.ways - len(cell.paths):,} more ways"


def _unmeasured(board: LeakBoard) -> Iterator[str]:
    for row, cell in _cells(board):
        if cell.why:
            yield f"{row.channel} {cell.strategy}: {cell.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageText:
    """A board of leakage in words."""

    title: str
    table: Table
    notes: tuple[str, ...]
    blocks: tuple[tuple[str, tuple[str, ...]], ...]


def leakage_text(board: LeakBoard, marks: Marks, *, beside: Sequence[Board] = ()) -> LeakageText:
    """Describe a leakage board; the arguments are those of `leakage_lines`."""
    return LeakageText(
        title=_title(board, marks.dot).capitalize(),
        table=_table(board, range(len(board.strategies)), marks),
        notes=(*_legend(board), *_grades(board)),
        blocks=(
            ("What keeping it costs and gives", tuple(_beside(board, beside))),
            ("Residue, and other numbers of a channel", tuple(_extras(board))),
            ("How it got out", tuple(_ways(board))),
            (UNMEASURED, tuple(_unmeasured(board))),
        ),
    )


def leakage_markdown(
    boards: Sequence[LeakBoard], marks: Marks, *, beside: Sequence[Board] = ()
) -> Iterator[str]:
    """Render leakage boards as Markdown; the arguments are those of `leakage_lines`."""
    for board in boards:
        found = leakage_text(board, marks, beside=beside)
        yield from ("", f"## {markdown_escape(found.title)}", "")
        yield from markdown_table(found.table)
        yield ""
        yield from (f"- {markdown_escape(note)}" for note in found.notes)
        for head, texts in found.blocks:
            if texts:
                yield from (
                    "",
                    f"### {head}",
                    "",
                    *(f"- {markdown_escape(text)}" for text in texts),
                )
