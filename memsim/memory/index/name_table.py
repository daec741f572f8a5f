"""Number the few names that a column of many rows has: owners, conversations, roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class NameTable:
    """Names by number and numbers by name, from 0, for good."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._number: dict[str, int] = {}

    def __getitem__(self, number: int) -> str:
        """The name that has a number."""
        return self._names[number]

    def get(self, name: str) -> int | None:
        """The number of a name; None where it has none."""
        return self._number.get(name)

    def add(self, name: str) -> int:
        """The number of a name, which is given one where it has none."""
        number = self._number.get(name)
        if number is None:
            number = self._number[name] = len(self._names)
            self._names.append(name)
        return number

    def add_all(self, names: Sequence[str]) -> list[int]:
        """As `add`, of each."""
        number = {name: self.add(name) for name in dict.fromkeys(names)}
        return [number[name] for name in names]
