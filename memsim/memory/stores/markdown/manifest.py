"""The manifest of a markdown store: what it holds, so that no file goes or comes unnoticed.

The file `manifest` has a line of fixed length for each entry, which is written in place::

    <id> <check> <embedder> <check> <embedder>

`check` is the digest of the entry, and `embedder` the digest of what its vector was made with. The
first pair is what was there before the last change of the entry, the second what is there after it.
They are the same once the change is complete. Dots stand for no entry and for no vector.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memsim.errors import StoreError

NAME = "manifest"
_ID, _CHECK, _EMBEDDER = 32, 16, 8
_FREE = "." * _ID
_LINE = re.compile(
    rb"([0-9a-f]{32}|\.{32})" + rb" ([0-9a-f]{16}|\.{16}) ([0-9a-f]{8}|\.{8})" * 2 + rb"\n"
)
_LENGTH = _ID + 2 * (_CHECK + _EMBEDDER + 2) + 1


class FileState(NamedTuple):
    """The files of an entry: its check, and what its vector was made with; empty for none."""

    check: str = ""
    embedder: str = ""


ABSENT = FileState()
Change = tuple[FileState, FileState]
"""What was there before a change, and what is there after it."""


class EntryManifest:
    """The lines of the manifest. Whoever calls holds the lock of the folder."""

    def __init__(self, path: Path, *, synced: bool) -> None:
        self.path = path
        self._synced = synced
        self._file: int | None = None
        self._places: dict[str, int] = {}
        self._free: list[int] = []
        self._length = 0

    def read(self) -> dict[str, Change]:
        """The last change of each entry. Raises `StoreError` if a line is damaged."""
        with open(self._descriptor(), "rb", closefd=False) as file:
            file.seek(0)
            data = file.read()
        self._places.clear()
        self._free.clear()
        self._length = len(data) // _LENGTH  # a line that was torn by a crash is written again
        return dict(self._changes(data))

    def _changes(self, data: bytes) -> Iterator[tuple[str, Change]]:
        for place in range(self._length):
            found = _LINE.fullmatch(data, place * _LENGTH, (place + 1) * _LENGTH)
            if found is None:
                raise StoreError(
                    f"{self.path}:{place + 1}: is damaged: it is no line of a manifest"
                )
            source, *rest = (part.decode().strip(".") for part in found.groups())
            if not source:
                self._free.append(place)
                continue
            self._places[source] = place
            yield source, (FileState(*rest[:2]), FileState(*rest[2:]))

    def begin(self, changes: Mapping[str, Change]) -> None:
        """Note a change before it is made: until it is settled, either state holds."""
        for source, (before, after) in changes.items():
            self._write(source, before, after)
        if self._synced:
            os.fsync(self._descriptor())

    def settle(self, states: Mapping[str, FileState]) -> None:
        """Note what is there after a change."""
        for source, state in states.items():
            if state == ABSENT:
                self._clear(source)
            else:
                self._write(source, state, state)

    def rebuild(self, states: Mapping[str, FileState]) -> None:
        """Write the manifest anew."""
        lines = [_line(source, state, state) for source, state in states.items()]
        os.ftruncate(self._descriptor(), 0)
        os.pwrite(self._descriptor(), b"".join(lines), 0)
        os.fsync(self._descriptor())
        self.read()

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, source: str, before: FileState, after: FileState) -> None:
        place = self._places.get(source)
        if place is None:
            place = self._free.pop() if self._free else self._length
            self._length = max(self._length, place + 1)
            self._places[source] = place
        os.pwrite(self._descriptor(), _line(source, before, after), place * _LENGTH)

    def _clear(self, source: str) -> None:
        place = self._places.pop(source, None)
        if place is not None:
            os.pwrite(self._descriptor(), _line(_FREE, ABSENT, ABSENT), place * _LENGTH)
            self._free.append(place)

    def _descriptor(self) -> int:
        if self._file is None:
            # Neither a link to a file elsewhere nor a pipe is written to.
            flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self.path, flags, 0o600)
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise StoreError(f"{self.path}: cannot be read: it is not a regular file")
        return self._file


def _line(source: str, before: FileState, after: FileState) -> bytes:
    states = " ".join(f"{s.check:.<{_CHECK}} {s.embedder:.<{_EMBEDDER}}" for s in (before, after))
    return f"{source} {states}\n".encode()
