"""Find the files that are imported, look into archives, and recognise formats by their content."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from io import BufferedReader, RawIOBase
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO

from memsim.errors import ScenarioError
from memsim.json_input import open_regular
from memsim.traces.formats import trace_formats
from memsim.traces.trace_format import ImportCounts, TraceFormat, TraceSource
from memsim.traces.zstd_members import ZSTANDARD, open_zstd_member

MOST_UNPACKED = 4 * 2**30
"""Bytes that an archive may unpack to; each member is looked at before it is read."""

MOST_MEMBERS = 100_000

_LOOKED_AT = 20
"""Values at the beginning of a file by which its format is recognised."""

_ENDINGS = (".json", ".jsonl", ".ndjson", ".eval", ".zip", ".log", ".txt")
_SKIPPED = ("_journal/", "header.json", "summaries.json", "reductions.json", "__MACOSX/")


def trace_paths(paths: tuple[Path, ...], counts: ImportCounts) -> Iterator[Path]:
    """The files that paths name; of a folder all below it that may be traces, in order.

    Raises:
        ScenarioError: there is nothing at a path.
    """

    def refuse(error: OSError) -> None:
        counts.refuse(ScenarioError(f"cannot be read: {error.strerror}", path=error.filename))

    for path in paths:
        if not path.exists():
            raise ScenarioError("is not there", path=path)
        if not path.is_dir():
            yield path
            continue
        found: list[Path] = []
        for root, folders, names in os.walk(path, onerror=refuse):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if name.endswith(_ENDINGS) and not name.startswith("."):
                    found.append(Path(root, name))
                else:
                    counts.leave_out("file that is no trace by its name")
        yield from sorted(found)


def trace_sources(path: Path, counts: ImportCounts) -> Iterator[TraceSource]:
    """The file itself, or the members of an archive that hold JSON."""
    try:
        with open_regular(path, ScenarioError) as stream:
            packed = stream.read(4) == b"PK\x03\x04"
    except (ScenarioError, OSError) as error:
        said = error.message if isinstance(error, ScenarioError) else "cannot be read"
        counts.refuse(ScenarioError(said, path=path))
        return
    if not packed:
        yield TraceSource(str(path), partial(open_regular, path, ScenarioError), counts)
        return
    try:
        yield from _members(path, counts)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        counts.refuse(ScenarioError(f"not a readable archive: {error}", path=path))


def _members(path: Path, counts: ImportCounts) -> Iterator[TraceSource]:
    with zipfile.ZipFile(path) as archive:
        listed = archive.infolist()
        if len(listed) > MOST_MEMBERS:
            raise ScenarioError(f"has more than {MOST_MEMBERS:,} members", path=path)
        room = [MOST_UNPACKED]
        for member in listed:
            name = member.filename
            if name.startswith(_SKIPPED) or member.is_dir():
                continue
            if not name.endswith((".json", ".jsonl")):
                counts.leave_out("member of an archive that is no JSON")
                continue
            opened: Callable[[], BinaryIO] = partial(_open_member, archive, member, room)
            yield TraceSource(f"{path}!{ascii(name)[1:-1]}", opened, counts, is_member=True)


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: list[int]) -> BinaryIO:
    return BufferedReader(_Member(archive, member, room))


def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.compress_type == ZSTANDARD and archive.filename and not member.flag_bits & 1:
        return open_zstd_member(Path(archive.filename), member)
    return archive.open(member)


class _Member(RawIOBase):
    """A member of an archive, unpacked as it is read, within the room of the whole archive."""

    def __init__(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: list[int]) -> None:
        self._room = room
        try:
            self._inner = _opened(archive, member)
        except (zipfile.BadZipFile, RuntimeError, ValueError, OSError) as error:
            raise ScenarioError(f"cannot be unpacked: {ascii(str(error))[1:-1]}") from None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self._inner.read(len(view))
        except Exception as error:  # noqa: BLE001 - zlib, lzma and bz2 raise errors of their own
            raise OSError(f"cannot be unpacked: {ascii(str(error))[1:-1]}") from None
        self._room[0] -= len(data)
        if self._room[0] < 0:
            raise OSError(f"the archive unpacks to more than {MOST_UNPACKED // 2**30} GB")
        view[: len(data)] = data
        return len(data)


def recognised(source: TraceSource) -> TraceFormat | None:
    """The format of a source by its first values; where no format knows them, it is a problem."""
    looked = TraceSource(source.name, source.open)
    values = [value for _, value in islice(looked.values(), _LOOKED_AT)]
    for each in trace_formats().values():
        if each.recognise(values):
            return each
    said = "is of no format of `memsim list formats`; --format names one"
    unknown = ScenarioError(said, path=source.name)
    problem = next(iter(looked.counts.problems), None)
    if problem is None and source.is_member:
        source.leave_out("member of an archive in no known format")
    else:
        source.counts.refuse(problem or unknown)
    return None
