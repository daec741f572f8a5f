"""Vectors in a file of this process alone, for shelves that are too long for memory."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from memsim.memory.index.forms import Numbers
    from memsim.models import Vectors


class VectorFile:
    """Vectors by the numbers of their rows, in a file that has no name and ends with the process.

    It is no record: nobody reads it again. A row is read in a microsecond, a fifth of what the rows
    of a database take.

    Args:
        dimension: numbers of a vector.
        folder: where there is room for it; the system's folder for such files where nothing may be
            written there.

    Raises `OSError` where a file cannot be made, written or read.
    """

    def __init__(self, dimension: int, folder: Path) -> None:
        self._dimension = dimension
        self._size = dimension * np.dtype(np.float32).itemsize
        self._rows = 0
        self._file: BinaryIO = _opened(folder)
        self._read: Callable[[int, int, int], bytes] = getattr(os, "pread", self._sought)
        self._number = self._file.fileno()
        self._finalizer = weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, rows: Numbers) -> Vectors:
        """The vectors of rows, shape (len(rows), dimension)."""
        read, number, size = self._read, self._number, self._size
        raw = b"".join([read(number, size, row * size) for row in rows.tolist()])
        return np.frombuffer(raw, np.float32).reshape(-1, self._dimension)

    def write(self, start: int, vectors: Vectors) -> None:
        """Put vectors into the rows from one on, shape (n, dimension)."""
        self._file.seek(start * self._size)
        self._file.write(np.ascontiguousarray(vectors, np.float32).data)
        self._file.flush()
        self._rows = max(self._rows, start + len(vectors))

    def cut(self, count: int) -> None:
        """There are only so many rows; of the others nothing is left in the file."""
        gone = self._rows - count
        if gone > 0:
            self.write(count, np.zeros((gone, self._dimension), np.float32))
            self._rows = count

    def close(self) -> None:
        """Remove the file."""
        self._finalizer()

    def _sought(self, _number: int, size: int, start: int) -> bytes:
        """As `os.pread`, which not every system has."""
        self._file.seek(start)
        return self._file.read(size)


def _opened(folder: Path) -> BinaryIO:
    try:
        return TemporaryFile(prefix="memsim-", dir=folder)
    except OSError:
        return TemporaryFile(prefix="memsim-")
