"""Do the offline model and a small real one put memories in the same order?

Plays the strategies on every fourth question of `support_desk` at a budget of 300 tokens, once with
the offline model and once with SmolLM2-135M on this machine, and correlates their recalls by rank,
with intervals from resampling the questions. A model of 135 million parameters shows that the way
to a real one works; what it misses says next to nothing about a memory.

Needs the environment that `make test-live` sets up, and twenty minutes; what was answered is kept
below `.memsim`, so that an interrupted run goes on. Elsewhere there is nothing to measure.

Usage: .venv-live/bin/python -m benchmarks.offline_and_real [--quick]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from statistics import mean

from benchmarks.local_model import MODEL, environment, serving, versions
from memsim.discovery.project import find_project
from memsim.scenario.script import Ask, Scenario, ScriptEvent
from memsim.suite.scenarios import find_scenarios
from memsim.suite.single import CaseReport, run

ROOT = Path(__file__).resolve().parents[1]
STRATEGIES = ("no_memory", "sliding_window", "bm25", "vector", "hybrid", "layered", "oracle")
"""Without those that have the model summarise: hardly a summary of so small a model comes to its
end within its limit, what is cut off is refused, and each turn then asks for more at once."""

BUDGET = 300
SEED, DRAWS = 7, 2000
OFFLINE = "offline"

Passed = Mapping[str, Sequence[bool]]
"""By strategy: whether each question was answered rightly."""


def scenario(*, quick: bool) -> Scenario:
    """Every fourth question of one scenario; every twelfth to try this out."""
    (found,) = find_scenarios(["support_desk"], find_project(ROOT))
    whole = found.load()
    able = [probe for probe in whole.probes if not probe.unanswerable]
    probes = tuple(able[:: 12 if quick else 4])
    kept = {probe.id for probe in probes}

    def play(seed: int) -> Iterator[ScriptEvent]:
        return (e for e in whole.play(seed) if not isinstance(e, Ask) or e.probe.id in kept)

    return replace(whole, probes=probes, play=play)


def played(asked: Scenario, strategy: str, model: str) -> CaseReport:
    """One case; its answers are kept where it is continued."""
    began = time.perf_counter()
    kept = {} if model == OFFLINE else {"record": "new", "cassettes": ".memsim/offline_and_real"}
    report = run(asked, strategy, budget=BUDGET, model=model, **kept)
    if report.error:
        sys.exit(f"{report.id}: {report.error}")
    seconds = time.perf_counter() - began
    print(f"{strategy} with {model}: {report.recall:.2f} ({seconds:.0f} s)", file=sys.stderr)
    return report


def passed(report: CaseReport) -> list[bool]:
    """Whether each question was answered rightly, in the order of the questions."""
    return [probe["outcome"] == "PASS" for probe in sorted(report.probes, key=_probe)]


def _probe(record: Mapping[str, object]) -> str:
    return str(record["probe"])


# -- ranks


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1 on; what is equal shares the mean of its ranks."""
    order = sorted(values)
    return [order.index(v) + (order.count(v) + 1) / 2 for v in values]


def pearson(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Correlation; None where one of the two does not vary."""
    a, b = mean(ones), mean(others)
    across = sum((x - a) * (y - b) for x, y in zip(ones, others, strict=True))
    spread = sum((x - a) ** 2 for x in ones) * sum((y - b) ** 2 for y in others)
    return across / spread**0.5 if spread else None


def spearman(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Rank correlation; None where one of the two does not vary."""
    return pearson(ranks(ones), ranks(others))


def kendall(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Kendall's tau-b; None where one of the two does not vary."""
    signs = [
        (_sign(x1 - x2), _sign(y1 - y2))
        for (x1, y1), (x2, y2) in combinations(list(zip(ones, others, strict=True)), 2)
    ]
    tied = sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs)
    return sum(x * y for x, y in signs) / tied**0.5 if tied else None


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def interval(offline: Passed, real: Passed, names: Sequence[str]) -> tuple[float, float] | None:
    """95 % of Spearman's correlation over questions drawn anew; None where none has one."""
    chance = random.Random(SEED)
    n = len(offline[names[0]])
    found = []
    for _ in range(DRAWS):
        drawn = [chance.randrange(n) for _ in range(n)]
        recalls = [[mean(side[s][i] for i in drawn) for s in names] for side in (offline, real)]
        if (value := spearman(*recalls)) is not None:
            found.append(value)
    found.sort()
    return (found[int(0.025 * len(found))], found[int(0.975 * len(found))]) if found else None


# -- telling


def tell(offline: Mapping[str, CaseReport], real: Mapping[str, CaseReport]) -> None:
    """The table, and what it comes to."""
    ours = {s: passed(report) for s, report in offline.items()}
    theirs = {s: passed(report) for s, report in real.items()}
    n = len(ours[STRATEGIES[0]])
    print(f"support_desk, {n} questions, {BUDGET} tokens; " + ", ".join(_versions()))
    print(f"\n| strategy | {OFFLINE} | {MODEL.partition(':')[0]} | alike |\n|---|---|---|---|")
    for s in STRATEGIES:
        alike = sum(a == b for a, b in zip(ours[s], theirs[s], strict=True))
        print(f"| {s} | {mean(ours[s]):.2f} | {mean(theirs[s]):.2f} | {alike} of {n} |")
    compared = [s for s in STRATEGIES if not offline[s].result.control]  # type: ignore[union-attr]
    for title, names in (("all", STRATEGIES), ("without the controls", compared)):
        recalls = [[mean(side[s]) for s in names] for side in (ours, theirs)]
        bounds = interval(ours, theirs, names)
        print(
            f"{title} (n = {len(names)}): Spearman {_shown(spearman(*recalls))}"
            f" {_bounds(bounds)}, Kendall {_shown(kendall(*recalls))}"
        )


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _bounds(bounds: tuple[float, float] | None) -> str:
    return f"[{bounds[0]:.2f}, {bounds[1]:.2f}]" if bounds else ""


def _versions() -> list[str]:
    return [f"{name} {version}" for name, version in versions().items()]


def main() -> int:
    """Play everything and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few questions, to try it out")
    asked = scenario(quick=parser.parse_args().quick)
    if find_spec("llama_cpp") is None:
        print("left out: the small real model is only where `make test-live` sets it up")
        return 0
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "log") as url:
        os.environ.update(environment(url))
        real = {s: played(asked, s, MODEL) for s in STRATEGIES}
    tell({s: played(asked, s, OFFLINE) for s in STRATEGIES}, real)
    return 0


if __name__ == "__main__":
    sys.exit(main())
