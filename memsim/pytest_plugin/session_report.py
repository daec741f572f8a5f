"""The results of a session as tables and failure blocks, as `memsim run` prints them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memsim.config import Settings
from memsim.gate import judge, lacks, rule
from memsim.gate.comparison import Comparison
from memsim.leakage import LEAKAGE
from memsim.report.board_tables import board_lines
from memsim.report.boards import boards_of, estimate
from memsim.report.comparison_text import comparison_lines
from memsim.report.failure_text import block, metric_value
from memsim.report.layout import UNICODE, Marks, TextLine
from memsim.report.number_format import interval, plural
from memsim.report.probe_answers import ProbeAnswer, answer_of
from memsim.report.run_summary import Board, CaseFailure, RunSummary, UnscoredCase
from memsim.report.summarise import (
    EXAMPLES,
    failure_of,
    failures_of,
    header_of,
    missed_of,
    unscored_of,
)
from memsim.suite.cases import CaseResult
from memsim.suite.single import CaseReport, Score

_SIGNS = frozenset({"<", "<=", ">", ">=", "==", "!="})


def comparison_of(op: str, left: object, right: object) -> list[str] | None:
    """Explain a comparison of a score in an assertion; None if it compares no score."""
    scores = [side for side in (left, right) if isinstance(side, Score)]
    if op not in _SIGNS or not scores:
        return None
    first = f"{scores[0].metric} {_shown(left)} {op} {_shown(right)}"
    return [first, *(line for score in scores for line in _behind(score))]


def _shown(side: object) -> str:
    if isinstance(side, Score):
        return metric_value(side.metric, side)
    return f"{side:g}" if isinstance(side, float) else repr(side)


def _behind(score: Score) -> Iterator[str]:
    report = score.report
    yield _told(score, report)
    if report.result is None:
        return
    failure = failure_of(report.result, report.probes)
    missed = failure.missed[0].id if failure.missed else ""
    commands = [report.command, f"memsim explain {shlex.quote(missed)}" if missed else ""]
    said = "; ".join(c for c in commands if c) if report.command else ""
    lines = [line.text.strip() for line in block(failure, UNICODE, command=said or " ")]
    yield from (f"  {line}" for line in lines[1:] if line)


def _told(score: Score, report: CaseReport) -> str:
    value = metric_value(score.metric, score)
    if report.result is None:
        return f"{score.metric} {value}"
    answers = [answer_of(report.result, line) for line in report.probes]
    known = {a.unit: s for a in answers if (s := a.score(score.metric)) is not None}
    found = estimate(known, clustered=False)
    if found.low is None:
        return f"{score.metric} {value} of {report.id}"
    over = f"{interval(found.low, found.high)} over {plural(found.n, 'probe')}"
    return f"{score.metric} {value}, 95% {over} of {report.id}"


Lines = Sequence[Mapping[str, Any]]
"""Records of `probes.jsonl`."""


def session_lines(
    results: Sequence[CaseResult],
    lines: Lines,
    found: Comparison | None,
    marks: Marks,
    width: int,
) -> list[TextLine]:
    """The tables of a session, and the comparison with the baseline."""
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
) -> RunSummary:
    """Summarise a session as `memsim run` does."""
    answers = _answers(results, lines)
    boards = _boards(results, answers)
    failures, unscored = failures_in(results, lines)
    alone = judge(results, max_errors=settings.max_errors)
    required = settings.baseline if strict and found is None else ""
    return RunSummary(
        header=replace(header_of(settings), command=shlex.join(command)),
        boards=boards,
        failures=failures,
        unscored=unscored,
        missed=tuple(missed_of(boards, answers, EXAMPLES)),
        verdict=rule(alone, found, strict=strict, required=required),
        pending=pending,
        comparison=found,
    )


def _boards(results: Sequence[CaseResult], answers: Sequence[ProbeAnswer]) -> tuple[Board, ...]:
    return boards_of([c for c in results if c.dataset != LEAKAGE], answers)


def _answers(results: Sequence[CaseResult], lines: Lines) -> list[ProbeAnswer]:
    cases = {(c.id, c.repeat): c for c in results}
    return [answer_of(cases[x["case"], x["repeat"]], x) for x in lines if LEAKAGE not in x]


def failures_in(
    results: Sequence[CaseResult], lines: Lines
) -> tuple[tuple[CaseFailure, ...], tuple[UnscoredCase, ...]]:
    """The cases that broke a bound, and those that could not be scored."""
    failed = failures_of(results, _answers(results, lines))
    return tuple(failed), tuple(unscored_of(c) for c in results if lacks(c))
