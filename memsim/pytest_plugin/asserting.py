"""What stands behind `assert result.recall >= 0.8` where it does not hold."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from memsim.report.answers import answer_of
from memsim.report.estimates import estimate
from memsim.report.failures import block, metric_value
from memsim.report.gather import failure_of
from memsim.report.marks import UNICODE
from memsim.report.numbers import interval, plural
from memsim.suite.single import CaseReport, Score

_SIGNS = frozenset({"<", "<=", ">", ">=", "==", "!="})


def comparison_of(op: str, left: object, right: object) -> list[str] | None:
    """The lines that pytest shows below an assertion; None where it compares no score.

    Args:
        op: the comparison, as it is written.
        left: what stands left of it.
        right: what stands right of it.
    """
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
