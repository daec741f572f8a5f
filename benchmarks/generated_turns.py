"""Generate a scenario of a million turns: seconds, and the most memory.

Stories of the family `updates` follow one another, each with as much other talk as the dial
`distance` allows. The scenario is loaded from its file, and every turn of it is read. Claimed: a
million turns take less than 30 s by the clock.

    python -m benchmarks.generated_turns --turns 100000
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from memsim.scenario.generator.dials import DIALS
from memsim.scenario.scenario_loader import load_scenario
from memsim.scenario.script import Turn

SECONDS = 30.0
"""What is claimed of a million turns."""

MILLION = 1_000_000
FARTHEST = DIALS["distance"].most
OWN = 200
"""Turns of a story beside the other talk, at most."""


def script(turns: int) -> str:
    """A scenario of about so many turns and no more, as a file holds it."""
    stories = -(-turns // FARTHEST)
    each = turns // stories - OWN
    told = [
        {"generate": {"family": "updates", "distance": each, "seed": seed}}
        for seed in range(stories)
    ]
    last = {"user": "Thank you, that is all."}
    return json.dumps({"memsim": 1, "name": "long_story", "turns": [*told, last]})


def main() -> int:
    """Print what it took; 1 when that is more than is claimed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=MILLION)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memsim-turns-") as folder:
        path = Path(folder) / "long_story.yaml"
        path.write_text(script(given.turns), encoding="utf-8")
        wall, began = time.perf_counter(), time.process_time()
        scenario = load_scenario(path)
        count = sum(isinstance(event, Turn) for event in scenario.events(7))
        used, took = time.process_time() - began, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count:,} turns, {len(scenario.probes)} questions: {took:.1f} s by the clock,")
    print(f"{used:.1f} s of processor time, {peak:.0f} MB at most")
    kept = took <= SECONDS * max(count, 1) / MILLION and count >= 0.99 * given.turns
    print("kept" if kept else "MISSED")
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
