"""The folder of a markdown store, in which every change happens wholly or not at all.

The folder::

    store.json               schema version, and what the vectors were made with
    changes                  counts changes, so that other processes notice
    manifest                 which entries and vectors there are, with their digests
    <layer>/<id>.md          the entries
    vectors/<id>-....f32     their vectors
    journal.json             while a change of several files is being made
    damaged/                 copies of what could not be read
    accept                   made by a user: the manifest is written anew from the files

Files of a change are written beside their places first. The journal then says which are moved where
and which go, and from there on the change is made: whoever next comes finishes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

import numpy as np

from memsim.errors import LocatedError, SchemaError, StoreError
from memsim.json_input import read_bytes
from memsim.memory.entry import DamagedRecord, Layer, encode, fields, from_fields
from memsim.memory.stores import SCHEMA_VERSION, EmbedderInfo
from memsim.memory.stores.folder_lock import holding, sync_folder
from memsim.memory.stores.markdown.manifest import NAME, EntryManifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.stores.markdown.manifest import Change
    from memsim.models import Vectors


# One file for each of a markdown store's entries, such as people like to read.


FENCE: Final = b"---\n"
TEMPORARY: Final = ".new-"
"""What the names of unfinished files begin with."""

_DIGEST: Final = 8

_ORDER: Final = (
    *("key", "owner", "layer", "category", "subject", "session", "created", "updated"),
    *("superseded", "visibility", "readers", "pinned", "archived", "sources", "attributes"),
)


def check(entry: Entry) -> str:
    """What tells whether an entry is as it was written."""
    return hashlib.blake2b(encode(entry).encode(), digest_size=8).hexdigest()


def render(entry: Entry) -> bytes:
    """An entry as the bytes of its file."""
    known = fields(entry)
    lines = [f"{name}: {json.dumps(known[name], ensure_ascii=False)}\n" for name in _ORDER]
    lines.append(f'check: "{check(entry)}"\n')
    return b"".join((FENCE, "".join(lines).encode(), FENCE, entry.text.encode(), b"\n"))


def parse(content: bytes, source: str) -> Entry:
    """The entry of a file. Raises `Damaged` if there is no such entry in it."""
    place = f"entry {source}"
    end = content.find(b"\n" + FENCE)
    if not content.startswith(FENCE) or end < 0:
        raise DamagedRecord(
            f"{place} is damaged: it does not begin with fields between two lines of ---"
        )
    try:
        lines = content[len(FENCE) : end].decode().split("\n")
        read = {name: json.loads(value) for name, _, value in (x.partition(": ") for x in lines)}
        text = content[end + 1 + len(FENCE) :].decode().removesuffix("\n")
    except (ValueError, RecursionError) as error:
        raise DamagedRecord(f"{place} is damaged: {error}") from error
    told = read.pop("check", None)
    entry = from_fields({**read, "text": text}, place)
    if entry.id != source:
        raise DamagedRecord(f"{place} is damaged: its owner, layer or key are another entry's")
    if told is not None and told != check(entry):
        raise DamagedRecord(
            f"{place} is damaged: it is not as it was written (if you edited it, take out its"
            " line `check`)"
        )
    return entry


def is_checked(content: bytes) -> bool:
    """Whether a file says its check; who edits it takes that line out."""
    return b"\ncheck: " in content[: content.find(b"\n" + FENCE) + 1]


def read_file(path: Path) -> bytes:
    """Read a file of the folder. Raises `StoreError` if it is no regular file, or too large."""
    try:
        return read_bytes(path, LocatedError)
    except LocatedError as error:
        raise StoreError(str(error)) from error


def stage(folder: Path, content: bytes, *, synced: bool) -> Path:
    """Write a file beside its place, for good, under a name of its own, and tell the name."""
    descriptor, name = tempfile.mkstemp(prefix=TEMPORARY, dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if synced:
                os.fsync(file.fileno())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def vector_bytes(vector: Vectors) -> bytes:
    """A vector as the bytes of its file: float32, little end first, and a digest of these."""
    raw = vector.astype("<f4").tobytes()
    return raw + _digest(raw)


def read_vector(content: bytes, dimension: int, place: str) -> Vectors:
    """The vector that `vector_bytes` wrote. Raises `Damaged` if it is not as it was written."""
    raw, told = content[:-_DIGEST], content[-_DIGEST:]
    if len(raw) != 4 * dimension or _digest(raw) != told:
        raise DamagedRecord(f"{place} is damaged: it is not the vector that was written")
    return np.frombuffer(raw, "<f4").astype(np.float32)


def _digest(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=_DIGEST).digest()


LAYERS: Final[tuple[str, ...]] = get_args(Layer)
VECTORS: Final = "vectors"
_WIDTH: Final = 20


class FolderManifest(NamedTuple):
    """What a folder's `store.json` says."""

    schema: int
    embedded: EmbedderInfo | None


