"""`-v`: every missed probe by id."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_every_missed_probe_is_listed(run: Run) -> None:
    """Those of the compared strategies: controls miss on purpose."""
    result = run("-v", "-s", "sliding_window:messages=2")

    missed = [line for line in result.stdout.splitlines() if line.startswith("  MISS ")]
    assert len(missed) == 10
    assert all("[sliding_window:messages=2@4k]::" in line for line in missed)
