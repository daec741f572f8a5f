"""Write `latency.json`: how long the operations of each strategy took in a run.

::

    {"about": "...",
     "rows": [{"strategy": "bm25", "budget": 4096, "dataset": "", "operation": "query",
               "clock": "real", "calls": 34, "p50_ms": 1.2, "p95_ms": 3.4}]}

The file is for information only. It differs from run to run, so it is never compared or gated, and
no other file of a run depends on it. It is made from `cases.jsonl`, which keeps the counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from memsim.atomic_files import sweep, write_whole
from memsim.latency import Latency, LatencyRow, add_latency, latency_rows
from memsim.suite.cases import CaseResult

LATENCY = "latency.json"
_ABOUT = "Times of the machine that played the run, in milliseconds. They are never gated."
_DIGITS = 6

LatencyKey = tuple[str, int, str]
"""A strategy, its budget and the dataset."""


def latency_by_strategy(
    cases: Iterable[CaseResult],
) -> dict[LatencyKey, tuple[LatencyRow, ...]]:
    """The times of each strategy, budget and dataset, in the order of the cases."""
    found: dict[LatencyKey, list[Latency]] = {}
    for case in cases:
        if case.latency:
            found.setdefault((case.strategy, case.budget, case.dataset), []).append(case.latency)
    return {key: latency_rows(add_latency(several)) for key, several in found.items()}


def write_latency(folder: Path, cases: Iterable[CaseResult]) -> None:
    """Write the file of a run; no file where nothing was timed.

    Raises:
        OSError: it cannot be written.
    """
    rows = [
        {
            "strategy": strategy,
            "budget": budget,
            "dataset": dataset,
            "operation": row.operation,
            "clock": row.clock,
            "calls": row.calls,
            "p50_ms": round(row.p50, _DIGITS),
            "p95_ms": round(row.p95, _DIGITS),
        }
        for (strategy, budget, dataset), several in latency_by_strategy(cases).items()
        for row in several
    ]
    if rows:
        text = json.dumps({"about": _ABOUT, "rows": rows}, indent=1, ensure_ascii=False) + "\n"
        sweep(folder / LATENCY)
        write_whole(folder / LATENCY, text.encode(errors="backslashreplace"), private=False)
