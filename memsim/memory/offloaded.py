"""What was offloaded from conversations, each conversation's apart."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memsim.memory.compaction.blobs import MemoryBlobs
from memsim.memory.state import JSON, reading

if TYPE_CHECKING:
    from memsim.memory.compaction.blobs import Blobs

    Opens = Callable[[str], Blobs]


class Offloaded:
    """The blobs of every conversation of a memory, by its name.

    Args:
        opens: gives the blobs of a conversation; in this process unless told otherwise.
    """

    def __init__(self, opens: Opens | None = None) -> None:
        self._opens: Opens = opens or (lambda _: MemoryBlobs())
        self._opened: dict[str, Blobs] = {}

    def of(self, session: str) -> Blobs:
        """The blobs of a conversation."""
        if session not in self._opened:
            self._opened[session] = self._opens(session)
        return self._opened[session]

    def save(self) -> JSON:
        """All content as JSON values.

        Raises:
            StateError: some of it is damaged.
            StoreError: some of it cannot be read.
        """
        saved: dict[str, JSON] = {}
        for session in sorted(self._opened):
            blobs = self._opened[session]
            held: JSON = {d: base64.b64encode(blobs.get(d)).decode() for d in blobs.digests()}
            if held:
                saved[session] = held
        return saved

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved content in place of the present one.

        Raises:
            StateError: it is no such content; nothing has changed.
            StoreError: it cannot be kept.
        """
        loaded: dict[str, MemoryBlobs] = {}
        with reading("what was offloaded is damaged"):
            for session, held in saved.items():
                loaded["" + session] = MemoryBlobs()
                loaded[session].load(held)
        for session in sorted({*self._opened, *loaded}):
            new, there = loaded.get(session, MemoryBlobs()), self.of(session)
            for digest in new.digests():
                there.put(new.get(digest))
            there.drop(set(there.digests()).difference(new.digests()))
