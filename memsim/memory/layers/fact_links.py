"""Which facts were changed in part, and by which statements.

A fact and the statement that changes a part of it have the same number among their attributes:

    {"attributes": [["amended", "~3"]]}     I take a flat white with whole milk.
    {"attributes": [["amends", "~3"]]}      Oat instead of whole milk, please.

Where the statement gives another exact value, as another day or price, it says `revalues`.

A number says nothing of what was stated, so that it may stay where one of the two is erased.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from memsim.memory.entry import Entry
from memsim.memory.layers.entry_outline import EntryOutline

AMENDED = "amended"
AMENDS = "amends"
REVALUES = "revalues"

SIDES = frozenset({AMENDED, AMENDS, REVALUES})

NUMBERED = "~"
"""How a number begins, as a subject and as an attribute."""


def linked(entry: Entry, side: str, number: str) -> Entry:
    """A fact with one more link."""
    return replace(entry, attributes=(*entry.attributes, (side, number)))


class FactLinks:
    """The links of each owner's facts.

    `tell` takes an owner, and a message of theirs of which other changes are known now.
    """

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self._tell_of = tell
        self.clear()

    def clear(self) -> None:
        """Forget all links."""
        self._last: dict[str, int] = {}
        self._sides: dict[tuple[str, str], dict[str, Entry | EntryOutline]] = {}
        self._numbers: dict[tuple[str, str], set[str]] = {}

    def number(self, owner: str) -> str:
        """A number that none of an owner's facts has."""
        self._last[owner] = self._last.get(owner, 0) + 1
        return f"{NUMBERED}{self._last[owner]}"

    def put(self, entry: Entry | EntryOutline) -> None:
        """Take in a fact as it stands now."""
        self._seen(entry.owner, entry.subject)
        for side, number in _links(entry):
            self._seen(entry.owner, number)
            self._sides.setdefault((entry.owner, number), {})[side] = entry
            if side == AMENDED:
                for source in entry.sources:
                    self._numbers.setdefault((entry.owner, source), set()).add(number)
            self._tell(entry.owner, number)

    def remove(self, entry: Entry) -> None:
        """A fact is gone: what it changed is whole again, as far as is known."""
        for side, number in _links(entry):
            sides = self._sides.get((entry.owner, number), {})
            old = sides.get(AMENDED)
            sides.pop(side, None)
            for source in old.sources if old is not None else ():
                if side == AMENDED:
                    self._numbers.get((entry.owner, source), set()).discard(number)
                self._tell_of(entry.owner, source)

    def free(self, owner: str, sources: Iterable[str]) -> None:
        """Note that messages are gone, and others may have their ids."""
        for source in sources:
            self._numbers.pop((owner, source), None)

    def changes(
        self, owner: str, source: str, sides: Collection[str] = (AMENDS, REVALUES)
    ) -> Iterator[str]:
        """The messages that changed a part of what a message states."""
        numbers = self._numbers.get((owner, source), set())
        for number in sorted(numbers, key=lambda number: (len(number), number)):
            both = self._sides[owner, number]
            for other in (both[side] for side in sides if side in both):
                if other.sources and other.sources[-1] != source:
                    yield other.sources[-1]

    def _seen(self, owner: str, number: str) -> None:
        digits = number.removeprefix(NUMBERED)
        if digits != number and digits.isdecimal():
            self._last[owner] = max(self._last.get(owner, 0), int(digits))

    def _tell(self, owner: str, number: str) -> None:
        old = self._sides[owner, number].get(AMENDED)
        for source in old.sources if old is not None else ():
            self._tell_of(owner, source)


def _links(entry: Entry | EntryOutline) -> list[tuple[str, str]]:
    return [(side, number) for side, number in entry.attributes if side in SIDES]
