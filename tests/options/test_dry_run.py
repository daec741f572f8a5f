"""`--dry-run`: print the plan and run nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]


def test_cases_turns_and_probes_are_told_and_nothing_is_written(run: Run, project: Path) -> None:
    """What it would come to, before it is begun."""
    result = run("--dry-run", "--budget", "1k,4k")

    expected = """\
10 cases: 1 scenario × 5 strategies × 2 budgets
  scenario                     cases  turns  probes
  scenarios/first.yaml::first     10     35      11

  strategies  mine, sliding_window:messages=12, full_context, no_memory, oracle
  budgets     1k, 4k
  in all      350 turns, 110 questions; nothing was run
"""
    assert (result.exit_code, result.stdout) == (0, expected)
    assert not (project / "reports/runs").exists()
