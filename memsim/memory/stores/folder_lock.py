"""One writer of a folder at a time, across processes."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows has none: two writers of one folder are then the user's own look-out
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def holding(descriptor: int) -> Iterator[None]:
    """Hold the lock of an open file; waits for whoever has it, and ends with the process."""
    if fcntl is None:
        yield
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which must exist: there is no lock file to be left behind."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with holding(descriptor):
            yield
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make sure that what was renamed in a folder stays so when the power goes."""
    if fcntl is None:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
