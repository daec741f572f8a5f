"""Print the result of a run: a table, Markdown, JSON or JSON lines on standard output."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from memsim.cli.terminal import Terminal
from memsim.report.layout import TextLine, cells_wide
from memsim.report.number_format import plural

if TYPE_CHECKING:
    from memsim.report.run_summary import RunHeader, RunSummary
    from memsim.runs import Run

Format = Literal["table", "md", "json", "jsonl"]


def show_run(
    run: Run,
    summary: RunSummary,
    form: Format,
    terminal: Terminal,
    *,
    quiet: bool,
    verbose: bool = False,
) -> None:
    """Print a run to standard output."""
    from memsim.report.run_markdown import markdown
    from memsim.report.run_summary import json_case_lines, json_document

    if form == "table":
        lines = [] if quiet else run_lines(summary, terminal, verbose=verbose)
        terminal.say_lines([*lines, verdict_line(summary, terminal)])
    elif form == "md":
        terminal.say(markdown(summary).rstrip("\n"))
    elif form == "json":
        terminal.say(json_document(summary))
    else:
        terminal.say("\n".join(json_case_lines(run)))


def run_lines(summary: RunSummary, terminal: Terminal, *, verbose: bool = False) -> list[TextLine]:
    """The tables and failures of a run, as lines in reading order."""
    from memsim.report import board_tables, failure_text
    from memsim.report.board_tables import judge_sentences
    from memsim.report.comparison_text import comparison_lines

    marks, width = terminal.marks, terminal.width
    lines: list[TextLine] = []
    for board in summary.boards:
        lines += [*board_tables.board_lines(board, marks, width), TextLine(text="")]
    lines += board_tables.sweep_lines(summary.boards, width)
    if summary.judging is not None:
        bad = bool(summary.judging.unfit)
        said = [board_tables.wrapped(text, width) for text in judge_sentences(summary.judging)]
        lines += [replace(line, tone="bad") if bad else line for part in said for line in part]
        lines.append(TextLine(text=""))
    lines += failure_text.missed_lines(summary.missed, marks, width)
    if summary.leakage:
        from memsim.report.leak_tables import leakage_lines

        lines += leakage_lines(
            summary.leakage, marks, width, beside=summary.boards, verbose=verbose
        )
    if summary.comparison is not None:
        lines += comparison_lines(summary.comparison, marks, width)
    lines += failure_text.unscored_lines(summary.unscored, marks, tracebacks=verbose)
    lines += failure_text.failure_lines(summary.failures, marks)
    return lines


def verdict_line(summary: RunSummary, terminal: Terminal) -> TextLine:
    """The last line: the verdict in words, as the exit code has it."""
    from memsim.report.board_tables import closing_line

    text = closing_line(summary, terminal.marks)
    return TextLine(text=text, tone="bad" if summary.verdict.exit_code else "good")


def header_lines(header: RunHeader, terminal: Terminal, *, planned: str) -> Iterator[TextLine]:
    """The settings that shape the numbers, as lines above them."""
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
    """The parts separated by dots, on as many lines as the terminal width requires."""
    lines = parts[:1]
    for part in parts[1:]:
        longer = f"{lines[-1]} {terminal.marks.dot} {part}"
        lines[-1:] = [longer] if cells_wide(longer) <= terminal.width else [lines[-1], f"  {part}"]
    return lines


class Stopwatch:
    """Seconds since it was made, for display only; no result depends on them."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds until now."""
        return time.perf_counter() - self._start
