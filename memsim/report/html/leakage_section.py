"""Render the leakage section: channels by strategy, each number with its count."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.report import number_format
from memsim.report.html.markup import Markup, element, folded, items, joined, table, unmeasured
from memsim.report.html.page_content import PageContent, section
from memsim.report.layout import UNICODE, Column, Table
from memsim.report.leak_board import LeakBoard, LeakCell
from memsim.report.leak_tables import leakage_text

TONES = {"leak": "leak", "safe": "safe", "invalid": "unclear", "n/a": "unclear", "error": "unclear"}


def leakage(subject: PageContent) -> Markup:
    """Render the leakage section, or a note that no channel was played."""
    boards = subject.summary.leakage
    if boards:
        inside = [part for board in boards for part in _board(board, subject)]
    else:
        said = "No channel of leakage was played in this run; that is not the same as no leak."
        inside = [unmeasured(said, "memsim run leakage")]
    return section("leakage", "What it leaked", "Who could see what they may not?", *inside)


def _board(board: LeakBoard, subject: PageContent) -> Iterator[Markup]:
    found = leakage_text(board, UNICODE, beside=subject.summary.boards)
    yield element("h3", found.title)
    yield _matrix(board)
    yield items(found.notes, class_="note")
    yield folded(
        "Every number: upper bounds, coverage, authorised recall",
        table(found.table, f"Leaks by channel and strategy, in full, {_over(board)}", heading=0),
    )
    for head, texts in found.blocks:
        if texts:
            yield folded(f"{head} ({len(texts):,})", items(texts))


def _matrix(board: LeakBoard) -> Markup:
    rows = board.rows
    series = [
        (Column("channel", right=False), [f"{r.channel} {r.name}" for r in rows]),
        (Column("gate", right=False), [r.gate for r in rows]),
    ]
    for place, strategy in enumerate(board.strategies):
        series.append((Column(strategy), [_counted(r.cells[place]) for r in rows]))

    def cell(at: int, column: int, text: str) -> Markup | str:
        if column < 2:
            return text
        found = rows[at].cells[column - 2]
        return "" if found is None else _shown(found, text)

    caption = f"Leaks of eligible attempts, by channel and strategy, {_over(board)}"
    return table(Table.of_columns(series), caption, cell=cell, heading=0)


def _over(board: LeakBoard) -> str:
    return f"budget {number_format.budget(board.budget)}"


def _counted(cell: LeakCell | None) -> str:
    if cell is None:
        return ""
    if cell.verdict in {"n/a", "error"}:
        return cell.verdict
    counted = f"{cell.leaks} of {cell.eligible}"
    return f"invalid: {counted}" if cell.verdict == "invalid" else counted


def _shown(cell: LeakCell, text: str) -> Markup:
    tone = TONES.get(cell.verdict, "unclear")
    if tone == "leak" and not cell.breaches:
        tone = "unclear"
    mark = f"{UNICODE.failed} " if tone == "leak" else ""
    recall = number_format.share(cell.recall)
    beside = f"cov. {number_format.share(cell.coverage)}, AR {recall}"
    small = element("small", beside)
    shown = joined([element("span", f"{mark}{text}"), small])
    return element("span", shown, class_=f"leaked {tone}", title=cell.why or None)
