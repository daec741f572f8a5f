"""Numbers by the id of a message, for one owner: one for most messages, several for some.

A message has an entry, or one for each passage of a long result; and each fact that it states.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from memsim.memory.index.id_places import IdPlaces

if TYPE_CHECKING:
    from collections.abc import Sequence


class MessageNumbers:
    """Numbers by the id of a message, in the order in which they came."""

    __slots__ = ("_first", "_more")

    def __init__(self) -> None:
        self._first = IdPlaces()
        self._more: dict[str, array[int]] = {}
        """All numbers of a message that has several."""

    def __getitem__(self, source: str) -> Sequence[int]:
        """The numbers of a message; none where it is not known."""
        if self._more and source in self._more:
            return self._more[source]
        first = self._first.get(source)
        return () if first is None else (first,)

    def add(self, source: str, number: int) -> None:
        """Put a number behind those of a message."""
        if source in self._more:
            self._more[source].append(number)
        elif (first := self._first.get(source)) is None:
            self._first.add(source, number)
        else:
            self._more[source] = array("i", (first, number))

    def extend(self, sources: Sequence[str], numbers: Sequence[int]) -> None:
        """As `add`, of several."""
        firsts: dict[str, int] = {}
        others: list[tuple[str, int]] = []
        for source, number in zip(sources, numbers, strict=True):
            if source in firsts:
                others.append((source, number))
            else:
                firsts[source] = number
        if self._more or not self._first.is_new(firsts):
            others = [*zip(sources, numbers, strict=True)]
        else:
            self._first.extend(firsts)
        for source, number in others:
            self.add(source, number)

    def remove(self, source: str, number: int) -> bool:
        """Take a number out; whether others are left."""
        left = [other for other in self[source] if other != number]
        if len(left) > 1:
            self._more[source] = array("i", left)
            return True
        self.drop(source)
        if left:
            self._first.add(source, left[0])
        return bool(left)

    def drop(self, source: str) -> None:
        """Forget a message."""
        self._more.pop(source, None)
        if source in self._first:
            self._first.pop(source)
