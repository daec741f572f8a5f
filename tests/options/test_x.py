"""`-x`: stop at the first failed case."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

import memsim.runs

Run = Callable[..., Result]
Saved = Callable[[], memsim.runs.Run]


def test_nothing_is_begun_after_a_failure(run: Run, saved: Saved) -> None:
    """What was found until then is kept and shown."""
    result = run("-x", "--fail-under", "recall=0.99", "-j", "1")

    assert result.exit_code == 1
    assert [c.id for c in saved().cases] == ["scenarios/first.yaml::first[mine@4k]"]
    assert "1 failed, 4 not run in " in result.stdout


def test_without_a_failure_all_are_run(run: Run, saved: Saved) -> None:
    """It only stops for a reason."""
    assert run("-x").exit_code == 0
    assert len(saved().cases) == 5
