"""The results of a session as the table and the blocks that `memsim run` prints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memsim.gate import fails, judge, lacks, rule
from memsim.report.answers import Answer, answer_of
from memsim.report.boards import boards_of
from memsim.report.comparison import comparison_lines
from memsim.report.gather import (
    DATASET,
    EXAMPLES,
    failure_of,
    header_of,
    missed_of,
    unscored_of,
)
from memsim.report.layout import TextLine
from memsim.report.rows import Board, Summary
from memsim.report.table import board_lines

if TYPE_CHECKING:
    from memsim.config import Settings
    from memsim.gate.findings import Comparison
    from memsim.report.marks import Marks
    from memsim.report.rows import Failure, Unscored
    from memsim.suite.cases import CaseResult

Lines = Sequence[Mapping[str, Any]]
"""Of `probes.jsonl`."""


def table_lines(
    results: Sequence[CaseResult],
    lines: Lines,
    found: Comparison | None,
    marks: Marks,
    width: int,
) -> list[TextLine]:
    """The boards of a session, and what became of them since the baseline."""
    shown: list[TextLine] = []
    for board in _boards(results, _answers(results, lines)):
        shown += [*board_lines(board, marks, width), TextLine(text="")]
    if found is not None:
        shown += comparison_lines(found, marks, width, run="")
    return shown


def summary_of(
    results: Sequence[CaseResult],
    lines: Lines,
    found: Comparison | None,
    settings: Settings,
    *,
    strict: bool,
    command: Sequence[str],
    pending: int,
) -> Summary:
    """A session as `memsim run` would sum it up.

    Args:
        results: of every case that was played.
        lines: their probes.
        found: the comparison with a baseline, if there was one.
        settings: of the session.
        strict: as of `memsim run`.
        command: what the user typed.
        pending: cases that were planned and not played.
    """
    answers = _answers(results, lines)
    boards = _boards(results, answers)
    failures, unscored = failures_of(results, lines)
    alone = judge(results, max_errors=settings.max_errors)
    required = settings.baseline if strict and found is None else ""
    return Summary(
        header=replace(header_of(settings), command=shlex.join(command)),
        boards=boards,
        failures=failures,
        unscored=unscored,
        missed=tuple(missed_of(boards, answers, EXAMPLES)),
        verdict=rule(alone, found, strict=strict, required=required),
        pending=pending,
        comparison=found,
    )


def _boards(results: Sequence[CaseResult], answers: Sequence[Answer]) -> tuple[Board, ...]:
    return boards_of([c for c in results if c.dataset != DATASET], answers)


def _answers(results: Sequence[CaseResult], lines: Lines) -> list[Answer]:
    cases = {(c.id, c.repeat): c for c in results}
    return [answer_of(cases[x["case"], x["repeat"]], x) for x in lines if DATASET not in x]


def failures_of(
    results: Sequence[CaseResult], lines: Lines
) -> tuple[tuple[Failure, ...], tuple[Unscored, ...]]:
    """The cases that broke a bound, and those that could not be scored."""
    mine: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for line in lines:
        mine.setdefault((line["case"], line["repeat"]), []).append(line)
    failed = [failure_of(c, mine.get((c.id, c.repeat), ())) for c in results if fails(c)]
    return tuple(failed), tuple(unscored_of(c) for c in results if lacks(c))
