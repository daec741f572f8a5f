"""Compactions, and the tokens that they freed: `compactions`, `tokens_freed`, `summaries_grew`."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Line, Measure, amount, measured, unmeasured

METRICS = {
    "compactions": amount("compactions", "count"),
    "tokens_freed": amount("freed by compactions", "tokens", "higher"),
    "summaries_grew": amount("compactions that ended larger than they began", "count"),
}


class CompactionTotals:
    """Turns, compactions, and the tokens that they freed."""

    def __init__(self) -> None:
        self.turns = self.count = self.freed = self.grew = 0

    def add(self, line: Line) -> None:
        """Add the compactions of a turn."""
        self.turns += 1
        for event in line.get("events", ()):
            if event["kind"] != "compaction":
                continue
            self.count += 1
            before, after = event.get("before"), event.get("after")
            if before is not None and after is not None:
                self.freed += max(0, before - after)
                self.grew += after > before


TURNS = CompactionTotals


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Add up the compactions that strategies logged."""
    found = records.turn_totals(CompactionTotals)
    if not found.turns:
        return dict.fromkeys(METRICS, unmeasured("no turn was played"))
    values = zip(METRICS, (found.count, found.freed, found.grew), strict=True)
    return {name: measured(value, found.turns) for name, value in values}
