"""What do searched facts cost a question of a long history, and a message that is added to it?

Adds one person's generated messages to a memory with facts and to one without, and asks both the
same questions at the end. Claimed: a context with facts takes at most 1.5 times one without. Every
figure is processor time. The embedder is loaded before any time is taken.

    python -m benchmarks.fact_search --messages 100000
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from itertools import islice
from pathlib import Path

from benchmarks._growing import BUDGET
from benchmarks.memory_scale import messages, texts
from memsim.memory import MemoryOptions, open_memory
from memsim.message import EPOCH

ALLOWED = 1.5
"""How many times dearer a context may be with facts."""

LAST = 1_000
"""Messages at the end whose adding is timed."""


def asked(count: int, questions: int, *, facts: bool) -> tuple[float, float]:
    """Milliseconds to add a message after many, and the median of those for a context."""
    said = texts()
    ready = messages(count, 1)
    found: list[float] = []
    with tempfile.TemporaryDirectory(prefix="memsim-facts-") as folder:
        now = EPOCH + timedelta(seconds=count)
        options = MemoryOptions(facts=facts)
        with open_memory(Path(folder), now=lambda: now, options=options) as memory:
            for message in islice(ready, max(0, count - LAST)):
                memory.observe(message)
                if int(message.id[1:]) % LAST == 0:
                    memory.end_turn()
            last = list(ready)
            began = time.process_time()
            for message in last:
                memory.observe(message)
            memory.end_turn()
            adding = (time.process_time() - began) / len(last) * 1e3
            for number in range(questions):
                question = said[number * 101 % len(said)]
                start = time.process_time()
                memory.context(question, principal="user-0", session="own:user-0", budget=BUDGET)
                found.append((time.process_time() - start) * 1e3)
    return adding, statistics.median(found)


def main() -> int:
    """Measure both, one after the other; 1 when the claim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    asked(LAST, 10, facts=True)
    print(f"after {given.messages:,} messages", flush=True)
    took: dict[bool, float] = {}
    for facts in (False, True):
        adding, took[facts] = asked(given.messages, given.questions, facts=facts)
        name = "with facts" if facts else "without"
        print(f"{name:<12}context {took[facts]:7.2f} ms, adding {adding:6.2f} ms", flush=True)
    ratio = took[True] / took[False]
    print(f"ratio {ratio:.2f}, at most {ALLOWED}{'' if ratio <= ALLOWED else '  MISSED'}")
    return int(ratio > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
