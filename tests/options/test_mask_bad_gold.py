"""`--mask-bad-gold PATH`: a dataset's answers that are known to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]


def test_an_audit_that_is_not_there_is_exit_four(run: Run, project: Path) -> None:
    """One line that names it."""
    (project / "locomo.json").write_text("[]", encoding="utf-8")

    result = run("locomo", "--data", "locomo.json", "--mask-bad-gold", "nowhere.json")

    assert result.exit_code == 4
    assert result.stderr.count("\n") == 1
