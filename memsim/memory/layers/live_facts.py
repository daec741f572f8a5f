"""Which messages state a fact that is in force, in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.index.entry_numbers import EntryNumbers
from memsim.memory.index.message_numbers import MessageNumbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.layers.entry_outline import EntryOutline


class LiveFacts:
    """The facts in force of each owner, by the messages that state them."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all facts."""
        self._facts = EntryNumbers()
        self._of: dict[str, MessageNumbers] = {}

    def put(self, entry: Entry | EntryOutline, sources: Iterable[str]) -> None:
        """A fact is in force that these messages state."""
        self.put_all(entry.owner, [entry.id], [sources])

    def put_all(self, owner: str, facts: Sequence[str], sources: Sequence[Iterable[str]]) -> None:
        """Facts of an owner are in force, none of them twice, each stated by these messages."""
        numbers = self._facts.numbered(facts)
        stated = dict.fromkeys(
            (source, number)
            for number, said in zip(numbers, sources, strict=True)
            for source in said
        )
        of = self._of.get(owner)
        if of is None:
            of = self._of[owner] = MessageNumbers()
        else:
            stated = {pair: None for pair in stated if pair[1] not in of[pair[0]]}
        of.extend([source for source, _ in stated], [number for _, number in stated])

    def end(self, entry: Entry | EntryOutline, source: str) -> None:
        """A fact is not in force any more that a message states."""
        number = self._facts.get(entry.id)
        of = self._of.get(entry.owner)
        if number is not None and of is not None and number in of[source]:
            of.remove(source, number)

    def remove(self, entry: Entry) -> None:
        """A fact is gone."""
        for source in entry.sources:
            self.end(entry, source)
        self._facts.pop(entry.id)

    def free(self, owner: str, sources: Iterable[str]) -> None:
        """Note that messages are gone, and others may have their ids."""
        if (of := self._of.get(owner)) is not None:
            for source in sources:
                of.drop(source)

    def states(self, owner: str, source: str) -> bool:
        """Whether a fact is in force that a message states."""
        of = self._of.get(owner)
        return of is not None and bool(of[source])
