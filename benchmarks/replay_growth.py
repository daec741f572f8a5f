"""Does the cost of a turn stay flat as the history grows?

Replays one generated conversation of 100,000 turns through each baseline and compares its last
turns with those around the 1,000th of another, played right after it in the same process, for a
machine is not as fast a minute later: time per turn (claimed: at most 1.3 times), and memory per
turn over the first and the second half (claimed: flat). Times per turn are medians of blocks of 100
turns, so that a collection of garbage counts for nothing. `full_context` is left out: its context
is the history.
"""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks._growing import ALLOWED, each_apart, measured

STRATEGIES = ("no_memory", "sliding_window", "rolling_summary", "bm25", "vector", "hybrid")
WITHIN_A_MINUTE = ("sliding_window", "bm25")


def report(name: str, turns: int) -> bool:
    """Measure one strategy in this process and print its row; whether it kept the claims."""
    began = time.perf_counter()
    meter = measured(name, turns, time.perf_counter)
    seconds = time.perf_counter() - began
    late = meter.per_turn(turns - 2000, turns)
    early = measured(name, 1500, time.perf_counter).per_turn(500, 1500)
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
    return int(bool(each_apart(__file__, STRATEGIES, "--turns", str(turns))))


if __name__ == "__main__":
    sys.exit(main())
