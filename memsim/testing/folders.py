"""Temporary folders, in memory where the system has a place for that."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


def throwaway() -> tempfile.TemporaryDirectory[str]:
    """A folder that is removed when its context ends."""
    place = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="memsim-check-", dir=place)
