"""Recall by scenario, ability, category or budget, with a column for each strategy or budget."""

from __future__ import annotations

from collections.abc import Sequence

from memsim.report import numbers
from memsim.report.layout import Column, Laid, TextLine, Tone, lay_out
from memsim.report.marks import Marks
from memsim.report.rows import Board, Matrix, Slice

Table = list[tuple[Column, list[str]]]
"""Columns with their cells."""

MANY_SLICES = 24
"""Rows of a matrix beyond which only the most telling ones are printed."""

_SHORT = {"ceiling": "ceil.", "evidence": "evid.", "floor": "floor"}


def matrix_lines(matrix: Matrix, board: Board, marks: Marks, width: int) -> list[TextLine]:
    """A matrix with a column for each row of the board, named in full where there is room."""
    shown, left_out = telling(matrix.slices)
    names = [[s.name, numbers.count(s.n), *map(numbers.share, s.recall)] for s in shown]
    rows: list[tuple[Sequence[str], Tone]] = [(cells, "plain") for cells in names]
    laid = _fit_matrix(matrix.by, board, rows, marks, width)
    lines = [TextLine(text=f"recall by {matrix.by}", tone="head"), *laid.lines]
    if left_out:
        text = f"  {marks.dots} {left_out:,} more, with less between the strategies, in report.md"
        lines.append(TextLine(text=text, tone="dim"))
    return lines


def telling(slices: Sequence[Slice], most: int = MANY_SLICES) -> tuple[list[Slice], int]:
    """The slices to print, in order, and how many are left out.

    Where there are too many, those stay that tell the strategies apart best, or that are hardest.
    """
    if len(slices) <= most:
        return list(slices), 0
    ranked = sorted(range(len(slices)), key=lambda i: (-_spread(slices[i]), _best(slices[i]), i))
    return [slices[i] for i in sorted(ranked[:most])], len(slices) - most


def _spread(piece: Slice) -> float:
    known = [v for v in piece.recall if v is not None]
    return max(known) - min(known) if known else -1.0


def _best(piece: Slice) -> float:
    return max((v for v in piece.recall if v is not None), default=1.0)


def _fit_matrix(
    by: str,
    board: Board,
    rows: Sequence[tuple[Sequence[str], Tone]],
    marks: Marks,
    width: int,
) -> Laid:
    full = [row.strategy for row in board.rows]
    short = [row.letter or _SHORT.get(row.control, marks.control) for row in board.rows]
    laid = lay_out(_matrix_columns(by, full), rows, width, indent="  ")
    if laid.hidden or len(laid.lines[0].text) > width:
        return lay_out(_matrix_columns(by, short), rows, width, indent="  ")
    return laid


def _matrix_columns(by: str, heads: Sequence[str]) -> list[Column]:
    first = [Column(head=by, right=False), Column(head="n", rank=99)]
    return [*first, *(Column(head=head) for head in heads)]


def sweep_table(boards: Sequence[Board]) -> Table:
    """Recall by strategy and budget; empty when there is only one budget."""
    budgets = sorted({b.budget for b in boards})
    if len(budgets) < 2:
        return []
    names = list(dict.fromkeys((b.dataset, r.strategy) for b in boards for r in b.rows))
    found = {(b.dataset, r.strategy, b.budget): r for b in boards for r in b.rows}
    table: Table = [(Column(head="strategy", right=False), [name for _, name in names])]
    if any(dataset for dataset, _ in names):
        table.append((Column(head="over", right=False), [d or "scenarios" for d, _ in names]))
    for budget in budgets:
        rows = [found.get((*name, budget)) for name in names]
        cells = [numbers.share(r.recall.mean) if r else "" for r in rows]
        table.append((Column(head=numbers.budget(budget)), cells))
    return table


def sweep_lines(boards: Sequence[Board], width: int) -> list[TextLine]:
    """Recall by strategy and budget, where several were tried."""
    table = sweep_table(boards)
    if not table:
        return []
    rows = list(zip(*(cells for _, cells in table), strict=True))
    tones: list[Tone] = ["plain"] * len(rows)
    laid = lay_out([c for c, _ in table], list(zip(rows, tones, strict=True)), width)
    return [TextLine(text="recall by budget", tone="head"), *laid.lines, TextLine(text="")]
