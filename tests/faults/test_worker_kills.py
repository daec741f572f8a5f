"""Runs that lose a worker, and workers that lose their run, as the benchmark makes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_killed_worker_costs_one_case_until_the_run_is_continued() -> None:
    """No traceback, the bytes of an undisturbed run in the end, and no worker without its run."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "worker_kills.py"), "--quick"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr
    assert done.stdout.endswith("0 runs went wrong, 0 workers outlived their run\n")
