"""Prints a run: the table and what follows it, or the same as Markdown or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from memsim.cli.terminal import Terminal
from memsim.report.layout import TextLine, cells_wide
from memsim.report.numbers import plural

if TYPE_CHECKING:
    from memsim.report.rows import Header, Summary
    from memsim.runs import Run

Format = Literal["table", "md", "json", "jsonl"]


def show(run: Run, summary: Summary, form: Format, terminal: Terminal, *, quiet: bool) -> None:
    """Print a run to standard output.

    Args:
        run: as saved.
        summary: what it says.
        form: how.
        terminal: where to.
        quiet: only the last line of a table.
    """
    from memsim.report.jsonout import case_lines, document
    from memsim.report.markdown import markdown

    if form == "table":
        lines = [] if quiet else table_lines(summary, terminal)
        terminal.say_lines([*lines, closing(summary, terminal)])
    elif form == "md":
        terminal.say(markdown(summary).rstrip("\n"))
    elif form == "json":
        terminal.say(document(summary))
    else:
        terminal.say("\n".join(case_lines(run)))


def table_lines(summary: Summary, terminal: Terminal) -> list[TextLine]:
    """The table, the failures and what was lost, in the order in which they should be read."""
    from memsim.report import failures, matrix, table
    from memsim.report.comparison import comparison_lines
    from memsim.report.judging import judge_sentences

    marks, width = terminal.marks, terminal.width
    lines: list[TextLine] = []
    for board in summary.boards:
        lines += [*table.board_lines(board, marks, width), TextLine(text="")]
    lines += matrix.sweep_lines(summary.boards, width)
    if summary.judging is not None:
        bad = bool(summary.judging.unfit)
        said = [table.wrapped(text, width) for text in judge_sentences(summary.judging)]
        lines += [replace(line, tone="bad") if bad else line for part in said for line in part]
        lines.append(TextLine(text=""))
    lines += failures.missed_lines(summary.missed, marks, width)
    if summary.leakage:
        from memsim.report.leak_tables import leakage_lines

        lines += leakage_lines(summary.leakage, marks, width, beside=summary.boards)
    if summary.comparison is not None:
        lines += comparison_lines(summary.comparison, marks, width)
    lines += failures.unscored_lines(summary.unscored, marks)
    lines += failures.failure_lines(summary.failures, marks)
    return lines


def closing(summary: Summary, terminal: Terminal) -> TextLine:
    """The last line, which says what the exit code says."""
    from memsim.report.closing import closing_line

    text = closing_line(summary, terminal.marks)
    return TextLine(text=text, tone="bad" if summary.verdict.exit_code else "good")


def opening(header: Header, terminal: Terminal, *, planned: str) -> Iterator[TextLine]:
    """What shapes the numbers, before they come."""
    parts = [
        f"memsim {header.version}",
        f"model {header.model}",
        f"embedder {header.embedder}",
        f"tokenizer {header.tokenizer}",
        f"seed {header.seed}",
    ]
    if header.judge:
        parts.insert(2, f"judge {header.judge}")
    if header.repeat > 1:
        parts.append(plural(header.repeat, "repeat"))
    yield from (TextLine(text=line, tone="dim") for line in _joined(parts, terminal))
    yield TextLine(text=planned, tone="dim")
    yield TextLine(text="")


def _joined(parts: list[str], terminal: Terminal) -> list[str]:
    """The parts with dots between them, in as many lines as the terminal needs."""
    lines = parts[:1]
    for part in parts[1:]:
        longer = f"{lines[-1]} {terminal.marks.dot} {part}"
        lines[-1:] = [longer] if cells_wide(longer) <= terminal.width else [lines[-1], f"  {part}"]
    return lines
