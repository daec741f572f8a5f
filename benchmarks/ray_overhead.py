"""What Ray adds to a case of one second, beside processes of memsim, in one run.

python -m benchmarks.ray_overhead [CASES]

A case sleeps, so other work on the machine hardly counts. From the first outcome to the last one,
each executor plays the same cases on the same number of workers. Starting is told apart.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from memsim.discovery.project import find_project
from memsim.executors import Executor, ProcessPool, available_processors
from memsim.ray_executor import RayPool
from memsim.suite.case_plan import resolve_strategies
from memsim.suite.cases import CaseOutcome, CaseSpec, blank_result
from memsim.suite.scenarios import find_scenarios

SECONDS = 1.0
MOST = 0.05


def play(spec: CaseSpec) -> CaseOutcome:
    """Take a second, and leave as many records as a small case does."""
    time.sleep(SECONDS)
    result = blank_result(spec, state="scored", error="")
    return CaseOutcome(result=result, turn_lines=b"x" * 20_000, probe_lines=b"y" * 20_000)


def cases(count: int) -> list[CaseSpec]:
    """Cases of built-in scenarios with a built-in strategy."""
    project = find_project()
    scenarios = find_scenarios(["support_desk", "team_standup", "tool_heavy"], project)
    (strategy,) = resolve_strategies(["bm25"], project, controls=False)
    spec = CaseSpec(scenario=scenarios[0], strategy=strategy, budget=4096, turns=60, probes=10)
    return [
        replace(spec, scenario=scenarios[n % len(scenarios)], repeat=n // len(scenarios))
        for n in range(count)
    ]


def measure(executor: Executor, specs: list[CaseSpec], workers: int) -> tuple[float, float]:
    """Seconds to the first outcome, and what is added to each case from then on, as a share."""
    start = time.perf_counter()
    heard: list[float] = []
    for _, outcome in executor.run(specs, play):
        assert outcome.result.state == "scored", outcome.result.error
        heard.append(time.perf_counter())
    # The outcomes of the first round are heard together; all later rounds take their time.
    rounds = (len(heard) - workers) / workers
    took = heard[-1] - heard[workers - 1]
    return heard[0] - start - SECONDS, took / (rounds * SECONDS) - 1


def main() -> None:
    """Measure both executors and print."""
    workers = available_processors()
    count = int(sys.argv[1]) if sys.argv[1:] else 60
    specs = cases(count // workers * workers)
    found = {
        name: measure(executor, specs, workers)
        for name, executor in (("processes", ProcessPool(workers)), ("ray", RayPool("ray")))
    }
    print(f"{len(specs)} cases of {SECONDS:g} s on {workers} workers")
    for name, (start, share) in found.items():
        print(f"{name:<10} start {start:5.1f} s   added to each case {share:7.2%}")
    ratio = (1 + found["ray"][1]) / (1 + found["processes"][1])
    print(f"ray / processes: {ratio:.4f}")
    assert found["ray"][1] < MOST, "Ray adds more than 5 % to a case of one second"


if __name__ == "__main__":
    main()
