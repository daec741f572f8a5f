"""Size of the contexts in tokens: `context_mean`, `context_peak`, by section, `overflow`.

Means and sums are over the contexts of turns. They are over the contexts of questions when no turn
sent one, as in a recorded conversation. The peak is over all contexts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from memsim.context import SECTIONS
from memsim.scoring.metric import CaseRecords, Line, Measure, amount, measured, unmeasured

_OVER = "of turns that sent one, else of questions"
_BY_SECTION = {section: f"context_{section}" for section in SECTIONS if section != "query"}
METRICS = {
    "context_mean": amount(f"mean context {_OVER}", "tokens"),
    "context_peak": amount("largest context", "tokens"),
    "context_total": amount("all contexts sent", "tokens"),
    **{
        name: amount(f"context's {section}, mean {_OVER}", "tokens")
        for section, name in _BY_SECTION.items()
    },
    "context_own": amount(f"context's sections with names of its own, mean {_OVER}", "tokens"),
    "overflow": amount("cut from contexts that were over the budget", "tokens"),
}


class SectionTotals:
    """Sizes of contexts, by section."""

    def __init__(self) -> None:
        self.n = self.peak = self.total = self.sent = self.overflow = 0
        self.sections: Counter[str] = Counter()

    @property
    def own(self) -> int:
        """Tokens of sections with a name of the strategy's own."""
        return sum(tokens for name, tokens in self.sections.items() if name not in SECTIONS)

    def add(self, line: Line) -> None:
        """Add the context of a turn."""
        if (tokens := line.get("tokens")) is not None:
            self.add_context(tokens, sent=line["sent"], overflow=line.get("overflow", 0))

    def add_context(self, tokens: Mapping[str, int], *, sent: int, overflow: int) -> None:
        """Add a context."""
        total = sum(tokens.values())
        self.sections.update(tokens)
        self.n += 1
        self.total += total
        self.sent += sent
        self.overflow += overflow
        self.peak = max(self.peak, total)


TURNS = SectionTotals


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Measure the contexts of all turns, or of all questions."""
    turns, questions = records.turn_totals(SectionTotals), SectionTotals()
    for line in records.probes:
        if (context := line["context"]) is not None:
            overflow = context["overflow"]
            questions.add_context(context["tokens"], sent=context["total"], overflow=overflow)
    sizes = turns if turns.total else questions
    if not (n := sizes.n):
        return dict.fromkeys(METRICS, unmeasured("no context was asked for"))
    return {
        "context_mean": measured(sizes.total / n, n),
        "context_peak": measured(max(turns.peak, questions.peak), n),
        "context_total": measured(sizes.sent, n),
        **{name: measured(sizes.sections[section] / n, n) for section, name in _BY_SECTION.items()},
        "context_own": measured(sizes.own / n, n),
        "overflow": measured(sizes.overflow, n),
    }
