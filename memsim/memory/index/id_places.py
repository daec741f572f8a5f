"""Find the places of documents by their ids, in little memory.

Most scripts number their messages `m1`, `m2` and so on. Of many such ids only the numbers are kept,
in columns that are searched by halving. Other ids have a table.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

PLAIN = 20_000
"""Ids that have a table before their numbers are put into columns."""

_DIGITS = 18
"""Digits that a number of a column may have."""


class IdPlaces:
    """The places of documents by id; an id gets a larger place than any id before it."""

    __slots__ = ("_known", "_most", "_numbers", "_places")

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._most = PLAIN
        # Of ids that are not in the table, ascending both.
        self._numbers = array("q")
        self._places = array("q")

    def __len__(self) -> int:
        return len(self._known) + len(self._numbers)

    def __contains__(self, name: object) -> bool:
        return name in self._known or (isinstance(name, str) and self._find(name) >= 0)

    def __getitem__(self, name: str) -> int:
        place = self.get(name)
        if place is None:
            raise KeyError(name)
        return place

    def get(self, name: str) -> int | None:
        """The place of an id; None where it has none."""
        place = self._known.get(name)
        if place is None and (at := self._find(name)) >= 0:
            return self._places[at]
        return place

    def add(self, name: str, place: int) -> Sequence[int]:
        """Give a new id its place; the places whose names are to be asked of `name` from now on."""
        self._known[name] = place
        return self._pack() if len(self._known) > self._most else ()

    def is_new(self, names: Collection[str]) -> bool:
        """Whether none of these ids has a place."""
        there = not self._known.keys().isdisjoint(names)
        return not there and not (self._numbers and any(self._find(name) >= 0 for name in names))

    def extend(self, places: Mapping[str, int]) -> Sequence[int]:
        """As `add`, of several new ids with their places."""
        self._known.update(places)
        return self._pack() if len(self._known) > self._most else ()

    def pop(self, name: str) -> int:
        """Take an id out, and tell its place. Raises `KeyError` if it has none."""
        at = self._find(name)
        if at < 0:
            return self._known.pop(name)
        del self._numbers[at]
        return self._places.pop(at)

    def name(self, place: int) -> str:
        """The id at a place that `add` has told."""
        return f"m{self._numbers[_place(self._places, place)]}"

    def places(self) -> list[int]:
        """Every place, ascending."""
        return sorted(chain(self._places, self._known.values()))

    def _find(self, name: str) -> int:
        """Where an id stands in the columns; -1 for nowhere."""
        numbers = self._numbers
        if not numbers:
            return -1
        number = id_number(name)
        if not numbers[0] <= number <= numbers[-1]:
            return -1
        at = _place(numbers, number)
        return at if numbers[at] == number else -1

    def _pack(self) -> Sequence[int]:
        """Put all ids of the table into the columns that keep these ascending."""
        numbers, start = self._numbers, len(self._numbers)
        last = numbers[-1] if numbers else 0
        left: dict[str, int] = {}
        for name, place in self._known.items():
            number = id_number(name)
            if number > last:
                numbers.append(number)
                self._places.append(place)
                last = number
            else:
                left[name] = place
        self._known = left
        self._most = len(left) + PLAIN
        return self._places[start:]


def _place(column: array[int], value: int) -> int:
    """Where a value stands, or would stand, that is between the first and the last of a column.

    Each value is larger than the one before. So a column without gaps need not be searched.
    """
    first, last = len(column) - 1 - (column[-1] - value), value - column[0]
    return bisect_left(column, value, max(0, first), min(last, len(column)))


def id_number(name: str) -> int:
    """The number of an id such as `m12`; 0 for an id of any other form."""
    digits = name[1:]
    plain = name[:1] == "m" and digits.isascii() and digits.isdecimal() and digits[0] != "0"
    return int(digits) if plain and len(digits) <= _DIGITS else 0
