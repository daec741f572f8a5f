"""Measure what `fast_init` saves: per record, and in a replayed conversation.

    python benchmarks/record_creation.py

Each try is a process of its own. It uses either `memsim.fast_dataclass.fast_init` or the `__init__`
that dataclasses write. Both take turns, and the smallest processor time of each counts.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRIES = 5

SETUP = """
import sys, time, timeit
sys.path.insert(0, {root!r})
import memsim.fast_dataclass
if not {fast}:
    memsim.fast_dataclass.fast_init = lambda kind: kind
"""
RECORD = """
from memsim.trace import CallRecord
make = lambda: CallRecord(phase="write", task="answer", input=9, output=9, cost=None)
print(timeit.timeit(make, timer=time.process_time, number=200_000) / 200_000 * 1e9)
"""
REPLAY = """
import memsim
play = lambda: memsim.run("support_desk", "sliding_window")
play()
print(timeit.timeit(play, timer=time.process_time, number=10) / 10 * 1e3)
"""


def measure(code: str, *, fast: bool) -> float:
    """The figure that a process prints."""
    script = SETUP.format(root=str(ROOT), fast=fast) + code
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    return float(done.stdout)


def main() -> None:
    """Print one line per measurement."""
    for name, code in (("record, ns", RECORD), ("replay, ms", REPLAY)):
        pairs = [(measure(code, fast=False), measure(code, fast=True)) for _ in range(TRIES)]
        plain, fast = min(p for p, _ in pairs), min(f for _, f in pairs)
        saved = 1 - fast / plain
        print(f"{name}: dataclass {plain:,.1f}  fast_init {fast:,.1f}  saved {saved:.0%}")


if __name__ == "__main__":
    main()
