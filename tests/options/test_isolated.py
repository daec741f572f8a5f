"""`--isolated`: strategies in processes of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.mark.processes
def test_the_result_is_the_same(run: Run, project: Path) -> None:
    """Tests of what it keeps out are in tests/strategy_process."""
    flags = ("-k", "mine", "-s", "mine", "--format", "json", "-j", "1")

    here = json.loads(run(*flags).stdout)
    apart = json.loads(run(*flags, "--isolated", "-o", str(project / "apart")).stdout)

    assert here["boards"] == apart["boards"]
