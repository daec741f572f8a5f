"""What was made of messages, in columns: its conversation, and the message that states it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from memsim.memory.index.entry_numbers import EntryNumbers
from memsim.memory.index.name_table import NameTable
from memsim.memory.index.source_column import SourceColumn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_NONE: Final = -1


class MadeColumns:
    """Facts and episodes by the ids of their entries."""

    def __init__(self) -> None:
        self._ids = EntryNumbers()
        self._names = NameTable()
        self._session, self._owner = array("i"), array("i")
        self._source = SourceColumn()

    def made(self, entry: str, session: str) -> None:
        """An entry was made of a conversation."""
        self.made_all([entry], [session])

    def made_all(self, entries: Sequence[str], sessions: Sequence[str]) -> None:
        """As `made`, of several entries, none of them twice."""
        places = self._names.add_all(sessions)
        for number, place in zip(self._numbered(entries), places, strict=True):
            self._session[number] = place

    def state(self, entry: str, owner: str, source: str | None) -> None:
        """Note the message that states a fact, and whose it is; None for none."""
        if source is not None:
            self.state_all(owner, {entry: source})
        elif (known := self._ids.get(entry)) is not None:
            self._unstate(known)
            self._release(entry, known)

    def state_all(self, owner: str, stated: Mapping[str, str]) -> None:
        """As `state`, of several facts of an owner, each with its message."""
        place = self._names.add(owner)
        for number, source in zip(self._numbered([*stated]), stated.values(), strict=True):
            self._owner[number], self._source[number] = place, source

    def expect(self, entries: Iterable[str]) -> None:
        """Look entries up together that will be asked for."""
        self._ids.expect(entries)

    def stated(self, entry: str) -> tuple[str, str] | None:
        """Whose message states a fact, and its id; None where none is known."""
        number = self._ids.get(entry)
        if number is None or self._owner[number] == _NONE:
            return None
        return self._names[self._owner[number]], self._source[number]

    def remove(self, entry: str) -> None:
        """Forget an entry."""
        number = self._ids.get(entry)
        if number is not None:
            self._unstate(number)
            self._session[number] = _NONE
            self._release(entry, number)

    def free(self, owner: str, sources: Collection[str]) -> None:
        """Messages of an owner are gone: they state no fact any more."""
        place = self._names.get(owner)
        for number in self._source.among(sources):
            if self._owner[number] == place:
                self._unstate(number)
                if self._session[number] == _NONE:
                    self._ids.pop(self._ids.name(number))

    def of(self, session: str) -> list[str]:
        """The entries that were made of a conversation."""
        import numpy as np

        place = self._names.get(session)
        if place is None:
            return []
        (found,) = (np.frombuffer(self._session, np.intc) == place).nonzero()
        return [*self._ids.names(found.tolist())]

    def _unstate(self, number: int) -> None:
        self._owner[number], self._source[number] = _NONE, ""

    def _release(self, entry: str, number: int) -> None:
        """Forget an id of which nothing else is known."""
        if self._owner[number] == self._session[number] == _NONE:
            self._ids.pop(entry)

    def _numbered(self, entries: Sequence[str]) -> Sequence[int]:
        numbers = self._ids.numbered(entries)
        more = self._ids.given - len(self._session)
        if more > 0:
            self._session.extend([_NONE] * more)
            self._owner.extend([_NONE] * more)
            self._source.extend([""] * more)
        return numbers
