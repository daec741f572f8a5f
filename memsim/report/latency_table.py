"""Make the table of how long the calls of each strategy took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memsim.latency import OPERATIONS, PROCESSOR, REAL, LatencyRow
from memsim.report import number_format
from memsim.report.board_tables import wrapped
from memsim.report.layout import Column, Table, TextLine, terminal_table
from memsim.report.run_summary import Board
from memsim.runs.latency_file import latency_by_strategy
from memsim.suite.cases import CaseResult

PAGE_NOTE = (
    "Median and 95th percentile of a call: a message written, a turn ended, a context built."
    " Times are those of the machine that played the run, for information; they are never gated."
)
LATENCY_NOTE = (
    f"{PAGE_NOTE} CPU: processor time of memsim's process, missing for a strategy in another one."
)
_CLOCKS = {REAL: "", PROCESSOR: " CPU"}
_NOTHING = "no time was kept in this run"


def latency_table(
    cases: Sequence[CaseResult], board: Board, clocks: Sequence[str] = (REAL, PROCESSOR)
) -> Table | None:
    """Make the table of a board, of some clocks; None where nothing was timed."""
    return _tables(cases, clocks).get((board.budget, board.dataset))


def latency_lines(cases: Sequence[CaseResult], width: int) -> Iterator[TextLine]:
    """Render the times of every budget and dataset for a terminal."""
    tables = _tables(cases)
    for (budget, dataset), made in tables.items():
        named = f"time of a call, budget {number_format.budget(budget)}"
        yield TextLine(text="")
        yield TextLine(text=f"{dataset} {named}".strip(), tone="head")
        yield from terminal_table(made, width, indent="").lines
    yield from wrapped(LATENCY_NOTE if tables else _NOTHING, width)


def _tables(
    cases: Sequence[CaseResult], clocks: Sequence[str] = (REAL, PROCESSOR)
) -> dict[tuple[int, str], Table]:
    """The table of each budget and dataset."""
    times: dict[tuple[int, str], dict[str, Sequence[LatencyRow]]] = {}
    for (strategy, budget, dataset), rows in latency_by_strategy(cases).items():
        times.setdefault((budget, dataset), {})[strategy] = rows
    return {place: _table(found, clocks) for place, found in times.items()}


def _table(times: dict[str, Sequence[LatencyRow]], clocks: Sequence[str]) -> Table:
    """Make a table with a row for each strategy, without clocks that nothing was timed by."""
    series = [(Column("strategy", right=False), [*times])]
    for operation in OPERATIONS.values():
        for clock in clocks:
            found = [_row(rows, operation, clock) for rows in times.values()]
            if any(found):
                rank = 0 if clock == REAL else 1
                group = f"{operation}{_CLOCKS[clock]}"
                p50 = [_time(r.p50 if r else None) for r in found]
                p95 = [_time(r.p95 if r else None) for r in found]
                series.append((Column("p50", group=group, rank=rank), p50))
                series.append((Column("p95", group=group, rank=rank), p95))
    return Table.of_columns(series)


def _row(rows: Sequence[LatencyRow], operation: str, clock: str) -> LatencyRow | None:
    return next((r for r in rows if (r.operation, r.clock) == (operation, clock)), None)


def _time(value: float | None) -> str:
    return number_format.UNSCORED if value is None else number_format.milliseconds(value)
