"""The folder of a saved memory: its files, what they have to be, and who has it open."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.atomic_files import locked, sweep, unwritable, write_whole
from memsim.errors import StateError, StoreError
from memsim.memory.append_log import FileLines, MessageOrder
from memsim.memory.audit import AuditHead, AuditTrail
from memsim.memory.codec import JSON, part, reading
from memsim.memory.compaction.blobs import FolderBlobs
from memsim.memory.permissions import Where
from memsim.memory.persistence.snapshot import Format, Snapshot
from memsim.memory.stores.sqlite.schema import StoreIdentity
from memsim.memory.stores.wrappers import ExternalStore, ReadOnlyStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memsim.memory.deletion import ErasureReport
    from memsim.memory.options import MemoryOptions
    from memsim.memory.persistence.memory_settings import SavedSettings
    from memsim.memory.stores import Store
    from memsim.memory.stores.sqlite.store import SQLite

ENTRIES, STATE, AUDIT, WORKSPACE = "memory.sqlite3", "state.json", "audit.jsonl", "workspace"
BLOBS = "offloaded"
_BLOBS_OF = re.compile(r"[0-9a-f]{64}")
"""The name of a conversation's folder in it."""
ORDER, HEAD = "order.txt", "audit.head"

COPIES = "damaged copies"
"""As what copies of damaged files are counted among what was erased."""

FORMAT = Format(name="memsim.memory")
HEAD_FORMAT = Format(name="memsim.audit.head")


