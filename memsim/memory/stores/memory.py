"""Entries in memory alone: the fastest store, gone with the process."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING

from memsim.errors import StoreError
from memsim.memory.stores import PAGE, batch
from memsim.memory.stores.codec import encode
from memsim.memory.stores.views import View

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memsim.memory.acl import Where
    from memsim.memory.entry import Entry
    from memsim.memory.retrieval import Hit
    from memsim.memory.stores import Embedded
    from memsim.models import Vectors


class InMemory:
    """Entries that live as long as the process; see `Store` for what every method promises."""

    name = "memory"

    def __init__(self) -> None:
        self._view: View | None = View()
        self._embedded: Embedded | None = None
        self._lock = RLock()

    @property
    def exact(self) -> bool:
        """Whether `nearest` compares all admitted vectors."""
        return self._open.exact

    @property
    def embedded(self) -> Embedded | None:
        """What its vectors were made with."""
        with self._lock:
            return self._embedded

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in; see `Store`."""
        with self._lock:
            view = self._open
            written = batch.items(entries, vectors, self._embedded)
            for item in written:
                encode(item.entry)  # what no other store could keep is refused here as well
            self._embedded = batch.made_with(written, self._embedded)
            for item in written:
                view.put(item.entry, item.vector)

    def embedded_by(self, made: Embedded | None) -> None:
        """Note what vectors are made with; see `Store`."""
        with self._lock:
            view = self._open
            if made != self._embedded:
                view.without_vectors()
            self._embedded = made

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good; see `Store`."""
        with self._lock:
            view = self._open
            return sum(view.drop(source) for source in dict.fromkeys(ids))

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids; see `Store`."""
        with self._lock:
            return self._open.get(ids)

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries, a page at a time; see `Store`."""
        with self._lock:
            return self._open.find(where, after=after, limit=limit)

    def count(self, where: Where) -> int:
        """How many entries are admitted; see `Store`."""
        with self._lock:
            return self._open.count(where)

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best by words; see `Store`."""
        with self._lock:
            return self._open.lexical(text, where, k)

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The best by vectors; see `Store`."""
        with self._lock:
            if self._embedded is not None:
                batch.check_query(vector, self._embedded)
            return self._open.nearest(vector, where, k)

    def close(self) -> None:
        """Forget everything; see `Store`."""
        self._view = None

    @property
    def _open(self) -> View:
        if self._view is None:
            raise StoreError("the store is closed")
        return self._view
