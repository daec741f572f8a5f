"""What the benchmarks of growth share: one generated conversation, played and timed in blocks."""

from __future__ import annotations

import gc
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from memsim import Environment, ScenarioBuilder, Strategy
from memsim.discovery.loader import prepare
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.registry import load_embedder, load_model
from memsim.replay import replay
from memsim.scenario.script import Scenario, ScriptEvent
from memsim.trace import TurnRecord

ALLOWED = 1.3
"""How many times dearer a turn may become."""

BLOCK = 100
"""Turns that are timed together, so that a collection of garbage or a neighbour counts little."""

BUDGET = 4096
SEED = 7


@dataclass(slots=True)
class Meter:
    """Notes when each block of turns was over, and how much memory the process had then.

    Attributes:
        clock: seconds, of the wall or of the processor.
    """

    clock: Callable[[], float]
    ends: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    turns: int = 0

    def note(self, _record: TurnRecord) -> None:
        """A turn is over."""
        self.turns += 1
        if self.turns % BLOCK == 0:
            self.ends.append(self.clock())
            self.memory.append(resident())

    def per_turn(self, first: int, last: int) -> float:
        """Median microseconds per turn over the blocks between two turns."""
        ends = self.ends[first // BLOCK - 1 : last // BLOCK]
        return statistics.median(b - a for a, b in pairwise(ends)) / BLOCK * 1e6

    def bytes_per_turn(self, first: int, last: int) -> float:
        """Bytes by which the process grew per turn between two turns."""
        grown = self.memory[last // BLOCK - 1] - self.memory[first // BLOCK - 1]
        return grown / (last - first)


def resident() -> int:
    """Bytes of memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def conversation(turns: int) -> Scenario:
    """Generated talk with one planted fact."""
    script = ScenarioBuilder("growth").user("My order is A-17.", facts={"order": "A-17"})
    script = script.filler(turns - 1)
    return script.probe("order", ask="What is my order?", expect="A-17").build()


def measured(strategy: str, turns: int, clock: Callable[[], float]) -> Meter:
    """Play the conversation through a strategy, its events made before the clock runs."""
    scenario = _ready(conversation(turns))
    gc.collect()
    gc.freeze()
    meter = Meter(clock)
    played(scenario, strategy, prepare(strategy), meter.note)
    return meter


def played(
    scenario: Scenario,
    strategy: str,
    make: Callable[[Environment], Strategy],
    keep: Callable[[TurnRecord], None],
) -> None:
    """Play a scenario through a strategy as a run does, without its files; ends where it fails."""
    counter = TokenCounter(load_tokenizer())
    with TemporaryDirectory() as folder:
        trace = replay(
            scenario,
            make,
            model=load_model("offline", counter.tokenizer, SEED),
            # As a run does it: whoever asks again is given what was loaded.
            embed=cache(partial(load_embedder, "wordllama")),
            counter=counter,
            budget=BUDGET,
            seed=SEED,
            folder=partial(Path, folder),
            keep=keep,
        )
    if trace.error:
        sys.exit(f"{strategy}: {trace.error}")


def each_apart(script: str, names: Iterable[str], *flags: str) -> int:
    """Run a script with `--only` for each, in a process of its own; how many missed their claim."""
    commands = ([sys.executable, script, "--only", name, *flags] for name in names)
    return sum(subprocess.run(command, check=False).returncode for command in commands)


def _ready(scenario: Scenario) -> Scenario:
    events = list(scenario.events(SEED))

    def play(_seed: int) -> Iterator[ScriptEvent]:
        return iter(events)

    return Scenario(
        name=scenario.name,
        path=scenario.path,
        play=play,
        turns=scenario.turns,
        probes=scenario.probes,
    )
