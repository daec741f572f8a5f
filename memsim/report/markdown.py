"""A run as Markdown: the same records as the terminal shows, with nothing left out for width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memsim.report import numbers
from memsim.report.comparison import comparison_markdown
from memsim.report.failures import broken_text, explain_command, missed_text
from memsim.report.judging import judge_sentences
from memsim.report.layout import Column
from memsim.report.marks import UNICODE
from memsim.report.matrix import sweep_table
from memsim.report.rows import Board, Failure, Matrix, MissedGroup, Summary, Unscored
from memsim.report.table import (
    MASKED_TITLE,
    board_table,
    legend,
    masked_table,
    ranking_table,
    title,
)


def markdown(summary: Summary) -> str:
    """The whole report, ending with a newline."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: Summary) -> Iterator[str]:
    header = summary.header
    yield f"# memsim run {escape(header.run)}".rstrip()
    yield ""
    yield f"**{escape(summary.verdict.sentence)}**"
    yield ""
    judge = f" judge {code(header.judge)}," if header.judge else ""
    yield (
        f"memsim {header.version}, model {code(header.model)},{judge} embedder"
        f" {code(header.embedder)}, tokenizer {code(header.tokenizer)}, seed {header.seed},"
        f" repeat {header.repeat}"
    )
    for board in summary.boards:
        yield from _board(board)
    if sweep := sweep_table(summary.boards):
        yield from ("", "## Recall by budget", "")
        yield from table_rows(sweep)
    if summary.judging is not None:
        yield from ("", "## Judge", "")
        yield from (f"- {escape(said)}" for said in judge_sentences(summary.judging))
    if summary.leakage:
        from memsim.report.leak_tables import leakage_markdown

        yield from leakage_markdown(summary.leakage, UNICODE, beside=summary.boards)
    if summary.comparison is not None:
        yield from comparison_markdown(summary.comparison)
    yield from _failures(summary.failures)
    yield from _unscored(summary.unscored)
    yield from _missed(summary.missed)
    fence = max(("```", *(f"{ticks}`" for ticks in _TICKS.findall(header.command))), key=len)
    yield from ("", "## Reproduce", "", fence, header.command, fence)


def _board(board: Board) -> Iterator[str]:
    yield from ("", f"## {escape(title(board, UNICODE))}", "")
    yield from table_rows(board_table(board, UNICODE))
    yield ""
    yield from (f"- {escape(note)}" for note in legend(board, UNICODE))
    if ranking := ranking_table(board):
        yield from ("", "### Evidence recall of the ranking", "")
        yield from table_rows(ranking)
    if masked := masked_table(board):
        yield from ("", f"### {MASKED_TITLE.capitalize()}", "")
        yield from table_rows(masked)
    for matrix in board.matrices:
        yield from _matrix(matrix, board)


def _matrix(matrix: Matrix, board: Board) -> Iterator[str]:
    yield from ("", f"### Recall by {escape(matrix.by)}", "")
    heads = [Column(head=matrix.by, right=False), Column(head="n")]
    heads += [Column(head=row.strategy) for row in board.rows]
    cells = [
        [piece.name, numbers.count(piece.n), *map(numbers.share, piece.recall)]
        for piece in matrix.slices
    ]
    yield from _rows(heads, cells)


def table_rows(table: Sequence[tuple[Column, Sequence[str]]]) -> Iterator[str]:
    """A table with its heads."""
    heads = [column for column, _ in table]
    yield from _rows(heads, zip(*(cells for _, cells in table), strict=True))


def _rows(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row([f"{c.group} {c.head}".strip() for c in columns])
    yield "|" + "|".join(" ---: " if c.right else " :--- " for c in columns) + "|"
    yield from map(_row, rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escape(cell.strip()) for cell in cells) + " |"


_MARKUP = re.compile(r"[\\|*_`]|<(?=\S)|\](?=[(\[:])")
_BROKEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TICKS = re.compile("`+")


def escape(text: str) -> str:
    """A text in which nothing is markup, on one line: no link, no picture, no HTML."""
    return _MARKUP.sub(lambda sign: f"\\{sign[0]}", _BROKEN.sub(" ", text))


def code(text: str) -> str:
    """A text as code, on one line, between more backticks than it has in a row."""
    line = _BROKEN.sub(" ", text)
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    gap = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{gap}{line}{gap}{ticks}"


def _failures(failures: tuple[Failure, ...]) -> Iterator[str]:
    if not failures:
        return
    yield from ("", "## Failed", "")
    for failure in failures:
        yield f"- {code(failure.case)}"
        for broken in failure.broken:
            place = f" ({broken.place})" if broken.place else ""
            yield f"  - {escape(broken_text(broken, UNICODE))}{escape(place)}"
        for probe in failure.missed:
            yield f"  - missed: {code(explain_command(probe.id))}"


def _unscored(cases: tuple[Unscored, ...]) -> Iterator[str]:
    if not cases:
        return
    yield from ("", "## Not scored", "")
    for case in cases:
        yield f"- {code(case.case)}: {escape(case.error or case.state)}"


def _missed(groups: tuple[MissedGroup, ...]) -> Iterator[str]:
    if not groups:
        return
    yield from ("", "## Missed, and why", "")
    heads = [
        Column(head="strategy", right=False),
        Column(head="budget"),
        Column(head="missed", right=False),
        Column(head="such as", right=False),
    ]
    yield from _rows(heads, map(_missed_cells, groups))


def _missed_cells(group: MissedGroup) -> list[str]:
    example = group.examples[0].id if group.examples else ""
    return [group.strategy, numbers.budget(group.budget), missed_text(group), example]
