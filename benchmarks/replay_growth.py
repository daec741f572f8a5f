"""Does the cost of a turn stay flat as the history grows?

Replays one generated conversation of 100,000 turns through each baseline and compares the turns
around the 1,000th with those around the last, in the same process: time per turn (claimed: at most
1.3 times), and memory per turn over the first and the second half (claimed: flat). Times per turn
are medians of blocks of 100 turns, so that a collection of garbage or a busy neighbour counts for
nothing. `full_context` is left out: its context is the history.
"""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from memsim import ScenarioBuilder, load_strategy
from memsim.models.embedding import load_embedder
from memsim.models.loading import load_model
from memsim.replay import replay
from memsim.scenario.script import Scenario, ScriptEvent
from memsim.tokens import TokenCounter, load_tokenizer
from memsim.trace import TurnRecord

STRATEGIES = ("no_memory", "sliding_window", "rolling_summary", "bm25", "vector", "hybrid")
ALLOWED = 1.3
WITHIN_A_MINUTE = ("sliding_window", "bm25")
BLOCK = 100


@dataclass(slots=True)
class Meter:
    """Notes when each block of turns was over, and how much memory the process had then."""

    ends: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    turns: int = 0

    def note(self, _record: TurnRecord) -> None:
        """A turn is over."""
        self.turns += 1
        if self.turns % BLOCK == 0:
            self.ends.append(time.perf_counter())
            self.memory.append(resident())

    def per_turn(self, first: int, last: int) -> float:
        """Median microseconds per turn over the blocks between two turns."""
        ends = self.ends[first // BLOCK - 1 : last // BLOCK]
        blocks = [b - a for a, b in pairwise(ends)]
        return statistics.median(blocks) / BLOCK * 1e6

    def bytes_per_turn(self, first: int, last: int) -> float:
        """Bytes by which the process grew per turn between two turns."""
        grown = self.memory[last // BLOCK - 1] - self.memory[first // BLOCK - 1]
        return grown / (last - first)


def resident() -> int:
    """Bytes of memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def conversation(turns: int) -> Scenario:
    """Generated talk with one planted fact; its events are made before the clock runs."""
    script = ScenarioBuilder("growth").user("My order is A-17.", facts={"order": "A-17"})
    script = script.filler(turns - 1)
    return script.probe("order", ask="What is my order?", expect="A-17").build()


def played(events: list[ScriptEvent], scenario: Scenario) -> Scenario:
    """The scenario with its events at hand, so that making them is not measured."""

    def play(_seed: int) -> Iterator[ScriptEvent]:
        return iter(events)

    return Scenario(
        name=scenario.name,
        path=scenario.path,
        play=play,
        turns=scenario.turns,
        probes=scenario.probes,
    )


def measure(name: str, turns: int) -> tuple[Meter, float]:
    """Play the conversation through a strategy; the meter and the seconds that it took."""
    counter = TokenCounter(load_tokenizer())
    scenario = conversation(turns)
    ready = played(list(scenario.events(7)), scenario)
    gc.collect()
    gc.freeze()
    meter = Meter()
    began = time.perf_counter()
    with TemporaryDirectory() as folder:
        trace = replay(
            ready,
            load_strategy(name),
            model=load_model("offline", counter.tokenizer, 7),
            embed=partial(load_embedder, "wordllama"),
            counter=counter,
            budget=4096,
            seed=7,
            folder=partial(Path, folder),
            keep=meter.note,
        )
    if trace.error:
        sys.exit(f"{name}: {trace.error}")
    return meter, time.perf_counter() - began


def report(name: str, turns: int) -> bool:
    """Measure one strategy in this process and print its row; whether it kept the claims."""
    meter, seconds = measure(name, turns)
    early = meter.per_turn(500, 1500)
    late = meter.per_turn(turns - 2000, turns)
    half = turns // 2
    first = meter.bytes_per_turn(turns // 10, half)
    second = meter.bytes_per_turn(half, turns)
    ratio = late / early
    kept = ratio <= ALLOWED and (name not in WITHIN_A_MINUTE or seconds < 60)
    print(
        f"{name:<16}{early:>9.0f}{late:>11.0f}{ratio:>8.2f}{seconds:>9.1f}"
        f"{first:>12.0f}{second:>12.0f}  {'' if kept else 'MISSED'}",
        flush=True,
    )
    return kept


def main() -> int:
    """Measure each strategy in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20,000 turns")
    parser.add_argument("--turns", type=int, default=0)
    parser.add_argument("--only", choices=STRATEGIES, help="one strategy, in this process")
    given = parser.parse_args()
    turns = given.turns or (20_000 if given.quick else 100_000)
    if given.only:
        return int(not report(given.only, turns))
    print(f"microseconds per turn at 1,000 and {turns:,} turns, budget 4k")
    print(
        f"{'':<16}{'at 1,000':>9}{'at the end':>11}{'ratio':>8}{'seconds':>9}"
        f"{'B/turn 1st':>12}{'B/turn 2nd':>12}"
    )
    missed = 0
    for name in STRATEGIES:
        command = [sys.executable, __file__, "--only", name, "--turns", str(turns)]
        missed += subprocess.run(command, check=False).returncode
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
