"""The facts in force of one owner, by the stems of their words, in columns.

A conversation states many facts and changes few. So what is kept of each takes some hundred bytes,
and its words are read again when a change may be of it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from datetime import timedelta
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from memsim.memory.index.entry_numbers import EntryNumbers
from memsim.message import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

_MICROSECOND: Final = timedelta(microseconds=1)
_GONE: Final = 2**63 - 1
"""Stands for the time of a fact that is gone: later than any other."""


class FactColumns:
    """Facts by number, in the order in which they came; a number is given once."""

    def __init__(self) -> None:
        self._ids = EntryNumbers(again=False)
        self._since = array("q")
        self._with: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def add(self, name: str, since: datetime, stems: Iterable[str]) -> None:
        """Take a fact in that is not there."""
        number = self._ids.add(name)
        self._since.append(_instant(since))
        for root in stems:
            held = self._with.get(root)
            if held is None:
                held = self._with[root] = array("i")
            held.append(number)

    def remove(self, name: str, stems: Iterable[str]) -> None:
        """Take a fact out, if it is there."""
        number = self._ids.pop(name)
        if number is None:
            return
        self._since[number] = _GONE
        for root in stems:
            held = self._with.get(root, array("i"))
            at = bisect_left(held, number)
            if held[at : at + 1] == array("i", [number]):
                del held[at]
                if not held:
                    del self._with[root]

    def name(self, number: int) -> str:
        """The id of a fact."""
        return self._ids.name(number)

    def having(self, root: str) -> int:
        """How many facts have a stem."""
        return len(self._with.get(root, ()))

    def numbers(self, root: str) -> Iterable[int]:
        """The facts that have a stem."""
        return self._with.get(root, ())

    def stems(self, number: int, among: Iterable[str]) -> list[str]:
        """Those of some stems that a fact has."""
        found = []
        for root in among:
            held = self._with.get(root, ())
            at = bisect_left(held, number)
            if at < len(held) and held[at] == number:
                found.append(root)
        return found

    def is_before(self, number: int, time: datetime) -> bool:
        """Whether a fact was stated before some time."""
        return self._since[number] < _instant(time)

    def latest(self, time: datetime, most: int) -> list[str]:
        """The facts that were stated last before some time, the latest first, ties by id."""
        import numpy as np

        since = np.frombuffer(self._since, np.int64)
        (earlier,) = (since < _instant(time)).nonzero()
        if len(earlier) > most:
            times = since[earlier]
            earlier = earlier[times >= np.partition(times, -most)[-most]]
        found = ((self._since[n], self._ids.name(n)) for n in earlier.tolist())
        return [name for _, name in nlargest(most, found)]


def _instant(time: datetime) -> int:
    return (time - EPOCH) // _MICROSECOND
