"""Does a run that is killed anywhere, and again, end with the bytes of one that was not?

A run of real cases is started in a process of its own with one, two or eight workers, killed
(SIGKILL) after a random time, and continued by the same command, which may be killed as well; the
last one goes through. Claimed: the same records byte for byte, each case once, whatever the number
of workers; no run that cannot be continued.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ("turns.jsonl", "probes.jsonl", "cases.jsonl")
SCENARIOS = ("two_customers.yaml", "changing_preferences.yaml")
STRATEGIES = ("sliding_window", "bm25")
KILLS, QUICK = 500, 10


def command(folder: Path, jobs: int) -> list[str]:
    """One try at the run."""
    files = [str(ROOT / "scenarios" / name) for name in SCENARIOS]
    which = [word for name in STRATEGIES for word in ("--strategy", name)]
    flags = ["--jobs", str(jobs), "--output", str(folder)]
    return [sys.executable, "-m", "memsim", "run", *files, *which, *flags]


def attempt(folder: Path, jobs: int, lives: float | None) -> bool:
    """Run it, and kill it and its workers after so many seconds; whether it was killed."""
    process = subprocess.Popen(
        command(folder, jobs),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        process.wait(lives)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def records(folder: Path) -> dict[str, bytes]:
    """What a run kept, without the seconds that it took."""

    def timeless(data: bytes) -> bytes:
        return re.sub(rb'"(seconds|ends|crc|own)":(\[[^]]*\]|[0-9.e-]+)', rb"", data)

    return {name: timeless((folder / name).read_bytes()) for name in RECORDS}


def main() -> int:
    """Kill and continue, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    chance, wanted = random.Random(given.seed), QUICK if given.quick else given.kills
    kills = runs = different = 0
    with tempfile.TemporaryDirectory() as place:
        begun = time.monotonic()
        attempt(Path(place) / "whole", 1, None)
        longest = time.monotonic() - begun
        expected = records(Path(place) / "whole")
        while kills < wanted:
            folder = Path(place) / f"run{runs}"
            for _ in range(4):
                kills += attempt(folder, chance.choice((1, 2, 8)), chance.random() * longest)
            attempt(folder, chance.choice((1, 2, 8)), None)
            runs += 1
            different += records(folder) != expected
    print(f"{kills} kills in {runs} runs: {different} ended otherwise than the undisturbed one")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
