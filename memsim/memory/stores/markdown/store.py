"""Entries as markdown files that people can read, search and edit with their own tools."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from memsim.errors import StoreError
from memsim.memory.entry import DamagedRecord
from memsim.memory.index.nearest_vectors import check_query
from memsim.memory.stores import PAGE, SCHEMA_VERSION, EmbedderInfo, embedder_of, write_items
from memsim.memory.stores.in_memory import StoreView
from memsim.memory.stores.markdown.entry_files import (
    VECTORS,
    EntryFolder,
    FolderManifest,
    check,
    is_checked,
    parse,
    read_file,
    read_vector,
    render,
    vector_bytes,
)
from memsim.memory.stores.markdown.manifest import ABSENT, FileState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.index import Hit
    from memsim.memory.permissions import Where
    from memsim.memory.stores.markdown.manifest import Change
    from memsim.models import Vectors

FileStamp = tuple[int, int, int]
"""What tells whether a file is the one that was read."""


class _Held(NamedTuple):
    """The files of an entry, as they were read."""

    path: Path
    stamp: FileStamp
    check: str
    vector: Path | None
    vector_stamp: FileStamp | None
    edited: bool = False


class Markdown:
    """Entries in a folder, one file each; see `Store` for what every method promises.

    All of it is read when it is opened, and searched in memory. Several processes may have it open:
    they write one after another, and see each other's writes at their next call. The folder is made
    where there is none. With `synced`, writes survive a power failure; without, they survive the
    process only, and are a hundred times as fast. Raises `SchemaError` if a newer memsim wrote it.
    Raises `StoreError` if a file is damaged, or the folder cannot be used.
    """

    name = "markdown"

    def __init__(self, folder: Path | str, *, synced: bool = True) -> None:
        self._folder = EntryFolder(Path(folder), synced=synced)
        self._root = self._folder.root
        self._lock = RLock()
        self._view: StoreView | None = StoreView()
        self._held: dict[str, _Held] = {}
        self._embedded: EmbedderInfo | None = None
        try:
            with self._failing():
                self._begin()
        except BaseException:
            self._folder.close()
            raise

    @property
    def exact(self) -> bool:
        """Whether `nearest` compares all admitted vectors."""
        return self._current().exact

    @property
    def embedded(self) -> EmbedderInfo | None:
        """What its vectors were made with."""
        self._current()
        return self._embedded

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in; see `Store`."""
        with self._writing() as view:
            written = write_items(entries, vectors, self._embedded)
            contents = [(item, render(item.entry)) for item in written]
            made = embedder_of(written, self._embedded)
            known, self._embedded = self._embedded, made
            moves: list[tuple[Path, Path]] = []
            gone: list[Path] = []
            changes: dict[str, Change] = {}
            held: list[tuple[Path, Path | None]] = []
            try:
                for (source, entry, vector), content in contents:
                    path, beside = self._path(entry), None
                    if vector is not None:
                        beside = self._vector_path(source, check(entry))
                        moves.append(self._folder.stage(beside, vector_bytes(vector)))
                    moves.append(self._folder.stage(path, content))
                    old = self._held.get(entry.id)
                    if old and old.vector and old.vector != beside:
                        gone.append(old.vector)
                    after = FileState(check(entry), self._embedder if beside else "")
                    changes[source] = self._state(old), after
                    held.append((path, beside))
            except BaseException:
                for staged, _ in moves:
                    staged.unlink(missing_ok=True)
                raise
            if made != known:
                self._folder.tell(FolderManifest(SCHEMA_VERSION, made))
            if moves:
                self._folder.change(moves, gone, changes)
            for item, (path, beside) in zip(written, held, strict=True):
                view.put(item.entry, item.vector)
                self._held[item.entry.id] = _Held(
                    path,
                    _stamp(path),
                    check(item.entry),
                    beside,
                    _stamp(beside) if beside else None,
                )

    def embedded_by(self, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with; see `Store`."""
        with self._writing() as view:
            if made == self._embedded:
                return
            self._folder.tell(FolderManifest(SCHEMA_VERSION, made))
            self._embedded = made
            view.without_vectors()
            gone = [held.vector for held in self._held.values() if held.vector is not None]
            before = {source: self._state(held) for source, held in self._held.items()}
            self._held = {
                source: held._replace(vector=None, vector_stamp=None)
                for source, held in self._held.items()
            }
            after = {source: (state, FileState(state.check)) for source, state in before.items()}
            self._folder.change([], gone, after)

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good; see `Store`."""
        with self._writing() as view:
            there = [source for source in dict.fromkeys(ids) if source in self._held]
            files = [self._held[source] for source in there]
            gone = [p for held in files for p in (held.path, held.vector) if p is not None]
            if gone:
                changes = {source: (self._state(self._held[source]), ABSENT) for source in there}
                self._folder.change([], gone, changes)
            for source in there:
                del self._held[source]
                view.drop(source)
            return len(there)

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids; see `Store`."""
        with self._lock:
            return self._current().get(ids)

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries, a page at a time; see `Store`."""
        with self._lock:
            return self._current().find(where, after=after, limit=limit)

    def count(self, where: Where) -> int:
        """How many entries are admitted; see `Store`."""
        with self._lock:
            return self._current().count(where)

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best by words; see `Store`."""
        with self._lock:
            return self._current().lexical(text, where, k)

    def mentions(self, text: str, where: Where) -> bool:
        """Whether an entry holds a word of a text; see `Store`."""
        with self._lock:
            return self._current().mentions(text, where)

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The best by vectors; see `Store`."""
        with self._lock:
            view = self._current()
            if self._embedded is not None:
                check_query(vector, self._embedded.dimension)
            return view.nearest(vector, where, k)

    def close(self) -> None:
        """Release the folder; see `Store`."""
        with self._lock:
            self._view = None
            self._folder.close()

    def _begin(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        with self._folder.locked():
            about = self._folder.open()
            self._scan()
            if about.schema < SCHEMA_VERSION:
                self._migrate(about)
            self._sweep_vectors()
            self._folder.accepted()
            self._folder.count_change()
            self._seen = self._folder.changes()

    def _current(self) -> StoreView:
        """What there is, other processes' last writes included."""
        view = self._open
        with self._lock, self._failing():
            if self._folder.changes() != self._seen:
                with self._folder.locked():
                    self._catch_up()
        return view

    @contextmanager
    def _writing(self) -> Iterator[StoreView]:
        with self._lock, self._failing():
            view = self._open
            with self._folder.locked():
                self._catch_up()
                try:
                    yield view
                except BaseException:
                    self._seen = b"?"  # whatever was done, it is read again
                    raise
                self._seen = self._folder.changes()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"{self._root}: {error.strerror or error}") from error

    @property
    def _open(self) -> StoreView:
        if self._view is None:
            raise StoreError(f"{self._root}: the store is closed")
        return self._view

    def _catch_up(self) -> None:
        self._folder.finish()
        seen = self._folder.changes()
        if seen != self._seen:
            self._scan()
            self._seen = seen

    def _scan(self) -> None:
        """Read what is new or was changed, and let go of what is gone."""
        view, embedded = self._open, self._folder.about().embedded
        self._embedded = embedded
        edited = {source for source, held in self._held.items() if held.edited}
        beside = self._folder.vectors()
        found = {file.name[:-3]: file for file in self._folder.entries()}
        for source in self._held.keys() - found.keys():
            del self._held[source]
            view.drop(source)
        for source, file in found.items():
            old, stamp = self._held.get(source), _stamp(file)
            entry = None
            if old is None or old.stamp != stamp:
                edited.discard(source)
                entry = self._read(Path(file.path), source, edited)
            elif old is not None:
                (entry,) = view.get([source])
            assert entry is not None  # noqa: S101 - one of the two
            told = check(entry) if old is None or old.stamp != stamp else old.check
            vector_file = beside.get(self._vector_path(source, told).name)
            vector_stamp = vector_file and _stamp(vector_file)
            if old and (old.stamp, old.vector_stamp) == (stamp, vector_stamp):
                continue
            vector = None
            if vector_file is not None:
                vector = self._read_vector(Path(vector_file.path))
            view.put(entry, vector)
            path = vector_file and Path(vector_file.path)
            self._held[source] = _Held(
                Path(file.path), stamp, told, path, vector_stamp, edited=source in edited
            )
        self._check_manifest()

    def _check_manifest(self) -> None:
        """Compare the files with the manifest, and settle changes that a crash interrupted.

        Raises `StoreError` if a file is missing, was swapped, or came from elsewhere.
        """
        manifest = self._folder.manifest
        if self._folder.accepts():
            manifest.rebuild({source: self._state(held) for source, held in self._held.items()})
            return
        known = manifest.read()
        for source, change in known.items():
            self._check_files(source, self._held.get(source), change)
        unsettled = [source for source, (was, will) in known.items() if was != will]
        for source in self._held.keys() - known.keys():
            if not self._held[source].edited:
                raise self._foreign(self._held[source].path, "was not written by this store")
            unsettled.append(source)
        manifest.settle({source: self._state(self._held.get(source)) for source in unsettled})

    def _check_files(self, source: str, held: _Held | None, change: Change) -> None:
        states = [state for state in change if state != ABSENT]
        if held is None:
            if ABSENT not in change:
                name = self._root / "*" / f"{source}.md"
                raise self._foreign(name, "is missing")
            return
        if held.edited:
            return
        if held.check not in [state.check for state in states]:
            raise self._foreign(held.path, "is not what was written last")
        due = [state.embedder for state in states if state.check == held.check]
        if held.vector is None and all(name == self._embedder for name in due):
            path = self._vector_path(source, held.check)
            raise self._foreign(path, "is missing")

    def _foreign(self, path: Path, what: str) -> StoreError:
        accept = self._root / "accept"
        advice = f"restore it, or make the file {accept} to go on with what is there"
        return StoreError(f"{path}: {what}; {advice}")

    def _state(self, held: _Held | None) -> FileState:
        if held is None:
            return ABSENT
        return FileState(held.check, self._embedder if held.vector else "")

    @property
    def _embedder(self) -> str:
        made = self._embedded or EmbedderInfo("", 0)
        named = hashlib.blake2b(f"{made.dimension} {made.name}".encode(), digest_size=4)
        return named.hexdigest()

    def _read(self, path: Path, source: str, edited: set[str]) -> Entry:
        try:
            content = read_file(path)
            if not is_checked(content):
                edited.add(source)
            return parse(content, source)
        except DamagedRecord as error:
            raise self._folder.damage(path, error) from error

    def _read_vector(self, path: Path) -> Vectors | None:
        if self._embedded is None:
            return None
        try:
            return read_vector(read_file(path), self._embedded.dimension, "the vector")
        except DamagedRecord as error:
            raise self._folder.damage(path, error) from error

    def _migrate(self, about: FolderManifest) -> None:
        """Write every file as this version does; what an older one wrote can be read."""
        entries = self._open.get([*self._held])
        moves = [self._folder.stage(self._path(e), render(e)) for e in entries]
        states = {e.id: self._state(self._held[e.id]) for e in entries}
        self._folder.change(moves, [], {source: (now, now) for source, now in states.items()})
        self._folder.tell(FolderManifest(SCHEMA_VERSION, about.embedded))
        self._scan()

    def _sweep_vectors(self) -> None:
        """Delete vectors of entries that have others, or are gone."""
        used = {held.vector.name for held in self._held.values() if held.vector}
        for name in self._folder.vectors().keys() - used:
            (self._root / VECTORS / name).unlink(missing_ok=True)

    def _path(self, entry: Entry) -> Path:
        return self._root / entry.layer / f"{entry.id}.md"

    def _vector_path(self, source: str, told: str) -> Path:
        return self._root / VECTORS / f"{source}-{told}-{self._embedder}.f32"


def _stamp(file: Path | os.DirEntry[str]) -> FileStamp:
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
