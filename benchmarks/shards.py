"""Compare one run with four shards and their merge: equal bytes, and what the split costs.

python benchmarks/shards.py [SCENARIO]...
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHARDS = 4
RECORDS = ("probes.jsonl", "turns.jsonl", "contexts.jsonl", "report.md")
SCENARIOS = ("support_desk", "team_standup", "tool_heavy")


def memsim(*arguments: str, folder: Path) -> float:
    """Run a command and return its seconds."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "memsim", *arguments, "-q"],
        cwd=folder,
        check=False,
        stdout=subprocess.DEVNULL,
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(f"memsim {' '.join(arguments)}: exit {done.returncode}")
    return time.perf_counter() - start


def main() -> None:
    """Play, merge, compare and print."""
    played = ("run", *(sys.argv[1:] or SCENARIOS), "-j", "1")
    with tempfile.TemporaryDirectory(prefix="memsim-shards-") as name:
        folder = Path(name)
        alone = memsim(*played, "-o", "alone/run", folder=folder)
        parts = [
            memsim(*played, "--shard", f"{n}/{SHARDS}", "-o", f"shards/{n}", folder=folder)
            for n in range(1, SHARDS + 1)
        ]
        merge = memsim("merge", "shards", "-o", "merged/run", folder=folder)
        for record in RECORDS:
            if (folder / "alone/run" / record).read_bytes() != (
                folder / "merged/run" / record
            ).read_bytes():
                raise SystemExit(f"{record} differs")
    print(f"one run                      {alone:6.2f} s")
    print(
        f"{SHARDS} shards, one by one         {sum(parts):6.2f} s, the longest {max(parts):.2f} s"
    )
    print(f"merge and report             {merge:6.2f} s")
    print(f"all work, against one run    {(sum(parts) + merge) / alone:6.2f}")
    print(f"{', '.join(RECORDS)}: equal bytes")


if __name__ == "__main__":
    main()
