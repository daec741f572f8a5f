"""What a provider's prompt cache could serve: `cached_share` and `cache_breaks`."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Line, Measure, amount, measured, share, unmeasured

METRICS = {
    "cached_share": share("sent tokens that repeat the start of the context before"),
    "cache_breaks": amount("contexts that do not continue the one before", "count"),
}


class CacheTotals:
    """Sent and repeated tokens, and contexts that do not continue the one before."""

    def __init__(self) -> None:
        self.contexts = self.sent = self.cached = self.breaks = 0
        self._before: tuple[object, int] | None = None

    def add(self, line: Line) -> None:
        """Compare the context of a turn with the one before of the same case."""
        if (tokens := line.get("tokens")) is None:
            return
        case, repeated = (line["case"], line.get("repeat", 0)), line.get("cached", 0)
        self.contexts += 1
        self.sent += line["sent"]
        self.cached += repeated
        if self._before and self._before[0] == case:
            self.breaks += repeated < self._before[1]
        self._before = case, sum(tokens.values())


TURNS = CacheTotals


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Compare each context of a turn with the one before of the same case."""
    found = records.turn_totals(CacheTotals)
    if not found.sent:
        return dict.fromkeys(METRICS, unmeasured("no turn sent a context"))
    return {
        "cached_share": measured(found.cached / found.sent, found.contexts),
        "cache_breaks": measured(found.breaks, found.contexts),
    }
