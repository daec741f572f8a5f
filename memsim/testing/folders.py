"""Temporary folders, in memory where the system has a place for that."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


def throwaway() -> tempfile.TemporaryDirectory[str]:
    """A folder that is removed when its context ends."""
    place = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="memsim-check-", dir=place)


@contextmanager
def fresh_folders() -> Iterator[Callable[[], Path]]:
    """Gives a new folder each time it is asked, and removes the one before."""
    with throwaway() as place:
        numbers = count()

        def made() -> Path:
            number = next(numbers)
            shutil.rmtree(Path(place) / str(number - 1), ignore_errors=True)
            folder = Path(place) / str(number)
            folder.mkdir()
            return folder

        yield made