class MemoryFolder:
    """The folder of a memory, and the files in it.

    Args:
        folder: it.
        readonly: whether it is only looked into.
        lent: where entries are kept in place of the folder's own file; None for the file.
    """

    def __init__(self, folder: Path, *, readonly: bool, lent: Store | None = None) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.readonly = readonly
        self.closed = False
        self._lent = lent
        self._standing: Callable[[], StoreIdentity] | None = None
        self._state = Snapshot(self.folder / STATE, FORMAT)
        self._head = Snapshot(self.folder / HEAD, HEAD_FORMAT)
        self._order = MessageOrder(self.folder / ORDER)
        self._saved: Any = None
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
        self._saved = self._state.load() if self._state.exists() else None
        return self._saved

    def check_open(self) -> None:
        """Refuse whatever would change it.

        Raises:
            StoreError: it is closed, or was opened for reading only.
        """
        if self.readonly or self.closed:
            why = "it is closed" if self.closed else "it was opened for reading only"
            raise StoreError(f"{self.folder}: nothing can be written: {why}")

    def write(self, state: JSON) -> None:
        """Save a state."""
        self.check_open()
        self._state.save(state)

    def compare(self, chosen: MemoryOptions, known: SavedSettings) -> None:
        """Refuse options by which the state cannot be read, or which show everybody everything."""
        then = known.options
        if chosen.summary != then.summary:
            said = "a summary" if then.summary else "no summary"
            raise StateError(f"{self.folder}: it was saved with {said}, and is opened otherwise")
        if then.acl and not chosen.acl:
            raise StateError(
                f"{self.folder}: it was saved with access control, and is opened without"
            )

    def store(self, *, new: bool) -> Store:
        """The store of entries.

        Args:
            new: whether there is no memory yet.

        Raises:
            StateError: the entries are kept elsewhere than told, or there are some and no state.
            StoreError: it is missing, older than the state, or another memory's.
        """
        from memsim.memory.stores.sqlite.store import SQLite

        if new:
            self._check_new()
        store = self._own(new=new) if self._lent is None else self._elsewhere(self._lent, new=new)
        if new and store.find(Where(reader=None, archived=None), limit=1):
            there = ENTRIES if self._lent is None else f"its {store.name} store"
            raise StateError(f"{self.folder / STATE}: is missing, and {there} is not: restore it")
        if isinstance(store, SQLite):
            self._name(store)
        if self._lent is not None:
            store = ExternalStore(store)
            self._held.callback(store.close)
        return ReadOnlyStore(store) if self.readonly else store

    def recognise(self, *, empty: bool) -> None:
        """Refuse an empty store where the state remembers that it holds something.

        Args:
            empty: whether the store holds no message.

        Raises:
            StoreError: it is another one.
        """
        if empty and self._remembered("held"):
            said = f"holds nothing of what {STATE} remembers: it is opened with its own"
            raise StoreError(f"{self.folder}: the store that was given {said}")

    def order(self) -> dict[str, int]:
        """The place of each entry in the order in which messages were said."""
        order = self._order.read(part(self._saved or {}, "order"))
        if order is None and self.readonly:
            # Whoever has it open may have written it anew since the state was read.
            order = self._order.read(part(self._state.load(), "order"))
        if order is not None:
            return order
        path = self.folder / ORDER
        if not path.exists():
            raise StateError(f"{path}: is missing: restore it")
        raise StateError(f"{path}: is damaged: restore it; {_copied(path)}")

    def marks(self, *, held: bool) -> dict[str, JSON]:
        """What the store and the other files have to be like for a state to belong to them.

        Args:
            held: whether the store holds messages, and none of them is being erased.
        """
        marks: dict[str, JSON] = {} if self._lent is None else {"elsewhere": self._lent.name}
        if self._standing is not None:
            now = self._standing()
            marks |= {"memory": now.memory, "changes": now.changes}
        else:
            marks["held"] = held
        return {"store": marks, "order": self._order.marks()}

    def blobs(self, session: str) -> FolderBlobs:
        """Where what is offloaded from a conversation goes."""
        return FolderBlobs(self.folder / BLOBS, session)

    def tidy(self, sessions: Collection[str]) -> None:
        """Remove what was offloaded from other conversations than these, and what was half written.

        What else somebody keeps there is none of a memory's.

        Raises:
            StoreError: it cannot be removed.
        """
        known = {blobs.folder: blobs for blobs in map(self.blobs, sessions)}
        try:
            for folder in sorted((self.folder / BLOBS).glob("*")):
                if folder in known:
                    known[folder].sweep()
                elif _BLOBS_OF.fullmatch(folder.name) and folder.is_dir():
                    shutil.rmtree(folder)
        except OSError as error:
            raise unwritable(self.folder / BLOBS, error) from error

    def said(self, entries: Sequence[str]) -> None:
        """Messages were said after all others."""
        if entries and not self.readonly:
            self._order.add(entries)

    def reorder(self, entries: Sequence[str], keep: Callable[[], None]) -> None:
        """Write the order anew; `keep` writes a state with the marks of both."""
        self._order.replace(entries, keep)

    def audit(self, state: Any) -> AuditTrail:  # noqa: ANN401 - what was read may be anything
        """The audit trail, once it has been looked through."""
        path = self.folder / AUDIT
        lines = FileLines(path)
        if state is None:
            self._keep_head(AuditHead())
            return AuditTrail(secrets.token_bytes(16), lines, self._keep_head)
        with reading("its audit trail is damaged"):
            about = state["audit"]
            salt, head = (
                bytes.fromhex(about["salt"]),
                AuditHead(number=about["number"], hash=about["hash"]),
            )
            apart = about.get("apart", False)
        # Read before the trail: others that look into the memory add to both.
        known = self._known_head(missing=not apart)
        try:
            trail = AuditTrail(salt, lines, self._keep_head)
            found = (trail.verify(h) for h in dict.fromkeys((head, known)))
            broken = next((b for b in found if b is not None), None)
        except StateError as error:
            raise StateError(f"{path}: {error}; {_copied(path)}") from error
        if broken is not None:
            raise StateError(f"{path}: record {broken.number}: {broken.why}; {_copied(path)}")
        if not self.readonly and known != trail.head():
            self._keep_head(trail.head())
        return trail

    def without_copies(self, erased: ErasureReport) -> ErasureReport:
        """Delete the copies that were kept of what was damaged, and count them among what went.

        Raises:
            StoreError: one cannot be deleted.
        """
        names = (STATE, ENTRIES, ORDER, AUDIT, HEAD)
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

    def _known_head(self, *, missing: bool) -> AuditHead:
        """The head of the audit trail that is kept apart; none where it may be missing and is."""
        if not self._head.exists():
            if missing:
                return AuditHead()
            raise StateError(f"{self._head.path}: is missing: restore it")
        return _as_head(self._head.load())

    def _keep_head(self, head: AuditHead) -> None:
        def later(known: Any) -> JSON:  # noqa: ANN401 - what was read may be anything
            best = head if known is None else max(_as_head(known), head, key=lambda h: h.number)
            return {"number": best.number, "hash": best.hash}

        self._head.update(later)

    def _check_new(self) -> None:
        """Refuse what is left of a memory whose state is gone."""
        for name in (ORDER, AUDIT, *([] if self._lent is None else [ENTRIES])):
            path = self.folder / name
            if path.exists() and path.stat().st_size:
                state = self.folder / STATE
                raise StateError(f"{state}: is missing, and {name} is not: restore it")

    def _own(self, *, new: bool) -> Store:
        """The folder's own file."""
        from memsim.memory.stores.sqlite.store import SQLite

        kind = self._remembered("elsewhere")
        if kind is not None:
            said = f"its entries are not in it but in a {kind} store: it is opened with that store"
            raise StateError(f"{self.folder}: {said}")
        path = self.folder / ENTRIES
        if not new and not path.exists():
            raise StoreError(f"{path}: is missing, and {STATE} is there: restore it")
        store = SQLite(path, readonly=self.readonly)
        self._held.callback(store.close)
        return store

    def _elsewhere(self, lent: Store, *, new: bool) -> Store:
        """The store that was given, where it may be the one that the state is of."""
        if new:
            return lent
        kind = self._remembered("elsewhere")
        if kind is None:
            said = f"its entries are in its {ENTRIES}: it is opened without another store"
            raise StateError(f"{self.folder}: {said}")
        if kind != lent.name:
            said = f"its entries are in a {kind} store: it is not opened with a {lent.name} store"
            raise StateError(f"{self.folder}: {said}")
        return lent

    def _remembered(self, name: str) -> Any:  # noqa: ANN401 - what was read may be anything
        """What the state says of its store; None where it says nothing of the kind."""
        with reading("where its store stood is damaged"):
            return dict(part(self._saved or {}, "store") or {}).get(name)

    def _name(self, store: SQLite) -> None:
        """See to it that the store is this memory's, and told apart from every other's."""
        self._standing = store.standing
        saved = part(self._saved or {}, "store")
        if saved is not None:
            self._recognise(saved, store.standing())
        elif not self.readonly:
            store.name_memory()

    def _recognise(self, saved: Any, now: StoreIdentity) -> None:  # noqa: ANN401 - what was read may be anything
        """Refuse a store that the state does not belong to.

        A newer one does: a process that is killed has written to it since.
        """
        path = self.folder / ENTRIES if self._lent is None else f"{self.folder}: its store"
        with reading("where its store stood is damaged"):
            then = StoreIdentity(memory="" + saved["memory"], changes=0 + saved["changes"])
        if now.memory not in {"", then.memory}:  # a name may have stood in the log that is gone
            raise StoreError(f"{path}: belongs to another memory than {STATE}: restore it")
        if now.memory != then.memory or now.changes < then.changes:
            raise StoreError(
                f"{path}: is older than {STATE}, or its log is missing: it has seen"
                f" {now.changes} of {then.changes} changes: restore it"
            )

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


def _as_head(saved: Any) -> AuditHead:  # noqa: ANN401 - what was read may be anything
    with reading("the head of its audit trail is damaged"):
        return AuditHead(number=0 + saved["number"], hash="" + saved["hash"])


def _copied(path: Path) -> str:
    data = path.read_bytes() if path.exists() else b""
    copy = path.with_name(f"{path.name}.damaged-{hashlib.sha256(data).hexdigest()[:12]}")
    try:
        if not copy.exists():
            write_whole(copy, data)
    except OSError as error:
        return f"no copy could be kept: {error.strerror}"
    return f"a copy is kept as {copy.name}"
