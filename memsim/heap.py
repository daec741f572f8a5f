"""How a process that plays cases keeps its memory: rarely searched for garbage, without holes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG = 50_000
"""New objects between two searches: some megabytes, where Python's own 700 suit a small heap."""


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Run Python's garbage collection rarely, and only on new objects.

    The scenarios of a run live as long as the run, so they need not be searched again for every few
    cases: it would take a tenth of the time of small ones. New garbage is found as before.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def garbage_pause() -> Iterator[None]:
    """Look for no garbage until all is made.

    A long story is millions of records that stay. Python would look through them again and again.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_LARGE = 4 << 20
"""Bytes of a block that has pages of its own."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt` of the GNU C library."""


def keep_large_blocks_apart() -> None:
    """Give large blocks of this process pages of their own, for good, where its C library can.

    The columns of a long memory grow by being moved. The GNU C library soon moves them within its
    heap, and what they leave behind there is lost: a fifth of the process after 800,000 turns.
    """
    if sys.platform != "linux":
        return
    import ctypes

    set_parameter = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_parameter is not None:
        set_parameter(_MMAP_THRESHOLD, _LARGE)
        set_parameter(_TRIM_THRESHOLD, 2 * _LARGE)
