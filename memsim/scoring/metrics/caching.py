"""What a provider's prompt cache could serve: `cached_share` and `cache_breaks`."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, amount, measured, share, unmeasured

METRICS = {
    "cached_share": share("sent tokens that repeat the start of the context before"),
    "cache_breaks": amount("contexts that do not continue the one before", "count"),
}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Compare each context of a turn with the one before of the same case."""
    n = sent = cached = breaks = 0
    before: tuple[object, int] | None = None
    for line in records.turns:
        if (tokens := line.get("tokens")) is None:
            continue
        case, repeated = (line["case"], line.get("repeat", 0)), line.get("cached", 0)
        n, sent, cached = n + 1, sent + line["sent"], cached + repeated
        if before and before[0] == case:
            breaks += repeated < before[1]
        before = case, sum(tokens.values())
    if not sent:
        return dict.fromkeys(METRICS, unmeasured("no turn sent a context"))
    return {"cached_share": measured(cached / sent, n), "cache_breaks": measured(breaks, n)}
