"""Vectors in a file: each row is read as it was written, and nothing of the file is left."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index import vector_file
from memsim.memory.index.vector_file import VectorFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from memsim.models import Vectors

ROWS = np.arange(60, dtype=np.float32).reshape(20, 3)


def at(*rows: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Numbers of rows."""
    return np.array(rows, np.int64)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), min_size=1, max_size=12), st.data()
)
def test_rows_are_read_as_they_were_written_last(
    tmp_path_factory: pytest.TempPathFactory,
    writes: list[tuple[int, int]],
    data: st.DataObject,
) -> None:
    """Each of them, in any order, and some more than once."""
    file = VectorFile(3, tmp_path_factory.getbasetemp())
    expected: dict[int, Vectors] = {}
    for number, (start, count) in enumerate(writes):
        rows = np.full((count, 3), number, np.float32) + ROWS[:count]
        file.write(start, rows)
        expected |= zip(range(start, start + count), rows, strict=True)
    again = data.draw(st.lists(st.sampled_from(sorted(expected)), max_size=30))
    asked = [*data.draw(st.permutations(sorted(expected))), *again]

    assert (file[at(*asked)] == np.stack([expected[row] for row in asked])).all()
    file.close()


def test_a_system_without_preadv_reads_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Windows is."""
    monkeypatch.setattr(vector_file, "_PREADV", None)
    file = VectorFile(3, tmp_path)
    file.write(0, ROWS)

    assert (file[at(7, 0, 19)] == ROWS[[7, 0, 19]]).all()
    file.write(20, ROWS[:1])
    assert (file[at(20)] == ROWS[:1]).all()


def test_a_write_that_the_system_cuts_short_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may take fewer bytes at a time than it is given."""
    file = VectorFile(3, tmp_path)
    whole = file._file
    monkeypatch.setattr(
        file, "_file", SimpleNamespace(seek=whole.seek, write=lambda left: whole.write(left[:7]))
    )
    file.write(2, ROWS)
    file.write(0, ROWS[:0])

    assert (file[np.arange(2, 22)] == ROWS).all()
    assert file[at()].shape == (0, 3)


def test_rows_that_follow_each_other_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others one by one, and never more than some systems read."""
    file = VectorFile(3, tmp_path)
    file.write(0, ROWS)
    read: list[tuple[int, int]] = []

    def preadv(number: int, rooms: tuple[memoryview], start: int) -> int:
        read.append((start // 12, len(rooms[0]) // 12))
        return os.preadv(number, rooms, start)

    monkeypatch.setattr(vector_file, "_PREADV", preadv)
    monkeypatch.setattr(vector_file, "_AT_ONCE", 4)

    asked = at(0, 1, 2, 9, 4, 3, 3, 4, 5, 6, 7)
    assert (file[asked] == ROWS[asked]).all()
    assert read == [(0, 3), (9, 1), (4, 1), (3, 1), (3, 2), (5, 3)]


def cut_short(number: int, rooms: tuple[memoryview], start: int) -> int:
    """Read no more than seven bytes."""
    return os.preadv(number, (rooms[0][:7],), start)


@pytest.mark.parametrize("preadv", [cut_short, None], ids=["preadv", "without"])
def test_a_read_that_the_system_cuts_short_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    preadv: Callable[[int, tuple[memoryview], int], int] | None,
) -> None:
    """Where the file ends before the row, there is no vector to be had."""
    file = VectorFile(3, tmp_path)
    file.write(0, ROWS)
    whole = file._file
    monkeypatch.setattr(vector_file, "_PREADV", preadv)
    moved: list[int] = []

    def seek(start: int) -> None:
        moved.append(start)
        whole.seek(start)

    seldom = SimpleNamespace(seek=seek, readinto=lambda room: whole.readinto(room[:7]))
    monkeypatch.setattr(file, "_file", seldom)

    assert (file[at(5, 6, 7, 1)] == ROWS[[5, 6, 7, 1]]).all()
    assert bool(moved) is (preadv is None)
    with pytest.raises(OSError, match="shorter than was written"):
        file[at(19, 20)]


@pytest.mark.parametrize("rows", [(-1,), (-1, 0, 1), (3, -2)])
def test_a_row_that_cannot_be_is_no_vector(tmp_path: Path, rows: tuple[int, ...]) -> None:
    """Whatever rows come after it."""
    file = VectorFile(3, tmp_path)
    file.write(0, ROWS)

    with pytest.raises(OSError, match="Invalid argument"):
        file[at(*rows)]


def test_a_full_disk_is_told_and_nothing_more_is_said(tmp_path: Path) -> None:
    """Nothing is left to be written when the file is closed."""
    script = f"""
import resource, numpy as np
from pathlib import Path
from memsim.memory.index.vector_file import VectorFile
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
file = VectorFile(3, Path({str(tmp_path)!r}))
try:
    file.write(0, np.ones((1000, 3), np.float32))
except OSError as error:
    print(error.strerror)
"""
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert (found.stdout, found.stderr) == ("File too large\n", "")


def test_the_file_has_no_name_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Nor is anything left where nobody closed it."""
    file = VectorFile(3, tmp_path)
    file.write(0, ROWS)
    number = file._number

    assert [*tmp_path.iterdir()] == []
    assert stat.S_IMODE(os.fstat(number).st_mode) & 0o077 == 0
    assert Path(f"/proc/self/fd/{number}").readlink().parent == tmp_path
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    """A store may be read where nothing may be written."""
    file = VectorFile(3, tmp_path / "missing")
    file.write(0, ROWS)

    assert (file[at(3)] == ROWS[3]).all()
