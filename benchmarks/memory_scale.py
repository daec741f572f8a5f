"""What does a saved memory of many messages and many people cost to open and to ask?

Generated messages go to the principals in turn. They are added through `observe`, and `end_turn`
records each group in one transaction. Then the memory is closed and opened again, and one principal
after another asks for a context. Claimed: it opens in under 2 seconds, and a context takes at most
10 ms (median) and 50 ms (99th percentile). Every figure is processor time, but the time to open is
also given by the wall. The embedder is loaded before any time is taken.

    python -m benchmarks.memory_scale --messages 1000000 --principals 1000
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from benchmarks._growing import BUDGET, SEED, conversation
from memsim.memory import open_memory
from memsim.message import EPOCH, Message
from memsim.message import said as spoken
from memsim.scenario.script import Turn

OPEN_SECONDS, MEDIAN_MS, LATE_MS = 2.0, 10.0, 50.0
"""What is claimed."""

DISTINCT = 20_000
"""Generated messages; beyond them, each text comes again with its number before it."""


def texts() -> list[str]:
    """Generated talk of users."""
    turns = (e for e in conversation(DISTINCT).events(SEED) if isinstance(e, Turn))
    return [m.text for turn in turns for m in turn.heard]


def messages(count: int, principals: int) -> Iterator[Message]:
    """Yield messages, the principals in turn."""
    said = texts()
    for number in range(count):
        who = f"user-{number % principals}"
        yield spoken(
            "user",
            f"{number}: {said[number % len(said)]}",
            id=f"m{number}",
            principal=who,
            session=f"own:{who}",
            time=EPOCH + timedelta(seconds=number),
        )


def filled(folder: Path, count: int, principals: int, group: int) -> float:
    """Add all messages; milliseconds of processor time for each."""
    began = time.process_time()
    with open_memory(folder, now=lambda: EPOCH + timedelta(seconds=count)) as memory:
        for number, message in enumerate(messages(count, principals), start=1):
            memory.observe(message)
            if number % group == 0 or number == count:
                memory.end_turn()
    return (time.process_time() - began) / count * 1e3


def asked(folder: Path, count: int, principals: int, questions: int) -> tuple[float, list[float]]:
    """Open the memory and ask it: seconds to open, and milliseconds for each context."""
    said = texts()
    began = time.process_time()
    memory = open_memory(folder, now=lambda: EPOCH + timedelta(seconds=count))
    opened = time.process_time() - began
    found = []
    with memory:
        for number in range(questions):
            who = f"user-{number * 37 % principals}"
            start = time.process_time()
            question = said[number * 101 % len(said)]
            memory.context(question, principal=who, session=f"own:{who}", budget=BUDGET)
            found.append((time.process_time() - start) * 1e3)
    return opened, found


def main() -> int:
    """Measure and print; 1 when a claim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--principals", type=int, default=1_000)
    parser.add_argument("--group", type=int, default=1_000, help="messages that are one turn")
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memsim-scale-") as name:
        folder = Path(name) / "memory"
        adding = filled(folder, given.messages, given.principals, given.group)
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        print(f"{given.messages:,} messages of {given.principals:,} principals", flush=True)
        print(f"adding, in groups of {given.group:,}  {adding:8.2f} ms a message")
        print(f"files                     {size / 1e6:8.1f} MB", flush=True)
        opened, found = asked(folder, given.messages, given.principals, given.questions)
    middle, late = statistics.median(found), sorted(found)[int(0.99 * (len(found) - 1))]
    print(f"open                      {opened:8.2f} s")
    print(f"context, median           {middle:8.2f} ms")
    print(f"context, 99th percentile  {late:8.2f} ms")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"most memory of the process{peak:8.0f} MB")
    kept = opened < OPEN_SECONDS and middle <= MEDIAN_MS and late <= LATE_MS
    print("kept" if kept else "MISSED")
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
