"""Compactions, and the tokens that they freed: `compactions`, `tokens_freed`, `summaries_grew`."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, amount, measured, unmeasured

METRICS = {
    "compactions": amount("compactions", "count"),
    "tokens_freed": amount("freed by compactions", "tokens", "higher"),
    "summaries_grew": amount("compactions that ended larger than they began", "count"),
}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Add up the compactions that strategies logged."""
    if not records.turns:
        return dict.fromkeys(METRICS, unmeasured("no turn was played"))
    count = freed = grew = 0
    for line in records.turns:
        for event in line.get("events", ()):
            if event["kind"] != "compaction":
                continue
            count += 1
            before, after = event.get("before"), event.get("after")
            if before is not None and after is not None:
                freed += max(0, before - after)
                grew += after > before
    n = len(records.turns)
    values = zip(METRICS, (count, freed, grew), strict=True)
    return {name: measured(value, n) for name, value in values}
