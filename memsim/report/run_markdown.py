"""Render a run as Markdown, with nothing left out for width."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.report import number_format
from memsim.report.board_tables import (
    MASKED_TITLE,
    board_table,
    judge_sentences,
    legend,
    masked_table,
    matrix_table,
    ranking_table,
    sweep_table,
    title,
)
from memsim.report.comparison_text import comparison_markdown
from memsim.report.failure_text import (
    bound_place,
    broken_text,
    explain_command,
    missed_text,
)
from memsim.report.layout import (
    BACKTICKS,
    UNICODE,
    Column,
    Table,
    markdown_code,
    markdown_escape,
    markdown_table,
)
from memsim.report.recommendation import findings
from memsim.report.run_summary import (
    Board,
    CaseFailure,
    Matrix,
    MissedGroup,
    RunSummary,
    UnscoredCase,
)
from memsim.report.store_table import STORE_TITLE, store_table


def markdown(summary: RunSummary) -> str:
    """Render the whole report, with a newline at the end.

    The run's folder alone says its name, so that equal runs have equal reports.
    """
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: RunSummary) -> Iterator[str]:
    header = summary.header
    yield "# memsim run"
    yield ""
    said = findings(summary) if summary.rivals else summary.verdict.sentence
    yield f"**{markdown_escape(said)}**"
    yield ""
    judge = f" judge {markdown_code(header.judge)}," if header.judge else ""
    yield (
        f"memsim {header.version}, model {markdown_code(header.model)},{judge} embedder"
        f" {markdown_code(header.embedder)}, tokenizer {markdown_code(header.tokenizer)},"
        f" seed {header.seed}, repeat {header.repeat}"
    )
    if header.isolated:
        names = ", ".join(map(markdown_code, header.isolated))
        yield from ("", f"In processes of their own: {names}")
    for strategy, hosts in header.hosts:
        met = ", ".join(map(markdown_code, hosts))
        yield from ("", f"{markdown_code(strategy)} talked to {met}")
    for strategy, notes in header.notes:
        yield from ("", f"{markdown_code(strategy)}: {markdown_escape('; '.join(notes))}")
    for board in summary.boards:
        yield from _board(board)
    if sweep := sweep_table(summary.boards):
        yield from ("", "## Recall by budget", "")
        yield from markdown_table(sweep)
    if summary.judging is not None:
        yield from ("", "## Judge", "")
        yield from (f"- {markdown_escape(said)}" for said in judge_sentences(summary.judging))
    if summary.leakage:
        from memsim.report.leak_tables import leakage_markdown

        yield from leakage_markdown(summary.leakage, UNICODE, beside=summary.boards)
    if summary.comparison is not None:
        yield from comparison_markdown(summary.comparison)
    yield from _failures(
        summary.failures, "Bounds that were not kept" if summary.rivals else "Failed"
    )
    yield from _unscored(summary.unscored)
    yield from _missed(summary.missed)
    if not header.command:
        return
    fence = _fence(header.command)
    yield from ("", "## Reproduce", "", fence, header.command, fence)


def _board(board: Board) -> Iterator[str]:
    yield from ("", f"## {markdown_escape(title(board, UNICODE))}", "")
    yield from markdown_table(board_table(board, UNICODE))
    yield ""
    yield from (f"- {markdown_escape(note)}" for note in legend(board, UNICODE))
    if ranking := ranking_table(board):
        yield from ("", "### Evidence recall of the ranking", "")
        yield from markdown_table(ranking)
    if masked := masked_table(board):
        yield from ("", f"### {MASKED_TITLE.capitalize()}", "")
        yield from markdown_table(masked)
    if stores := store_table(board):
        yield from ("", f"### {STORE_TITLE.capitalize()}", "")
        yield from markdown_table(stores)
    for matrix in board.matrices:
        yield from _matrix(matrix, board)


def _matrix(matrix: Matrix, board: Board) -> Iterator[str]:
    yield from ("", f"### {matrix.of.capitalize()} by {markdown_escape(matrix.by)}", "")
    yield from markdown_table(matrix_table(matrix, [row.strategy for row in board.rows]))


def _failures(failures: tuple[CaseFailure, ...], head: str) -> Iterator[str]:
    if not failures:
        return
    yield from ("", f"## {head}", "")
    for failure in failures:
        yield f"- {markdown_code(failure.case)}"
        for broken in failure.broken:
            place = f" ({bound_place(broken)})" if broken.place else ""
            yield f"  - {markdown_escape(broken_text(broken, UNICODE))}{markdown_escape(place)}"
        for probe in failure.missed:
            yield f"  - missed: {markdown_code(explain_command(probe.id))}"


def _fence(text: str) -> str:
    """A fence that is longer than any row of backticks in the text."""
    return max(("```", *(f"{ticks}`" for ticks in BACKTICKS.findall(text))), key=len)


def _unscored(cases: tuple[UnscoredCase, ...]) -> Iterator[str]:
    if not cases:
        return
    yield from ("", "## Not scored", "")
    for case in cases:
        yield f"- {markdown_code(case.case)}: {markdown_escape(case.error or case.state)}"
        for text in case.tracebacks:
            fence = _fence(text)
            yield from ("", f"  {fence}", *(f"  {line}" for line in text.splitlines()))
            yield from (f"  {fence}", "")


def _missed(groups: tuple[MissedGroup, ...]) -> Iterator[str]:
    if not groups:
        return
    yield from ("", "## Missed, and why", "")
    heads = ("strategy", "budget", "missed", "such as")
    columns = [Column(head, right=head == "budget") for head in heads]
    yield from markdown_table(Table(columns, [(_missed_cells(group), "") for group in groups]))


def _missed_cells(group: MissedGroup) -> list[str]:
    example = group.examples[0].id if group.examples else ""
    return [group.strategy, number_format.budget(group.budget), missed_text(group), example]
