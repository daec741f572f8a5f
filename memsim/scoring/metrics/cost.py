"""Price of the model calls in dollars: `cost` and `cost_per_100_turns`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain

from memsim.scoring.metric import CaseRecords, Measure, amount, measured, unmeasured

METRICS = {
    "cost": amount("price of the model calls", "dollars"),
    "cost_per_100_turns": amount("price of the model calls per 100 turns", "dollars"),
}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Add up the prices of all calls; no sum where one of them is not known."""
    lines = chain(records.turns, records.probes)
    prices = [call["cost"] for line in lines for call in line.get("calls", ())]
    n, turns = len(prices), len(records.turns)
    if unpriced := prices.count(None):
        reason = f"no price is known for {unpriced} of {n} model calls"
        return dict.fromkeys(METRICS, unmeasured(reason, n))
    cost = math.fsum(prices)
    per = measured(100 * cost / turns, turns) if turns else unmeasured("no turn was played")
    return {"cost": measured(cost, n), "cost_per_100_turns": per}
