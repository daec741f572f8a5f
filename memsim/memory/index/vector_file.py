"""Vectors in a file of this process alone, for shelves that are too long for memory."""

from __future__ import annotations

import os
import weakref
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from io import FileIO

    from memsim.memory.index.forms import Numbers
    from memsim.models import Vectors

_PREADV = getattr(os, "preadv", None)  # Windows has none

_AT_ONCE = 1 << 16
"""Rows that are read at once at most: some systems refuse to read 2 GB."""


class VectorFile:
    """Vectors by the numbers of their rows, in a file that nobody else opens.

    It is no record: it is removed with this object or its process. Systems other than Windows give
    it no name. A row is read in a microsecond where the system holds the file in memory.

    Args:
        dimension: numbers of a vector.
        folder: where the file is; the system's folder for such files where none can be made there.

    Raises `OSError` where a file cannot be made, written or read.
    """

    def __init__(self, dimension: int, folder: Path) -> None:
        self._dimension = dimension
        self._size = dimension * np.dtype(np.float32).itemsize
        self._room = 0
        self._file: FileIO = _opened(folder)
        self._number = self._file.fileno()
        self._finalizer = weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._room

    def __getitem__(self, rows: Numbers) -> Vectors:
        """The vectors of rows that were written, shape (len(rows), dimension)."""
        size = self._size
        found = np.empty((len(rows), self._dimension), np.float32)
        room = found.reshape(-1).view(np.uint8).data
        begun = np.ones(len(rows), np.bool_)
        begun[1:] = np.diff(rows) != 1  # rows that follow each other are read at once
        begun[::_AT_ONCE] = True
        parts = [*begun.nonzero()[0].tolist(), len(rows)]
        for (begin, end), row in zip(pairwise(parts), rows[begun].tolist(), strict=True):
            self._read(row * size, room[begin * size : end * size])
        return found

    def reserve(self, count: int) -> None:
        """There may be so many rows from now on."""
        self._room = count

    def write(self, start: int, vectors: Vectors) -> None:
        """Put vectors into the rows from one on, shape (n, dimension)."""
        self._file.seek(start * self._size)
        left = np.ascontiguousarray(vectors, np.float32).reshape(-1).view(np.uint8).data
        while len(left):
            left = left[self._file.write(left) :]

    def close(self) -> None:
        """Remove the file."""
        self._finalizer()

    def _read(self, start: int, room: memoryview) -> None:
        while room:
            if _PREADV is None:
                self._file.seek(start)
                count = self._file.readinto(room)
            else:
                count = _PREADV(self._number, (room,), start)
            if not count:
                raise OSError("a file of vectors is shorter than was written")
            start, room = start + count, room[count:]


def _opened(folder: Path) -> FileIO:
    # Without a buffer, nothing is left to be written when it is closed on a full disk.
    try:
        return TemporaryFile(prefix="memsim-", dir=folder, buffering=0)
    except OSError:
        return TemporaryFile(prefix="memsim-", buffering=0)
