"""Keeps Python's search for garbage from taking a tenth of a run of small cases."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG = 50_000
"""New objects between two searches: some megabytes, where Python's own 700 suit a small heap."""


@contextmanager
def searched_rarely() -> Iterator[None]:
    """Searches new objects only now and then, and those that are there already not at all.

    What a run plays lives as long as the run: thousands of scenarios need not be looked through for
    each handful of cases. What becomes garbage meanwhile is found as ever.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
