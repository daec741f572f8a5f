"""`--mask-bad-gold`: a dataset's answers that are known to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]


def test_without_an_audit_it_is_exit_four(run: Run, project: Path) -> None:
    """There is nothing to leave out by; one line says so."""
    (project / "locomo.json").write_text("[]", encoding="utf-8")

    result = run("locomo", "--data", "locomo.json", "--mask-bad-gold")

    assert result.exit_code == 4
    assert result.stderr.count("\n") == 1
