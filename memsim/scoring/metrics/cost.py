"""Price of the model calls in dollars: `cost` and `cost_per_100_turns`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Line, Measure, amount, measured, unmeasured

METRICS = {
    "cost": amount("price of the model calls", "dollars"),
    "cost_per_100_turns": amount("price of the model calls per 100 turns", "dollars"),
}


class PriceTotals:
    """Turns, and the prices of their calls: how many calls have each price, None if not known."""

    def __init__(self) -> None:
        self.turns = 0
        self.prices: Counter[float | None] = Counter()

    def add(self, line: Line) -> None:
        """Add the calls of a turn."""
        self.turns += 1
        for call in line.get("calls", ()):
            self.prices[call["cost"]] += 1


TURNS = PriceTotals


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Add up the prices of all calls; no sum where one of them is not known."""
    found = records.turn_totals(PriceTotals)
    asked = (call["cost"] for line in records.probes for call in line.get("calls", ()))
    prices, turns = found.prices + Counter(asked), found.turns
    n = prices.total()
    if unpriced := prices[None]:
        reason = f"no price is known for {unpriced} of {n} model calls"
        return dict.fromkeys(METRICS, unmeasured(reason, n))
    # Exact, and so the same in any order.
    cost = math.fsum(price for price in prices.elements() if price is not None)
    per = measured(100 * cost / turns, turns) if turns else unmeasured("no turn was played")
    return {"cost": measured(cost, n), "cost_per_100_turns": per}
