"""Owners of a saved memory, read when they are first asked or added to.

To know what follows from the messages of all owners would cost as much as the file is large. So
nothing of an owner is read on opening. Whoever has spoken in one conversation is read together,
because what stands beside a message, and what took its place, may be another owner's.

What is read is what opening would have read: it makes no difference to any answer. Above `MOST`
messages, all are let go, and read again when they are next asked for.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

from memsim.memory.layers.entry_outline import EntryOutline
from memsim.memory.permissions import Where
from memsim.memory.recall.timeline import MessageOutline
from memsim.memory.state import MADE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from memsim.memory.permissions import Permissions
    from memsim.memory.persistence.entry_outlines import EntryOutlines, Outline
    from memsim.memory.persistence.memory_file import MemoryFile
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
        outlines: EntryOutlines,
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
        with self._file.snapshot():
            held = [entry for name in sorted(owners) for entry in self._read(name)]
            if len(owners) > 1:
                held.sort(key=itemgetter(0, 1))
            said = [(name, of) for _, name, of in held if isinstance(of, MessageOutline)]
            order = self._file.places([name for name, _ in said])
        placed = sorted([(order[name], name, of) for name, of in said], key=itemgetter(0))
        self._state.bring_outlines(
            [(name, of, place) for place, name, of in placed],
            [of for _, _, of in held if isinstance(of, EntryOutline)],
        )
        self._known.update(owners)

    def _read(self, owner: str) -> list[tuple[str, str, Outline]]:
        """Creation, id and outline of an owner's entries, in the order of the store."""
        where = Where(reader=None, owner=owner, layers=MADE, archived=None)
        written = self._file.sqlite.outlines(where)
        current: list[tuple[str, str, str]] = []
        others: list[str] = []
        for created, name, about in written:
            if about is not None and self._outlines.is_current(about):
                current.append((created, name, about))
            else:
                others.append(name)
        with self._file.reading():
            read = self._outlines.read(owner, current)
            found = {name: of for (_, name, _), of in zip(current, read, strict=True)}
            found |= {e.id: self._outlines.of(e) for e in self._state.vault.store.get(others)}
            return [(created, name, found[name]) for created, name, _ in written]
