"""What a writer that died has begun goes when the next one comes, and not while it is at it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from memsim.atomic_files import GRACE
from memsim.gate.baseline_file import write_baseline
from memsim.gate.comparison import COMPARISON, Comparison, write_comparison
from tests.faults.areas import EMPTY

COMPARED: Final = Comparison(base="a", now="b", made="", confidence=0.95, clustered=False)
WRITERS: Final[dict[str, Callable[[Path], None]]] = {
    "main.json": lambda folder: write_baseline(folder / "main.json", EMPTY),
    COMPARISON: lambda folder: write_comparison(folder, COMPARED),
}


@pytest.mark.parametrize("name", sorted(WRITERS))
@pytest.mark.parametrize("age", [-GRACE - 5, GRACE + 5])
def test_what_was_begun_long_ago_goes(tmp_path: Path, name: str, age: float) -> None:
    """Long by the clock, or in its future, where the clock was set back."""
    begun, other = tmp_path / f".{name}.0badcafe.tmp", tmp_path / f"{name}.tmp"
    for path in (begun, other):
        path.write_text("{")
        os.utime(path, (time.time() - age, time.time() - age))

    WRITERS[name](tmp_path)

    assert {name, other.name} == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_what_another_is_writing_stays(tmp_path: Path, name: str) -> None:
    """It would fail when it has done, and tell somebody who did nothing wrong."""
    begun = tmp_path / f".{name}.0badcafe.tmp"
    begun.write_text("{")

    WRITERS[name](tmp_path)

    assert {name, begun.name} == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_others_may_read_it_as_they_may_read_any_file(tmp_path: Path, name: str) -> None:
    """It is committed, or looked at by a colleague; who closed a file to them finds it closed."""
    before = os.umask(0o027)
    try:
        WRITERS[name](tmp_path)
        assert 0o640 == stat.S_IMODE((tmp_path / name).stat().st_mode)
        (tmp_path / name).chmod(0o600)
        WRITERS[name](tmp_path)
        assert 0o600 == stat.S_IMODE((tmp_path / name).stat().st_mode)
    finally:
        os.umask(before)
