"""What a turn of `layered` on SQLite costs late in a very long conversation, and how much memory.

`long_haul` is played with its filler raised. In most turns the memory is told what was said, and is
not asked: a million contexts would take hours. In the last 300 of every 20,000 turns, or of a
shorter conversation, it is asked as in any run. Printed are milliseconds of processor time for a
turn that is told, for one that is asked, and for its context alone, and the megabytes of the
process.

    python -m benchmarks.late_turns --turns 240000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import memsim
from benchmarks._growing import played, resident
from benchmarks.million import SCENARIO, scaled
from memsim.discovery.loader import prepare
from memsim.heap import keep_large_blocks_apart
from memsim.scenario.scenario_loader import load_scenario
from memsim.strategy import Strategy
from memsim.trace import TurnRecord

STRATEGY = "layered:store=sqlite"
STEP, ASKED, LEAST = 20_000, 300, 1000


@dataclass(slots=True)
class Watch:
    """Counts turns, and what the latest of them took.

    Attributes:
        step: turns of which the last ones are asked.
    """

    step: int
    turns: int = 0
    began: float = 0.0
    contexts: float = 0.0
    told: float = 0.0

    @property
    def asks(self) -> bool:
        """Whether the memory is asked in the turn that is played now."""
        return self.turns % self.step >= self.step - ASKED

    def note(self, _record: TurnRecord) -> None:
        """A turn is over."""
        self.turns += 1
        now = time.process_time()
        if self.turns % self.step == self.step - ASKED:
            self.told, self.began = (now - self.began) / (self.step - ASKED) * 1e3, now
        elif self.turns % self.step == 0:
            asked, context = (s / ASKED * 1e3 for s in (now - self.began, self.contexts))
            cells = f"{self.told:>9.1f}{asked:>9.1f}{context:>9.1f}{resident() / 1e6:>9.0f}"
            print(f"{self.turns:>9,}{cells}", flush=True)
            self.began, self.contexts = time.process_time(), 0.0


def watched(
    make: Callable[[memsim.Environment], Strategy], watch: Watch, env: memsim.Environment
) -> Strategy:
    """A strategy that is asked in few turns only."""
    strategy = make(env)
    ask = strategy.context

    def context(query: memsim.Query) -> memsim.Context:
        if not watch.asks:
            return memsim.Context(sections=())
        began = time.process_time()
        found = ask(query)
        watch.contexts += time.process_time() - began
        return found

    strategy.context = context  # type: ignore[method-assign]
    return strategy


def main() -> None:
    """Play the conversation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000, help=f"at least {LEAST}")
    given = parser.parse_args()
    if given.turns < LEAST:
        parser.error(f"--turns is {given.turns}: at least {LEAST}")
    print("".join(f"{head:>9}" for head in ("turns", "told", "asked", "context", "MB")), flush=True)
    keep_large_blocks_apart()
    watch = Watch(min(STEP, given.turns), began=time.process_time())
    with tempfile.TemporaryDirectory(prefix="memsim-late-") as name:
        script = Path(name, SCENARIO.name)
        script.write_text(scaled(SCENARIO.read_text(encoding="utf-8"), given.turns), "utf-8")
        make = partial(watched, prepare(STRATEGY), watch)
        played(load_scenario(script), STRATEGY, make, watch.note)


if __name__ == "__main__":
    main()
