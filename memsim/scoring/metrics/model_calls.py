"""Model calls and their tokens, in all and by phase: `model_calls`, `tokens_write`, ..."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Line, Measure, amount, measured

PHASES = ("write", "maintain", "search", "answer", "judge")
"""When model calls are made, in the order of a case."""

METRICS = {
    "model_calls": amount("model calls", "count"),
    "model_tokens": amount("tokens of model calls, in and out", "tokens"),
}
for _phase in PHASES:
    METRICS[f"calls_{_phase}"] = amount(f"model calls to {_phase}", "count")
    METRICS[f"tokens_{_phase}"] = amount(f"tokens of model calls to {_phase}", "tokens")


class CallTotals:
    """Calls and their tokens, by phase."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def add(self, line: Line) -> None:
        """Add the calls of a turn or a question."""
        for call in line.get("calls", ()):
            self.found[f"calls_{call['phase']}"] += 1
            self.found[f"tokens_{call['phase']}"] += call["input"] + call["output"]


TURNS = CallTotals


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Count the calls of all turns and questions."""
    questions = CallTotals()
    for line in records.probes:
        questions.add(line)
    found = records.turn_totals(CallTotals).found + questions.found
    found["model_calls"] = sum(found[f"calls_{phase}"] for phase in PHASES)
    found["model_tokens"] = sum(found[f"tokens_{phase}"] for phase in PHASES)
    return {name: measured(found[name], found["model_calls"]) for name in METRICS}
