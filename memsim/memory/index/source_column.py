"""Ids of messages in a column: of one such as `m12`, only the number is kept."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from memsim.memory.index.id_places import id_number

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class SourceColumn:
    """Ids by place, as in a list; one such as `m12` takes 8 bytes."""

    __slots__ = ("_numbers", "_others")

    def __init__(self) -> None:
        self._numbers = array("q")
        self._others: dict[int, str] = {}
        """Ids of any other form, which have the number 0."""

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: int) -> str:
        number = self._numbers[place]
        return f"m{number}" if number else self._others.get(place, "")

    def __setitem__(self, place: int, source: str) -> None:
        self._numbers[place] = number = id_number(source)
        if number or not source:
            self._others.pop(place, None)
        else:
            self._others[place] = source

    def __repr__(self) -> str:
        return repr([self[place] for place in range(len(self))])

    def append(self, source: str) -> None:
        """Put an id behind the others."""
        self._numbers.append(0)
        self[len(self._numbers) - 1] = source

    def extend(self, sources: Sequence[str]) -> None:
        """Put ids behind the others."""
        start = len(self._numbers)
        numbers = [id_number(source) for source in sources]
        self._numbers.extend(numbers)
        self._others.update(
            (place, source)
            for place, (source, number) in enumerate(zip(sources, numbers, strict=True), start)
            if source and not number
        )

    def among(self, sources: Collection[str]) -> list[int]:
        """Where these ids stand, ascending."""
        import numpy as np

        wanted = {*sources}
        numbers = [number for source in wanted if (number := id_number(source))]
        found = np.isin(np.frombuffer(self._numbers, np.int64), numbers).nonzero()[0].tolist()
        return sorted([*found, *(at for at, source in self._others.items() if source in wanted)])
