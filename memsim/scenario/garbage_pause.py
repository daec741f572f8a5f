"""Make many records without a search for garbage among them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
