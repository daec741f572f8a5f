"""When Python looks for garbage: rarely in a run, and not while many records are made."""

from __future__ import annotations

import gc
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
