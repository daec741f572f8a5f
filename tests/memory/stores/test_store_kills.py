"""A store whose process is killed holds what was promised, as the benchmark counts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_killed_writers_leave_a_whole_store() -> None:
    """Both kinds that keep files, 25 kills each, as the benchmark does it a thousand times."""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(root / "benchmarks" / "store_kills.py"), "--quick"],
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr
    assert 3 == len(done.stdout.splitlines())
