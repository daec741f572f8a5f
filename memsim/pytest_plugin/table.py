"""The results of a session as the table and the blocks that `memsim run` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memsim.gate import fails, lacks
from memsim.report.answers import answer_of
from memsim.report.boards import boards_of
from memsim.report.comparison import comparison_lines
from memsim.report.gather import failure_of, unscored_of
from memsim.report.layout import TextLine
from memsim.report.table import board_lines

if TYPE_CHECKING:
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
    cases = {(c.id, c.repeat): c for c in results}
    answers = [answer_of(cases[x["case"], x["repeat"]], x) for x in lines if "leakage" not in x]
    shown: list[TextLine] = []
    for board in boards_of([c for c in results if c.dataset != "leakage"], answers):
        shown += [*board_lines(board, marks, width), TextLine(text="")]
    if found is not None:
        shown += comparison_lines(found, marks, width, run="")
    return shown


def failures_of(
    results: Sequence[CaseResult], lines: Lines
) -> tuple[tuple[Failure, ...], tuple[Unscored, ...]]:
    """The cases that broke a bound, and those that could not be scored."""
    mine: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for line in lines:
        mine.setdefault((line["case"], line["repeat"]), []).append(line)
    failed = [failure_of(c, mine.get((c.id, c.repeat), ())) for c in results if fails(c)]
    return tuple(failed), tuple(unscored_of(c) for c in results if lacks(c))
