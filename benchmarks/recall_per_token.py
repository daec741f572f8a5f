"""How much of what a question needs is in its context, and what does that cost in tokens?

Every built-in strategy on every built-in scenario, on LoCoMo and on BEAM, at budgets of 2k, 4k and
8k: evidence recall (messages in their own words), answer in context, mean tokens of the contexts
that questions were asked with, and evidence recall per 1,000 tokens. A strategy is marked `*` where
no other gives as much evidence for as few tokens. The datasets are looked for below MEMSIM_DATA, or
below `../shared/data`, and left out where they are not.

No other should give as much evidence as `layered` for as few tokens on any set, however much
`layered` spends. On each dataset it should give at least 5 points more than bm25 would for the same
tokens; what bm25 would give is read off between its rows with more and less messages. It ends with
1 where it does not.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.comparison import written
from memsim.errors import MemsimError, Unmeasurable
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Scenario
from memsim.suite.single import run

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = ("2k", "4k", "8k")
STRATEGIES = (
    *("layered", "bm25", "hybrid", "vector", "rolling_summary", "sliding_window"),
    *("agenticx", "agentscope", "prx", "cogtrix", "aegis"),
)
SPENT = tuple(f"layered:floor={floor}" for floor in (0.6, 0.45, 0.3, 0.1, 0))
SWEEP = tuple(f"bm25:k={k}" for k in (3, 5, 20, 40))
CONTROLS = ("full_context", "oracle")
DATASETS = {"locomo": "locomo", "beam": "beam/100K"}
LEAD = 0.05
"""Evidence that `layered` should give more than bm25 for the same tokens."""


@dataclass(frozen=True, slots=True)
class Row:
    """A strategy at a budget: means over all questions of a set that can be scored."""

    strategy: str
    evidence: float
    answer: float
    tokens: float

    @property
    def per_thousand(self) -> float:
        """Evidence recall per 1,000 tokens."""
        return 1000 * self.evidence / self.tokens if self.tokens else 0.0

    def better_than(self, other: Row) -> bool:
        """As much for as few, and more or for fewer."""
        return (
            self.evidence >= other.evidence
            and self.tokens <= other.tokens
            and (self.evidence, self.tokens) != (other.evidence, other.tokens)
        )


def main() -> int:
    """Print the tables; 1 where the lead is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4k, and a part of each dataset")
    parser.add_argument("-s", "--strategy", action="append", help="another one; repeatable")
    given = parser.parse_args()
    strategies = (*STRATEGIES, *(given.strategy or ()))
    missed = []
    for name, scenarios in sets(quick=given.quick):
        for budget in BUDGETS[1:2] if given.quick else BUDGETS:
            refs = (*strategies, *SPENT, *(SWEEP if name in DATASETS else ()), *CONTROLS)
            rows = [row(ref, scenarios, budget) for ref in refs]
            title = f"{name} at {budget}"
            show(f"{title}, conversations: {len(scenarios)}", rows)
            missed += [f"{title}: {problem}" for problem in problems(rows, name in DATASETS)]
    print("\n".join(missed) if missed else "layered is as claimed")
    return int(bool(missed))


def problems(rows: Sequence[Row], dataset: bool) -> Iterator[str]:  # noqa: FBT001 - a plain fact
    """Where `layered` does not give what it should."""
    rivals = [r for r in rows if r.strategy in (*STRATEGIES, *SWEEP) and r.strategy != "layered"]
    for own in (r for r in rows if r.strategy in ("layered", *SPENT)):
        for rival in (r for r in rivals if r.better_than(own)):
            yield f"{rival.strategy} gives as much evidence as {own.strategy} for as few tokens"
    lead = lead_at_equal_tokens(rows)
    if dataset and lead is not None:
        print(f"layered against bm25 at its tokens: {lead:+.3f}\n", flush=True)
        if lead < LEAD:
            yield f"layered gives {lead:+.3f} against bm25 at its tokens"


def sets(*, quick: bool) -> Iterator[tuple[str, Sequence[Scenario]]]:
    """Every written scenario, together and by itself, and what there is of the datasets."""
    built_in = [ref.load() for ref in written()]
    yield "built-in scenarios", built_in
    if not quick:
        for scenario in built_in:
            yield scenario.name, [scenario]
    data = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data")
    for name, folder in DATASETS.items():
        if (data / folder).is_dir():
            found = load_dataset(name, data / folder)
            yield name, found[:1] if quick else found
        else:
            print(f"{name} is not here: set MEMSIM_DATA to measure it\n")


def row(strategy: str, scenarios: Iterable[Scenario], budget: str) -> Row:
    """A strategy's means."""
    probes = [p for s in scenarios for p in played(s, strategy, budget)]
    asked = [p for p in probes if p["scores"].get("evidence_recall") is not None and p["context"]]
    return Row(
        strategy,
        mean(p["scores"]["evidence_recall"] for p in asked),
        mean(a for p in asked if (a := p["scores"]["answer_in_context"]) is not None),
        mean(p["context"]["total"] for p in asked),
    )


_PLAYED: dict[tuple[str, str, str, str], tuple[Mapping[str, Any], ...]] = {}


def played(scenario: Scenario, strategy: str, budget: str) -> tuple[Mapping[str, Any], ...]:
    """The probes of one case, played once.

    Raises:
        Unmeasurable: the strategy failed: it is not to be had for nothing.
    """
    key = (scenario.dataset, scenario.name, strategy, budget)
    if key not in _PLAYED:
        report = run(scenario, strategy, budget=budget)
        if report.error:
            raise Unmeasurable(f"{report.id}: {report.error}")
        _PLAYED[key] = report.probes
    return _PLAYED[key]


def mean(values: Iterable[float]) -> float:
    """Their mean; 0 of none."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def show(title: str, rows: Sequence[Row]) -> None:
    """A table, the most evidence per token first, the controls last."""
    width = max(len(r.strategy) for r in rows)
    print(f"{title}\n  {'':{width}}{'evidence':>10}{'in context':>12}{'tokens':>9}{'per 1k':>9}")
    compared = [r for r in rows if r.strategy not in CONTROLS]
    ranked = sorted(compared, key=lambda r: -r.per_thousand)
    for r in (*ranked, *(r for r in rows if r.strategy in CONTROLS)):
        rival = r.evidence and r.strategy not in CONTROLS
        best = rival and not any(other.better_than(r) for other in compared)
        figures = f"{r.evidence:10.3f}{r.answer:12.3f}{r.tokens:9,.0f}{r.per_thousand:9.2f}"
        print(f"{'*' if best else ' '} {r.strategy:{width}}{figures}")
    print(flush=True)


def lead_at_equal_tokens(rows: Sequence[Row]) -> float | None:
    """`layered`'s evidence over what bm25 would have for as many tokens; None without both."""
    layered = next((r for r in rows if r.strategy == "layered"), None)
    bm25 = sorted((r.tokens, r.evidence) for r in rows if r.strategy.split(":")[0] == "bm25")
    if layered is None or not bm25:
        return None
    below = max((pair for pair in bm25 if pair[0] <= layered.tokens), default=(0.0, 0.0))
    above = min((pair for pair in bm25 if pair[0] > layered.tokens), default=below)
    span = above[0] - below[0]
    share = (layered.tokens - below[0]) / span if span else 0.0
    return layered.evidence - (below[1] + share * (above[1] - below[1]))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MemsimError as error:
        sys.exit(str(error))
