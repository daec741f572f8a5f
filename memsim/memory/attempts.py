"""Work of several parts, of which one's failure keeps no other from being done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.errors import ModelError, StateError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

EXPECTED = (ModelError, StateError, StoreError)
"""The errors of a model, a saved part, a store: anything else is a defect, and stops everything."""


class Attempts:
    """What was tried one after another, and how it failed."""

    def __init__(self) -> None:
        self._failed: list[ModelError | StateError | StoreError] = []

    def attempt(self, work: Callable[[], object]) -> None:
        """Do a part; how it fails is kept for the end."""
        try:
            work()
        except EXPECTED as error:
            self._failed.append(error)

    def end(self) -> None:
        """Raise what failed first, if anything did."""
        if self._failed:
            raise self._failed[0]
