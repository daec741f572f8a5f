"""The folder of a saved memory: its files, what they have to be, and who has it open."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.errors import StateError, StoreError
from memsim.files import locked, sweep, unwritable, write_whole
from memsim.memory.audit import AuditTrail, Head
from memsim.memory.journal import FileLines
from memsim.memory.options import MemoryOptions
from memsim.memory.snapshot import Format, Snapshot
from memsim.memory.state import JSON, reading
from memsim.tokens import DEFAULT_TOKENIZER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.memory.derived import Erased
    from memsim.memory.stores import Store

ENTRIES, STATE, AUDIT, WORKSPACE = "memory.sqlite3", "state.json", "audit.jsonl", "workspace"
ORDER = "order.txt"

COPIES = "damaged copies"
"""As what copies of damaged files are counted among what was erased."""

FORMAT = Format(name="memsim.memory")

EMBEDDER = "wordllama"

_WRITING = frozenset({"write", "erase", "embedded_by"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a memory was saved with, and is opened with again unless told otherwise."""

    embedder: str = EMBEDDER
    tokenizer: str = DEFAULT_TOKENIZER
    acl: bool = True
    vectors: bool = True
    summary: bool = True
    mode: str = "framework"

    def options(self) -> MemoryOptions:
        """The parts that a memory has by it."""
        return replace(
            MemoryOptions(),
            acl=self.acl,
            vectors=self.vectors,
            summary=self.summary,
            mode=self.mode,  # type: ignore[arg-type]
        )

    def save(self) -> dict[str, JSON]:
        """As JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def load(cls, saved: Any) -> Kept:  # noqa: ANN401 - what was read from a file may be anything
        """What `save` gave.

        Raises:
            StateError: it gave no such thing.
        """
        with reading("what the memory was saved with is damaged"):
            kept = cls(**saved)
            if any(type(getattr(kept, n)) is not type(getattr(cls(), n)) for n in cls.__slots__):
                raise TypeError("of another type")
        return kept


class Home:
    """The folder of a memory, and the files in it."""

    def __init__(self, folder: Path, *, readonly: bool) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.readonly = readonly
        self.closed = False
        self._state = Snapshot(self.folder / STATE, FORMAT)
        self._order = FileLines(self.folder / ORDER)
        self._held = ExitStack()

    def hold(self, wait: float) -> None:
        """See to it that no other process opens it."""
        self._check()
        if self.readonly:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        self._held.enter_context(locked(self.folder / "memory", wait))
        for name in (STATE, ORDER, AUDIT):
            try:
                sweep(self.folder / name)
            except OSError as error:
                raise unwritable(self.folder / name, error) from error

    def read(self) -> Any:  # noqa: ANN401 - what was read from a file may be anything
        """The saved state; None where there is no memory yet."""
        return self._state.load() if self._state.exists() else None

    def write(self, state: JSON) -> None:
        """Save a state."""
        if self.readonly or self.closed:
            why = "it is closed" if self.closed else "it was opened for reading only"
            raise StoreError(f"{self.folder}: nothing can be written: {why}")
        self._state.save(state)

    def compare(self, chosen: MemoryOptions, known: Kept) -> None:
        """Refuse options by which the state cannot be read."""
        if chosen.summary != known.summary:
            said = "a summary" if known.summary else "no summary"
            raise StateError(f"{self.folder}: it was saved with {said}, and is opened otherwise")

    def store(self, *, new: bool) -> Store:
        """The store of entries."""
        from memsim.memory.acl import Where
        from memsim.memory.stores.sqlite import SQLite

        path = self.folder / ENTRIES
        if not new and not path.exists():
            raise StoreError(f"{path}: is missing, and {STATE} is there: restore it")
        store = SQLite(path)
        if new and store.count(Where(reader=None, archived=None)):
            store.close()
            raise StateError(f"{self.folder / STATE}: is missing, and {ENTRIES} is not: restore it")
        return _ReadOnly(store) if self.readonly else store

    def order(self) -> dict[str, int]:
        """The place of each entry in the order in which messages were said."""
        found = enumerate(self._order.lines())
        order: dict[str, int] = {}
        for place, line in found:
            order.setdefault(line.decode("ascii", "replace"), place)
        return order

    def said(self, entries: Sequence[str]) -> None:
        """Messages were said after all others."""
        if entries and not self.readonly:
            self._order.append(lambda _: [name.encode("ascii") for name in entries])

    def reorder(self, entries: Sequence[str]) -> None:
        """Write the order anew."""
        try:
            write_whole(self._order.path, "".join(f"{e}\n" for e in entries).encode("ascii"))
        except OSError as error:
            raise unwritable(self._order.path, error) from error

    def audit(self, state: Any) -> AuditTrail:  # noqa: ANN401 - what was read may be anything
        """The audit trail, once it has been looked through."""
        path = self.folder / AUDIT
        lines = FileLines(path)
        if state is None:
            return AuditTrail(secrets.token_bytes(16), lines)
        with reading("its audit trail is damaged"):
            about = state["audit"]
            salt, head = (
                bytes.fromhex(about["salt"]),
                Head(number=about["number"], hash=about["hash"]),
            )
        try:
            trail = AuditTrail(salt, lines)
            broken = trail.verify(head)
        except StateError as error:
            raise StateError(f"{path}: {error}; {_copied(path)}") from error
        if broken is not None:
            raise StateError(f"{path}: record {broken.number}: {broken.why}; {_copied(path)}")
        return trail

    def without_copies(self, erased: Erased) -> Erased:
        """Delete the copies that were kept of what was damaged, and count them among what went.

        Raises:
            StoreError: one cannot be deleted.
        """
        names = (STATE, ENTRIES, ORDER, AUDIT)
        copies = sorted(p for n in names for p in self.folder.glob(f"{n}.damaged-*"))
        for copy in copies:
            try:
                copy.unlink(missing_ok=True)
            except OSError as error:
                raise unwritable(copy, error) from error
        return replace(erased, beside=erased.beside | {COPIES: len(copies)}) if copies else erased

    def close(self) -> None:
        """Let others open it."""
        self.closed = True
        self._held.close()

    def _check(self) -> None:
        """Refuse what is there and is no memory."""
        if not self.folder.exists():
            if self.readonly:
                raise StateError(f"{self.folder}: there is no memory")
            return
        try:
            names = set(os.listdir(self.folder))  # noqa: PTH208 - names are all that is wanted
        except OSError as error:
            said = error.strerror or type(error).__name__
            raise StateError(f"{self.folder}: is no memory: {said}") from error
        ours = {STATE, ENTRIES, "memory.lock"}
        if names.isdisjoint(ours) and (names or self.readonly):
            raise StateError(f"{self.folder}: is no memory: it holds no {STATE}")
        if self.readonly and STATE not in names:
            raise StateError(f"{self.folder / STATE}: is missing: restore it")


class _ReadOnly:
    """A store that refuses to change."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        if name in _WRITING:
            raise StoreError("nothing can be written: the memory was opened for reading only")
        return getattr(self._store, name)


def _copied(path: Path) -> str:
    data = path.read_bytes() if path.exists() else b""
    copy = path.with_name(f"{path.name}.damaged-{hashlib.sha256(data).hexdigest()[:12]}")
    try:
        if not copy.exists():
            write_whole(copy, data)
    except OSError as error:
        return f"no copy could be kept: {error.strerror}"
    return f"a copy is kept as {copy.name}"
