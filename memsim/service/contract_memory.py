"""Memories of memsim behind the HTTP contract: one saved memory for each space."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path

from memsim.memory.deletion import original_of
from memsim.memory.permissions import require_principal
from memsim.memory.persistence.open_memory import machine_time, open_memory
from memsim.memory.persistence.saved_memory import SavedMemory
from memsim.memory.vault import SearchHit
from memsim.message import Message


class IdConflictError(ValueError):
    """Another message has the id."""


class MemorySpace:
    """One memory in a folder, with a clock of its own.

    Args:
        folder: where it is saved; made when it is missing.
        embedder: the embedder's ref.
        time: the present by its own clock; None follows the clock of this machine.
    """

    def __init__(self, folder: Path, embedder: str, time: datetime | None = None) -> None:
        self._folder, self._embedder = folder, embedder
        self.time = time
        self._asked: datetime | None = None
        self._memory = self._open()

    @property
    def memory(self) -> SavedMemory:
        """The memory; another object after a restart."""
        return self._memory

    def now(self) -> datetime:
        """The present: of the question, else of the clock, else of this machine."""
        return self._asked or self.time or machine_time()

    @contextmanager
    def at(self, now: datetime | None) -> Iterator[SavedMemory]:
        """The memory at the time of a question."""
        self._asked = now
        try:
            yield self._memory
        finally:
            self._asked = None

    def add(self, message: Message) -> None:
        """Take in a message; a standing rule is pinned.

        Raises:
            IdConflictError: another message has its id.
            ValueError: its text cannot be encoded.
        """
        rule = message.role == "system" and message.text.strip()
        message.text.encode()
        try:
            (self._memory.core.pin_rule if rule else self._memory.observe)(message)
        except ValueError as error:
            raise IdConflictError(str(error)) from error

    def search(self, question: str, principal: str, k: int) -> list[SearchHit]:
        """Find entries, best first."""
        return self._memory.search(question, principal=principal, k=k) if question else []

    def forget(self, principal: str, ids: Sequence[str]) -> tuple[str, ...]:
        """Erase messages, and the requests that name them; return the ids of all of them."""
        asked = self._memory.requests(principal, ids)
        return self._memory.forget(principal, (*ids, *asked)).messages

    def forget_principal(self, principal: str) -> tuple[str, ...]:
        """Erase everything of a principal; return the ids of the messages."""
        memory = self._memory
        memory.end_turn(require_principal(principal))
        owned = [entry for entry in memory.entries(None) if entry.owner == principal]
        sources = {s for entry in owned for s in (original_of(entry), *entry.sources) if s}
        gone = memory.forget(principal, sources)
        for entry in owned:
            if entry.layer == "long_term":
                memory.forget_key(principal, entry.key)
        return gone.messages

    def pass_time(self, now: datetime) -> None:
        """Set the clock, and let what is due expire."""
        self.time = now
        self._memory.elapse(now)

    def restart(self) -> None:
        """Close the memory, and open it from its folder."""
        self._memory.close()
        self._memory = self._open()

    def reset(self) -> None:
        """Empty the memory, and go back to the time of this machine."""
        self.drop()
        self.time = None
        self._memory = self._open()

    def drop(self) -> None:
        """Close the memory, and delete its folder."""
        self._memory.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Save the memory."""
        self._memory.close()

    def _open(self) -> SavedMemory:
        return open_memory(self._folder, now=self.now, embedder=self._embedder)


class MemorySpaces:
    """The spaces of one service, opened when they are first named.

    Args:
        folder: each space is a folder in it.
        embedder: the embedder's ref.
        most: spaces that are open at a time. The one that was not used for longest is closed.
    """

    def __init__(self, folder: Path, embedder: str, most: int = 64) -> None:
        self._folder, self._embedder, self._most = folder, embedder, most
        self._open: dict[str, MemorySpace] = {}
        self._times: dict[str, datetime | None] = {}

    def of(self, name: str) -> MemorySpace:
        """The space of that name."""
        space = self._open.pop(name, None)
        if space is None:
            self._make_room()
            # Some file systems do not tell upper case from lower.
            place = hashlib.sha256(name.encode()).hexdigest()[:32]
            time = self._times.pop(name, None)
            space = MemorySpace(self._folder / place, self._embedder, time)
        self._open[name] = space
        return space

    def close(self) -> None:
        """Save and close every space."""
        for space in self._open.values():
            space.close()
        self._open.clear()

    def _make_room(self) -> None:
        for name in [*islice(self._open, max(0, len(self._open) - self._most + 1))]:
            space = self._open.pop(name)
            self._times[name] = space.time
            space.close()
