"""Which paths a pattern of `memsim_files` means."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.pytest_plugin import matches


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("scenarios/a.yaml", "scenarios/**/*.yaml", True),
        ("scenarios/b/c/a.yaml", "scenarios/**/*.yaml", True),
        ("scenarios/a.yml", "scenarios/**/*.yaml", False),
        ("tests/scenarios/a.yaml", "scenarios/**/*.yaml", False),
        ("tests/scenarios/a.yaml", "**/scenarios/*.yaml", True),
        ("a.yaml", "*.yaml", True),
        ("b/a.yaml", "*.yaml", False),
        ("b/a.yaml", "**", True),
    ],
)
def test_two_stars_stand_for_any_number_of_folders(
    path: str, pattern: str, *, expected: bool
) -> None:
    """One star stays within its folder."""
    assert expected == matches(Path(path), pattern)
