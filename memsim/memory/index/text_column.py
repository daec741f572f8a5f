"""Texts by place, at which the garbage collector does not look.

It goes through a list of a million ids in each full collection, and reads the type of each. It
passes over arrays of numpy: what stands in one has to be nothing that can lead back to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_LEAST = 8
"""Places that are made at a time, at least."""


class TextColumn:
    """Texts in a row, as in a list: each takes 8 bytes beside itself."""

    __slots__ = ("_held", "_length")

    def __init__(self) -> None:
        import numpy as np

        self._held: NDArray[Any] = np.empty(0, object)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return iter(self._held[: self._length].tolist())

    def __repr__(self) -> str:
        return repr([*self])

    def __getitem__(self, place: int) -> str:
        text: str = self._held[place]
        return text

    def __setitem__(self, place: int, text: str) -> None:
        self._held[place] = text

    def __delitem__(self, place: int) -> None:
        last = self._length - 1
        self._held[place:last] = self._held[place + 1 : last + 1]
        self._held[last] = None
        self._length = last

    def append(self, text: str) -> None:
        """Put a text behind the others."""
        if self._length == len(self._held):
            self._grow(1)
        self._held[self._length] = text
        self._length += 1

    def extend(self, texts: Sequence[str]) -> None:
        """Put texts behind the others."""
        end = self._length + len(texts)
        if end > len(self._held):
            self._grow(len(texts))
        self._held[self._length : end] = texts
        self._length = end

    def _grow(self, more: int) -> None:
        import numpy as np

        new = np.empty(max(_LEAST + self._length // 4, more), object)
        self._held = np.concatenate((self._held[: self._length], new))
