"""What remembering took: context tokens, caching, compactions, model calls and dollars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from memsim.context import SECTIONS
from memsim.scoring.metric import (
    CaseRecords,
    Line,
    Measure,
    Metric,
    amount,
    measured,
    share,
    unmeasured,
)

PHASES = ("write", "maintain", "search", "answer", "judge")
"""When model calls are made, in the order of a case."""


def _metrics() -> Iterator[tuple[str, Metric]]:
    over = "of turns that sent one, else of questions"
    yield "context_mean", amount(f"mean context {over}", "tokens")
    yield "context_peak", amount("largest context", "tokens")
    yield "context_total", amount("all contexts sent", "tokens")
    for section in SECTIONS:
        if section != "query":
            yield f"context_{section}", amount(f"context's {section}, mean {over}", "tokens")
    yield "overflow", amount("cut from contexts that were over the budget", "tokens")
    yield "cached_share", share("sent tokens that repeat the start of the context before")
    yield "cache_breaks", amount("contexts that do not continue the one before", "count")
    yield "compactions", amount("compactions", "count")
    yield "tokens_freed", amount("freed by compactions", "tokens", "higher")
    yield "summaries_grew", amount("compactions that ended larger than they began", "count")
    yield "model_calls", amount("model calls", "count")
    yield "model_tokens", amount("tokens of model calls, in and out", "tokens")
    for phase in PHASES:
        yield f"calls_{phase}", amount(f"model calls to {phase}", "count")
        yield f"tokens_{phase}", amount(f"tokens of model calls to {phase}", "tokens")
    yield "cost", amount("price of the model calls", "dollars")
    yield "cost_per_100_turns", amount("price of the model calls per 100 turns", "dollars")


METRICS = dict(_metrics())
_BY_SECTION = {section: f"context_{section}" for section in SECTIONS if section != "query"}
_BY_PHASE = {phase: (f"calls_{phase}", f"tokens_{phase}") for phase in PHASES}


class UsageSum:
    """Usage of the turns and probes added so far, from their lines in the run's files.

    Means and sums are over the contexts of turns. They are over the contexts of questions when no
    turn sent one, as in a recorded conversation. The peak is over all contexts.
    """

    def __init__(self) -> None:
        self._turns = 0
        self._sizes = _Sizes()
        self._asked = _Sizes()
        self._cached = 0
        self._breaks = 0
        self._before: tuple[object, int] | None = None
        self._compactions = 0
        self._freed = 0
        self._grew = 0
        self._calls = _Calls()

    def add_turn(self, line: Line) -> None:
        """Count a line of `turns.jsonl`; the turns of a case come in order."""
        self._turns += 1
        tokens = line.get("tokens")
        if tokens is not None:
            total = self._sizes.add(tokens, sent=line["sent"], overflow=line.get("overflow", 0))
            self._add_cached(line, total)
        for event in line.get("events", ()):
            if event["kind"] == "compaction":
                self._add_compaction(event)
        if calls := line.get("calls"):
            self._calls.add(calls)

    def add_probe(self, line: Line) -> None:
        """Count a line of `probes.jsonl`."""
        context = line["context"]
        if context is not None:
            total = context["total"]
            self._asked.add(context["tokens"], sent=total, overflow=context["overflow"])
        self._calls.add(line["calls"])

    def measures(self) -> dict[str, Measure]:
        """A measure for each metric of `METRICS`."""
        sizes = self._sizes if self._sizes.total else self._asked
        sizes.peak = max(self._sizes.peak, self._asked.peak)
        return {
            **sizes.measures(),
            **self._caching(),
            "compactions": self._counted(self._compactions),
            "tokens_freed": self._counted(self._freed),
            "summaries_grew": self._counted(self._grew),
            **self._calls.measures(self._turns),
        }

    def _add_cached(self, line: Line, total: int) -> None:
        case = (line["case"], line.get("repeat", 0))
        cached = line.get("cached", 0)
        self._cached += cached
        if self._before and self._before[0] == case:
            self._breaks += cached < self._before[1]
        self._before = case, total

    def _add_compaction(self, event: Line) -> None:
        self._compactions += 1
        before, after = event.get("before"), event.get("after")
        if before is not None and after is not None:
            self._freed += max(0, before - after)
            self._grew += after > before

    def _caching(self) -> dict[str, Measure]:
        if not self._sizes.sent:
            none = unmeasured("no turn sent a context")
            return {"cached_share": none, "cache_breaks": none}
        share = self._cached / self._sizes.sent
        return {
            "cached_share": measured(share, self._sizes.n),
            "cache_breaks": measured(self._breaks, self._sizes.n),
        }

    def _counted(self, count: int) -> Measure:
        if not self._turns:
            return unmeasured("no turn was played")
        return measured(count, self._turns)


class _Sizes:
    """Sizes of contexts, by section."""

    def __init__(self) -> None:
        self.n = self.peak = self.total = self.sent = self.overflow = 0
        self.sections: dict[str, int] = {}

    def add(self, tokens: Mapping[str, int], *, sent: int, overflow: int) -> int:
        total = 0
        sections = self.sections
        for name, count in tokens.items():
            total += count
            sections[name] = sections.get(name, 0) + count
        self.n += 1
        self.total += total
        self.sent += sent
        self.overflow += overflow
        self.peak = max(self.peak, total)
        return total

    def measures(self) -> dict[str, Measure]:
        if not self.n:
            none = unmeasured("no context was asked for")
            sizes = ("context_mean", "context_peak", "context_total")
            return dict.fromkeys([*sizes, *_BY_SECTION.values(), "overflow"], none)
        n = self.n
        return {
            "context_mean": measured(self.total / n, n),
            "context_peak": measured(self.peak, n),
            "context_total": measured(self.sent, n),
            **{
                name: measured(self.sections.get(section, 0) / n, n)
                for section, name in _BY_SECTION.items()
            },
            "overflow": measured(self.overflow, n),
        }


class _Calls:
    """Model calls, their tokens by phase, and their known prices."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(PHASES, 0)
        self.tokens = dict.fromkeys(PHASES, 0)
        self.costs: list[float] = []
        self.unpriced = 0

    def add(self, calls: Iterable[Line]) -> None:
        for call in calls:
            self.counts[call["phase"]] += 1
            self.tokens[call["phase"]] += call["input"] + call["output"]
            if call["cost"] is None:
                self.unpriced += 1
            else:
                self.costs.append(call["cost"])

    def measures(self, turns: int) -> dict[str, Measure]:
        n = sum(self.counts.values())
        measures = {
            "model_calls": measured(n, n),
            "model_tokens": measured(sum(self.tokens.values()), n),
        }
        for phase in PHASES:
            calls, tokens = _BY_PHASE[phase]
            measures[calls] = measured(self.counts[phase], n)
            measures[tokens] = measured(self.tokens[phase], n)
        return measures | self._priced(n, turns)

    def _priced(self, n: int, turns: int) -> dict[str, Measure]:
        if self.unpriced:
            reason = f"no price is known for {self.unpriced} of {n} model calls"
            none = unmeasured(reason, n)
            return {"cost": none, "cost_per_100_turns": none}
        cost = math.fsum(self.costs)
        per = measured(100 * cost / turns, turns) if turns else unmeasured("no turn was played")
        return {"cost": measured(cost, n), "cost_per_100_turns": per}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """The usage of all turns and questions."""
    used = UsageSum()
    for line in records.turns:
        used.add_turn(line)
    for line in records.probes:
        used.add_probe(line)
    return used.measures()
