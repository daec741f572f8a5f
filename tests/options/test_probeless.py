"""A scenario that asks nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]

SILENT = """\
memsim: 1
name: silent
turns:
  - user: Hello there.
"""


def test_it_is_named_before_it_is_played(run: Run, project: Path) -> None:
    """Exit 7 says that something could not be measured, and this says what."""
    (project / "scenarios/silent.yaml").write_text(SILENT, encoding="utf-8")

    result = run("scenarios/silent.yaml", "--progress", "none")

    said = "scenarios/silent.yaml::silent asks no probe: nothing of it can be measured\n"
    assert (7, said) == (result.exit_code, result.stderr)


def test_beside_others_it_is_named_as_well(run: Run, project: Path) -> None:
    """The others pass, and so does the run."""
    (project / "scenarios/silent.yaml").write_text(SILENT, encoding="utf-8")

    result = run("-s", "mine", "--progress", "none")

    assert 0 == result.exit_code
    assert 1 == result.stderr.count("asks no probe")
