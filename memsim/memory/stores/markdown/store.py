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
    parse,
    read_vector,
    render,
    vector_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.index import Hit
    from memsim.memory.permissions import Where
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
                    held.append((path, beside))
            except BaseException:
                for staged, _ in moves:
                    staged.unlink(missing_ok=True)
                raise
            if made != known:
                self._folder.tell(FolderManifest(SCHEMA_VERSION, made))
            if moves:
                self._folder.change(moves, gone, one=len(written) == 1)
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
            self._held = {
                source: held._replace(vector=None, vector_stamp=None)
                for source, held in self._held.items()
            }
            self._folder.change([], gone)

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good; see `Store`."""
        with self._writing() as view:
            there = [source for source in dict.fromkeys(ids) if source in self._held]
            files = [self._held[source] for source in there]
            gone = [p for held in files for p in (held.path, held.vector) if p is not None]
            if gone:
                self._folder.change([], gone, one=len(there) == 1)
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
        beside = self._folder.vectors()
        found = {file.name[:-3]: file for file in self._folder.entries()}
        for source in self._held.keys() - found.keys():
            del self._held[source]
            view.drop(source)
        for source, file in found.items():
            old, stamp = self._held.get(source), _stamp(file)
            entry = None
            if old is None or old.stamp != stamp:
                entry = self._read(Path(file.path), source)
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
            self._held[source] = _Held(Path(file.path), stamp, told, path, vector_stamp)

    def _read(self, path: Path, source: str) -> Entry:
        try:
            return parse(path.read_bytes(), source)
        except DamagedRecord as error:
            raise self._folder.damage(path, error) from error

    def _read_vector(self, path: Path) -> Vectors | None:
        if self._embedded is None:
            return None
        try:
            return read_vector(path.read_bytes(), self._embedded.dimension, "the vector")
        except DamagedRecord as error:
            raise self._folder.damage(path, error) from error

    def _migrate(self, about: FolderManifest) -> None:
        """Write every file as this version does; what an older one wrote can be read."""
        entries = self._open.get([*self._held])
        moves = [self._folder.stage(self._path(e), render(e)) for e in entries]
        self._folder.change(moves, [])
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
        made = self._embedded or EmbedderInfo("", 0)
        embedder = hashlib.blake2b(f"{made.dimension} {made.name}".encode(), digest_size=4)
        return self._root / VECTORS / f"{source}-{told}-{embedder.hexdigest()}.f32"


def _stamp(file: Path | os.DirEntry[str]) -> FileStamp:
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
