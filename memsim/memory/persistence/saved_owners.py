"""Owners of a saved memory, read when they are first asked or added to.

To know what follows from the messages of all owners would cost as much as the file is large. So
nothing of an owner is read on opening. Whoever has spoken in one conversation is read together,
because what stands beside a message, and what took its place, may be another owner's.

What is read is what opening would have read: it makes no difference to any answer. Above `MOST`
messages, all are let go, and read again when they are next asked for.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Final

from memsim.memory.permissions import Where
from memsim.memory.state import MADE
from memsim.memory.stores.sqlite.written_outlines import WrittenOutlines, joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from memsim.memory.layers.entry_outline import EntryOutline, PlainFacts
    from memsim.memory.permissions import Permissions
    from memsim.memory.persistence.memory_file import MemoryFile
    from memsim.memory.persistence.outline_codec import OutlineCodec
    from memsim.memory.state import MemoryState

MOST: Final = 500_000
"""Messages that are known at once: about 3 GB, with their vectors in the cache of the store."""


class SavedOwners:
    """Brings to a memory what its file holds of the owners that it does not know yet."""

    def __init__(
        self,
        file: MemoryFile,
        state: MemoryState,
        permissions: Permissions,
        outlines: OutlineCodec,
    ) -> None:
        self._file = file
        self._outlines = outlines
        self._state = state
        self._permissions = permissions
        self._known: set[str] = set()
        self.release()

    def release(self) -> None:
        """Know nobody; owners are read again when they are next asked for."""
        self._known.clear()
        self._state.timeline.clear()
        self._state.semantic.clear()
        self._state.timeline.begin_after(self._file.last_place())

    def release_above(self, most: int) -> None:
        """Know nobody where more messages are known than this."""
        if len(self._state.timeline) > most:
            self.release()

    def owners(self, names: Iterable[str]) -> None:
        """As `TimelineSource`. Raises `StoreError` if the file cannot be read or is damaged."""
        asked = [name for name in names if name not in self._known]
        if asked:
            self._bring(self._permissions.together(asked) - self._known)

    def session(self, name: str) -> None:
        """As `TimelineSource`. Raises `StoreError` as `owners`."""
        self.owners(self._permissions.participants(name))

    def admitted(self, where: Where) -> None:
        """As `TimelineSource`. Raises `StoreError` as `owners`."""
        self.owners(self._file.sqlite.owners(where))

    def everything(self) -> None:
        """As `TimelineSource`. Raises `StoreError` as `owners`."""
        self.admitted(Where(reader=None, layers=MADE, archived=None))

    def _bring(self, owners: Collection[str]) -> None:
        try:
            with self._file.snapshot(), self._file.reading():
                self._take(self._written(owners), self._file.places(owners))
        except BaseException:
            self.release()  # what was taken in until then says nothing of whom
            raise
        self._known.update(owners)

    def _written(self, owners: Collection[str]) -> list[WrittenOutlines]:
        """The rows of these owners, shelf by shelf."""
        found: list[WrittenOutlines] = []
        for owner in sorted(owners):
            where = Where(reader=None, owner=owner, layers=MADE, archived=None)
            found += self._file.sqlite.outlines(where)
        return found

    def _take(self, written: Sequence[WrittenOutlines], order: Mapping[str, int]) -> None:
        """Take rows in, by their places in the order.

        Raises `StoreError` if a message has no place in the order.
        """
        state, store = self._state, self._state.vault.store
        parts = [_parted(shelf, order) for shelf in written]
        said = joined([said for said, _ in parts])
        places = [order[name] for name in said.ids]
        if places != (ordered := sorted(places)):
            said = said.at(sorted(range(len(places)), key=places.__getitem__))
        state.take_said(said.ids, self._outlines.messages(store, said), ordered)
        made = _by_creation([made for _, made in parts if made.ids])
        state.take_made(self._made(self._outlines.made(store, made)))

    def _made(
        self, outlines: Iterable[EntryOutline | PlainFacts | None]
    ) -> Iterator[EntryOutline | PlainFacts]:
        for outline in outlines:
            if outline is None:
                raise self._file.unplaced()
            yield outline


_NONE: Final = WrittenOutlines([], [], [], [])


def _parted(
    written: WrittenOutlines, order: Mapping[str, int]
) -> tuple[WrittenOutlines, WrittenOutlines]:
    """Messages, which have a place in the order, and what was made of them."""
    there = [name in order for name in written.ids]
    if all(there):
        return written, _NONE
    if not any(there):
        return _NONE, written
    said, made = ([n for n, it in enumerate(there) if it is which] for which in (True, False))
    return written.at(said), written.at(made)


def _by_creation(parts: Sequence[WrittenOutlines]) -> WrittenOutlines:
    """Parts that are in the order of the store, as one that is."""
    if len(parts) < 2:
        return parts[0] if parts else _NONE
    both = joined(parts)
    places = [*map(add, both.created, both.ids)]  # instants have the same length
    return both.at(sorted(range(len(places)), key=places.__getitem__))