class EntryFolder:
    """Files, changed several at a time. Whoever calls holds the lock.

    With `synced`, a change survives a power failure and not only the process.
    """

    def __init__(self, root: Path, *, synced: bool = True) -> None:
        self.root = Path(os.path.realpath(root))
        self._synced = synced
        self._journal = self.root / "journal.json"
        self._about = self.root / "store.json"
        self._accept = self.root / "accept"
        self._changes: int | None = None
        self.manifest = EntryManifest(self.root / NAME, synced=synced)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The only one to change or read the folder, until this ends or the process does."""
        if self._changes is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW
            self._changes = os.open(self.root / "changes", flags, 0o600)
        with holding(self._changes):
            yield

    def close(self) -> None:
        """Release the files of the lock and of the manifest."""
        self.manifest.close()
        if self._changes is not None:
            os.close(self._changes)
            self._changes = None

    def open(self) -> FolderManifest:
        """Make what is missing, finish what was begun, sweep what was left.

        Raises `SchemaError` if a newer memsim wrote it. Raises `StoreError` if it is damaged, or
        belongs to something else.
        """
        if not self._about.exists():
            if any((self.root / layer).is_dir() for layer in LAYERS):
                raise StoreError(f"{self.root} is damaged: it has entries and no store.json")
            self.tell(FolderManifest(SCHEMA_VERSION, None))
            self.manifest.rebuild({})
        about = self.about()
        for name in (*LAYERS, VECTORS):
            (self.root / name).mkdir(exist_ok=True)
        self.finish()
        for name in ("", *LAYERS, VECTORS):
            for left in (self.root / name).glob(f"{TEMPORARY}*"):
                left.unlink(missing_ok=True)
        return about

    def about(self) -> FolderManifest:
        """What `store.json` says.

        Raises `SchemaError` if a newer memsim wrote it, or `StoreError` if it cannot be read.
        """
        try:
            read = json.loads(read_file(self._about))
            schema, made = read["schema"], read["embedded"]
            json.dumps(read, ensure_ascii=False).encode()  # half a surrogate pair is no name
            embedded = (
                None if made is None else EmbedderInfo(str(made["name"]), int(made["dimension"]))
            )
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            raise self.damage(self._about, f"it cannot be read: {error}") from error
        if not isinstance(schema, int) or schema > SCHEMA_VERSION:
            raise SchemaError(str(self.root), schema, SCHEMA_VERSION)
        return FolderManifest(schema, embedded)

    def tell(self, about: FolderManifest) -> None:
        """Write `store.json`."""
        made = about.embedded
        said = {
            "schema": about.schema,
            "embedded": made and {"name": made.name, "dimension": made.dimension},
        }
        self._put(self._about, said)

    def changes(self) -> bytes:
        """Says whether anything was changed since it was last asked; a few bytes."""
        assert self._changes is not None  # noqa: S101 - it was opened under its lock
        begun = b"+" if self._journal.exists() else b""
        return os.pread(self._changes, _WIDTH, 0) + begun

    def count_change(self) -> None:
        """Let others notice."""
        assert self._changes is not None  # noqa: S101 - it was opened under its lock
        told = os.pread(self._changes, _WIDTH, 0)
        count = int(told) + 1 if told.isdigit() else 1
        os.pwrite(self._changes, b"%0*d" % (_WIDTH, count), 0)

    def stage(self, path: Path, content: bytes) -> tuple[Path, Path]:
        """Write what shall be at a path beside it, to be moved there by `change`."""
        return stage(path.parent, content, synced=self._synced), path

    def change(
        self,
        moves: Sequence[tuple[Path, Path]],
        gone: Sequence[Path],
        changes: Mapping[str, Change],
    ) -> None:
        """Move files to their places and delete others: all of this, or nothing.

        `moves` says from where to where, what stands beside an entry before the entry itself;
        `gone` has an entry before what stands beside it. `changes` are the states of the entries.
        Of one entry alone, its own file decides, and no journal is needed.
        """
        try:
            self.count_change()  # whoever comes after a crash looks at what is there
            self.manifest.begin(changes)
            if len(changes) != 1:
                moved = [[self._named(a), self._named(b)] for a, b in moves]
                self._put(self._journal, {"moves": moved, "gone": [self._named(p) for p in gone]})
        except BaseException:
            for staged, _ in moves:
                staged.unlink(missing_ok=True)
            raise
        self._carry_out(moves, gone)
        self._journal.unlink(missing_ok=True)
        self.manifest.settle({source: after for source, (_, after) in changes.items()})
        self.count_change()

    def finish(self) -> None:
        """Finish a change that its process did not."""
        if not self._journal.exists():
            return
        try:
            read = json.loads(read_file(self._journal))
            moves = [(self._inside(a), self._inside(b)) for a, b in read["moves"]]
            gone = [self._inside(name) for name in read["gone"]]
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise self.damage(self._journal, f"it cannot be read: {error}") from error
        self._carry_out([m for m in moves if m[0].exists()], gone)
        self._journal.unlink(missing_ok=True)
        self.count_change()

    def _inside(self, name: str) -> Path:
        """The path that the journal names, which is in a folder of the store and nowhere else."""
        folder, _, file = name.rpartition("/")
        if folder not in (*LAYERS, VECTORS) or file in ("", ".", "..") or "\0" in file:
            raise ValueError(f"{name!a} is no file of the store")
        return self.root / folder / file

    def accepts(self) -> bool:
        """Whether a user asks to take the files as they are."""
        return self._accept.exists()

    def accepted(self) -> None:
        """Note that the files were taken as they are."""
        self._accept.unlink(missing_ok=True)

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """Every file that an entry can be in."""
        for layer in LAYERS:
            with os.scandir(self.root / layer) as found:
                yield from (f for f in found if f.name.endswith(".md") and len(f.name) == 35)

    def vectors(self) -> dict[str, os.DirEntry[str]]:
        """Every file of a vector, by its name."""
        with os.scandir(self.root / VECTORS) as found:
            return {f.name: f for f in found if f.name.endswith(".f32")}

    def damage(self, path: Path, why: str | DamagedRecord) -> StoreError:
        """The error for a damaged file, which stays where it is and is copied aside once."""
        with suppress(OSError, StoreError):
            content = read_file(path)
            digest = hashlib.blake2b(content, digest_size=6).hexdigest()
            copy = self.root / "damaged" / f"{path.name}.{digest}"
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(content)
            return StoreError(f"{path}: {why}; a copy is kept at {copy}")
        return StoreError(f"{path}: {why}")

    def _put(self, path: Path, said: object) -> None:
        content = json.dumps(said, sort_keys=True).encode()
        self._carry_out([self.stage(path, content)], [])

    def _carry_out(self, moves: Sequence[tuple[Path, Path]], gone: Sequence[Path]) -> None:
        for written, path in moves:
            written.replace(path)
        for path in gone:
            path.unlink(missing_ok=True)
        if self._synced:
            for folder in sorted({p.parent for p in (*gone, *(path for _, path in moves))}):
                sync_folder(folder)

    def _named(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()
