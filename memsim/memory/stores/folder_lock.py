"""Lock a folder, so that one process at a time writes to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memsim.atomic_files import sync_folder, unlock, wait_for_lock

__all__ = ["holding", "locked", "sync_folder"]


@contextmanager
def holding(descriptor: int) -> Iterator[None]:
    """Hold the lock of an open file, and wait until it is free."""
    wait_for_lock(descriptor)
    try:
        yield
    finally:
        unlock(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which must exist, without a lock file."""
    if sys.platform == "win32":
        yield  # Windows cannot open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with holding(descriptor):
            yield
    finally:
        os.close(descriptor)
