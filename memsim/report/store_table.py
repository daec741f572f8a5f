"""Make the table of what each memory wrote to its store."""

from __future__ import annotations

from collections.abc import Callable

from memsim.report import number_format
from memsim.report.layout import Column, Table
from memsim.report.run_summary import Board

STORE_TITLE = "what the memory wrote"
STORE_METRICS = {
    "recall": ("store_recall", "planted facts in force that the store holds at the end"),
    "updated": ("store_recall_updated", "the same, of facts that changed"),
    "precision": ("store_precision", "entries that state what is in force, of those that state"),
    "dupl.": ("store_duplicates", "entries that repeat an earlier one, exactly or nearly"),
    "invented": ("store_invented", "entries that state what nobody said"),
    "stale": ("store_stale", "entries that give a replaced or erased value as in force"),
    "barred": ("store_barred", "facts in the store that were not to be remembered"),
    "growth": ("store_growth", "characters that the store grew by in a turn"),
}
"""Columns of the table: the metric of each, and its meaning."""


def store_table(board: Board) -> Table | None:
    """Make the table of the stores; None where no memory shows one."""
    rows = [row for row in board.rows if row.store and not row.control]
    if not rows:
        return None
    series = [
        (Column("", right=False), [f"  {r.letter}" for r in rows]),
        (Column("strategy", right=False), [r.strategy for r in rows]),
    ]
    for rank, (head, (metric, meaning)) in enumerate(STORE_METRICS.items()):
        found = [row.store.get(metric) for row in rows]
        if any(value is not None for value in found):
            show: Callable[[float | None], str] = (
                _characters if head == "growth" else number_format.share
            )
            series.append((Column(head, rank=rank, meaning=meaning), [show(v) for v in found]))
    return Table.of_columns(series)


def _characters(value: float | None) -> str:
    return number_format.UNSCORED if value is None else f"{value:,.0f}"
