"""`--timeout SECONDS`: what a case may take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

HANGS = """\
import time

from memsim import Context, Query, Strategy


class Hangs(Strategy):
    \"\"\"Waits for what never comes.\"\"\"

    def context(self, query: Query) -> Context:
        while True:
            try:
                time.sleep(60)
            except Exception:
                pass
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_case_that_takes_too_long_is_an_error(run: Run, project: Path, jobs: str) -> None:
    """Nothing was measured, and the exit code says so."""
    (project / "strategies/hangs.py").write_text(HANGS, encoding="utf-8")

    result = run("-s", "hangs", "-k", "hangs", "--repeat", "2", "--timeout", "0.5", "-j", jobs)

    assert result.exit_code == 7
    assert "took longer than the 0.5 s that a case may take" in result.stdout
    assert "2 unmeasured" in result.stdout


def test_the_other_cases_are_played(run: Run, project: Path) -> None:
    """The limit is each case's own."""
    (project / "strategies/hangs.py").write_text(HANGS, encoding="utf-8")

    result = run("-s", "hangs", "-s", "mine", "-k", "hangs or mine", "--timeout", "5", "-j", "1")

    assert result.exit_code == 7
    assert "1 unmeasured, 1 passed" in result.stdout


def test_a_strategy_that_hangs_when_it_is_closed_ends_too(run: Run, project: Path) -> None:
    """The reminder comes again."""
    text = HANGS + "\n    def close(self) -> None:\n        time.sleep(60)\n"
    (project / "strategies/hangs.py").write_text(text, encoding="utf-8")

    assert run("-s", "hangs", "-k", "hangs", "--timeout", "0.2").exit_code == 7


def test_a_case_in_time_is_as_it_is_without_a_limit(
    run: Run, project: Path, runs: Callable[[], tuple[Path, ...]]
) -> None:
    """The limit leaves no trace in what is measured."""
    run()
    run("--timeout", "300")

    newer, older = ((folder / "probes.jsonl").read_bytes() for folder in runs())
    assert older == newer


@pytest.mark.parametrize("value", ["-1", "soon", "nan", "1e99"])
def test_a_limit_that_is_none_is_exit_four(run: Run, value: str) -> None:
    """One line with the flag."""
    result = run("--timeout", value)

    assert result.exit_code == 4
    assert "--timeout must be seconds such as 30 or 0.5" in result.stderr
