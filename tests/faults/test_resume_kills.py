"""Runs that are killed at random times and resumed, as the benchmark does it five hundred times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_killed_runs_end_with_the_bytes_of_an_undisturbed_one() -> None:
    """Ten kills, with one, two and eight workers: records, report and exit code are the same."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "resume_kills.py"), "--quick"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr
    assert done.stdout.endswith("0 runs ended otherwise than the undisturbed one\n")
