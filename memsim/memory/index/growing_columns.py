"""Columns of numbers that are made longer as they fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from memsim.memory.index.form_rows import MANY

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def room_for(count: int) -> int:
    """How long a column is made that holds so many: longer by a quarter where there are many."""
    return count + count // 4 if count > MANY else 2 * count


def grown(held: NDArray[T], shape: tuple[int, ...]) -> NDArray[T]:
    """A longer column of the same rows, with zeros after them."""
    found = np.zeros(shape, held.dtype)
    if len(held):
        found[: len(held)] = held
    return found


def lengthen(held: NDArray[T], shape: tuple[int, ...]) -> None:
    """Make a column longer in its place, with zeros after its rows; nobody may have a view of it.

    The GNU C library moves the pages of a large one, so that there are never two of it.
    """
    held.resize(shape, refcheck=False)
