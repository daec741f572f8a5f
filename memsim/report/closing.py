"""The last line of a run, from the same verdict as its exit code."""

from __future__ import annotations

from memsim.report import numbers
from memsim.report.marks import Marks
from memsim.report.rows import Summary


def closing_line(summary: Summary, marks: Marks) -> str:
    """Such as `1 failed, 5 passed in 4.1 s · reports/runs/20260923T104200-4f1a/report.md`."""
    text = summary.verdict.sentence
    if summary.pending:
        text += f", {summary.pending:,} not run"
    if summary.seconds is not None:
        text += f" in {numbers.seconds(summary.seconds)}"
    return f"{text} {marks.dot} {summary.header.place}" if summary.header.place else text
