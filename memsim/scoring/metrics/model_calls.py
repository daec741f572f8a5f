"""Model calls and their tokens, in all and by phase: `model_calls`, `tokens_write`, ..."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain

from memsim.scoring.metric import CaseRecords, Measure, amount, measured

PHASES = ("write", "maintain", "search", "answer", "judge")
"""When model calls are made, in the order of a case."""

METRICS = {
    "model_calls": amount("model calls", "count"),
    "model_tokens": amount("tokens of model calls, in and out", "tokens"),
}
for _phase in PHASES:
    METRICS[f"calls_{_phase}"] = amount(f"model calls to {_phase}", "count")
    METRICS[f"tokens_{_phase}"] = amount(f"tokens of model calls to {_phase}", "tokens")


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Count the calls of all turns and questions."""
    found: Counter[str] = Counter()
    for line in chain(records.turns, records.probes):
        for call in line.get("calls", ()):
            found[f"calls_{call['phase']}"] += 1
            found[f"tokens_{call['phase']}"] += call["input"] + call["output"]
    found["model_calls"] = sum(found[f"calls_{phase}"] for phase in PHASES)
    found["model_tokens"] = sum(found[f"tokens_{phase}"] for phase in PHASES)
    return {name: measured(found[name], found["model_calls"]) for name in METRICS}
