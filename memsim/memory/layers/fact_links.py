"""Which facts were changed in part, and by which statements.

A fact and the statement that changes a part of it have the same number among their attributes:

    {"attributes": [["amended", "~3"]]}     I take a flat white with whole milk.
    {"attributes": [["amends", "~3"]]}      Oat instead of whole milk, please.

A number says nothing of what was stated, so that it may stay where one of the two is erased.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memsim.memory.entry import Entry

AMENDED = "amended"
AMENDS = "amends"

NUMBERED = "~"
"""How a number begins, as a subject and as an attribute."""


def linked(entry: Entry, side: str, number: str) -> Entry:
    """A fact with one more link."""
    return replace(entry, attributes=(*entry.attributes, (side, number)))


class FactLinks:
    """The links of each owner's facts.

    `amend` takes an owner, a message of theirs, and the messages that state what changed in it.
    """

    def __init__(self, amend: Callable[[str, str, tuple[str, ...]], None]) -> None:
        self._amend = amend
        self._last: dict[str, int] = {}
        self._sides: dict[tuple[str, str], dict[str, Entry]] = {}

    def clear(self) -> None:
        """Forget all links."""
        self._last.clear()
        self._sides.clear()

    def number(self, owner: str) -> str:
        """A number that none of an owner's facts has."""
        self._last[owner] = self._last.get(owner, 0) + 1
        return f"{NUMBERED}{self._last[owner]}"

    def put(self, entry: Entry) -> None:
        """Take in a fact as it stands now."""
        for side, number in _links(entry):
            self._seen(entry.owner, number)
            if side:
                self._sides.setdefault((entry.owner, number), {})[side] = entry
                self._tell(entry.owner, number)

    def remove(self, entry: Entry) -> None:
        """A fact is gone: what it changed is whole again, as far as is known."""
        for side, number in _links(entry):
            sides = self._sides.get((entry.owner, number), {})
            if side in sides:
                old = sides.get(AMENDED)
                del sides[side]
                if old is not None:
                    self._tell_of(old)

    def _seen(self, owner: str, number: str) -> None:
        digits = number.removeprefix(NUMBERED)
        if digits.isdecimal():
            self._last[owner] = max(self._last.get(owner, 0), int(digits))

    def _tell(self, owner: str, number: str) -> None:
        old = self._sides[owner, number].get(AMENDED)
        if old is not None:
            self._tell_of(old)

    def _tell_of(self, old: Entry) -> None:
        """Say which messages changed a part of what each message of a fact states."""
        new: dict[str, None] = {}
        for side, number in _links(old):
            other = self._sides.get((old.owner, number), {}).get(AMENDS)
            if side == AMENDED and other is not None and other.sources:
                new[other.sources[-1]] = None
        for source in old.sources:
            self._amend(old.owner, source, tuple(i for i in new if i != source))


def _links(entry: Entry) -> list[tuple[str, str]]:
    """The links of a fact, and its subject where that is a number."""
    found = [(side, number) for side, number in entry.attributes if side in {AMENDED, AMENDS}]
    return [*found, ("", entry.subject)] if entry.subject.startswith(NUMBERED) else found
