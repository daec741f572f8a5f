"""What do searched facts cost a turn of `layered`, in a long history?

Replays one generated conversation through `layered` with facts and without, and compares the time
of the last turns (claimed: at most 1.5 times). A turn holds the search, the adding of the message
and of its facts. Times per turn are medians of blocks of 100 turns, in processor time.
"""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks._growing import measured

ALLOWED = 1.5
"""How many times dearer a turn may be with facts."""

LAST = 1_000
"""Turns at the end that are compared."""


def main() -> int:
    """Measure both, one after the other, and print the time of a turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000, help="at least 1,000")
    turns = max(LAST, parser.parse_args().turns)
    found: dict[str, float] = {}
    for name in ("layered:facts=off", "layered"):
        found[name] = measured(name, turns, time.process_time).per_turn(turns - LAST, turns)
        print(f"{name:<20}{found[name]:>9.0f} microseconds a turn at {turns:,} turns", flush=True)
    ratio = found["layered"] / found["layered:facts=off"]
    print(f"ratio {ratio:.2f}, at most {ALLOWED}{'' if ratio <= ALLOWED else '  MISSED'}")
    return int(ratio > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
