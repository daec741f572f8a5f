"""Time the two commands that people wait for: the whole default run, and every relation on LoCoMo.

Each command runs as its users run it. Its processor time is divided by two, as for two cores that
do nothing else, and is held against what is claimed. The time by the clock is printed beside it:
other programs lengthen it. `--quick` leaves LoCoMo out; its five development conversations are
looked for below MEMSIM_DATA, or below `../shared/data`. Ends with 1 where a command took longer
than is claimed, failed, or was not run for want of data.

    python -m benchmarks.whole_commands
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data")
LOCOMO = DATA / "locomo" / "locomo-dev5.json"
CORES = 2


@dataclass(frozen=True, slots=True)
class Command:
    """A command, its seconds on two cores as claimed, and the exit codes that it may have."""

    words: tuple[str, ...]
    seconds: float
    codes: tuple[int, ...]
    needs: Path | None = None


RUN = Command(("run", "--baseline", "none"), 90.0, (0, 1))
"""Failing probes are what the default run is there to show, so that it may end with 1."""
TWIST = Command(
    ("twist", "locomo", "--data", str(LOCOMO), "-s", "layered"), 300.0, (0,), needs=LOCOMO
)


def measure(command: Command, folder: Path) -> bool:
    """Run it and print what it took; whether that is what is claimed."""
    said = f"memsim {command.words[0]}"
    if command.needs and not command.needs.is_file():
        print(f"{said}: not measured, no {command.needs.name} below {DATA}")
        return False
    wall, before = time.perf_counter(), _processor_seconds()
    done = subprocess.run(
        [sys.executable, "-m", "memsim", *command.words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    took, used = time.perf_counter() - wall, _processor_seconds() - before
    if done.returncode not in command.codes:
        print(f"{said}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
        return False
    kept = used / CORES <= command.seconds
    print(
        f"{said}: {used:.0f} s of processor time, {used / CORES:.0f} s on {CORES} idle cores, "
        f"{took:.0f} s by the clock here; {command.seconds:.0f} s are claimed"
        f"{'' if kept else '  MISSED'}"
    )
    return kept


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Print each; 1 where one is not as claimed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the default run alone")
    given = parser.parse_args()
    commands = (RUN,) if given.quick else (RUN, TWIST)
    with tempfile.TemporaryDirectory(prefix="memsim-commands-") as folder:
        kept = [measure(command, Path(folder)) for command in commands]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
