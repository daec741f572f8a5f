"""`-j N`: processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]
Runs = Callable[[], tuple[Path, ...]]


def test_the_records_do_not_depend_on_it(run: Run, runs: Runs) -> None:
    """Byte for byte, whatever finishes first."""
    for jobs in ("1", "2"):
        assert run("-j", jobs, "--no-report").exit_code == 0

    second, first = runs()
    for name in ("turns.jsonl", "probes.jsonl", "contexts.jsonl"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_nonsense_is_exit_four(run: Run) -> None:
    """None, fewer than none, and more than any machine has."""
    for text in ("0", "-1", "1000000", "x"):
        result = run("--jobs", text)

        assert result.exit_code == 4
        assert "-j must be a whole number from 1" in result.stderr
