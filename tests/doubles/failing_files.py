"""A file system that fails: every change below one folder goes through a schedule."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsim.testing.faults import Schedule, SimulatedCrash

ERRORS = {
    "write": errno.ENOSPC,
    "open": errno.EMFILE,
    "mkdir": errno.ENOSPC,
    "replace": errno.EIO,
    "unlink": errno.EIO,
    "fsync": errno.EIO,
    "truncate": errno.EIO,
}
_BY_NAME = ("unlink", "remove", "mkdir", "replace", "rename")
_BY_NUMBER = ("write", "pwrite", "fsync", "ftruncate")
_KINDS = {"remove": "unlink", "rename": "replace", "pwrite": "write", "ftruncate": "truncate"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(slots=True)
class _Disk:
    """What is known of the files below a folder."""

    root: str
    schedule: Schedule
    reads: bool
    real: dict[str, Callable[..., Any]]
    numbers: dict[int, str] = field(default_factory=dict)
    files: dict[int, _File] = field(default_factory=dict)
    unsynced: dict[tuple[int, int], int] = field(default_factory=dict)

    def holds(self, path: object) -> bool:
        if isinstance(path, int):
            return path in self.numbers
        return isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(self.root)  # noqa: PTH100 - it may be gone

    def strike(self, kind: str, path: str, half: Callable[[], object] | None = None) -> None:
        """Count an operation, and fail it, with half of it done if it can be."""
        if not self.schedule.fails(f"{kind} {path.removeprefix(self.root).lstrip('/')}"):
            return
        if half is not None:
            half()
        if self.schedule.ends:
            raise SimulatedCrash(kind)
        raise failure(kind, path)

    def written(self, number: int) -> None:
        """Bytes are about to be added, which no sync has reached yet."""
        status = os.fstat(number)
        self.unsynced.setdefault((status.st_dev, status.st_ino), status.st_size)

    def synced(self, number: int) -> None:
        status = os.fstat(number)
        self.unsynced.pop((status.st_dev, status.st_ino), None)

    def end(self) -> None:
        """Close what a process that has ended had open."""
        for number in [*self.numbers]:
            if number in self.files:
                self.files[number].close()
            else:
                self.real["close"](number)
        self.numbers.clear()

    def lose_power(self) -> None:
        """Remove bytes that were written and not synced."""
        for path in sorted(Path(self.root).rglob("*")):
            status = path.stat()
            size = self.unsynced.get((status.st_dev, status.st_ino))
            if path.is_file() and size is not None and status.st_size > size:
                os.truncate(path, size)


def failure(kind: str, path: str) -> OSError:
    """The error that the system raises for an operation."""
    return OSError(ERRORS[kind], os.strerror(ERRORS[kind]), path)


class _File(io.FileIO):
    """A file whose writes are counted.

    Of one that fails the first half is written: as a disk that is full does, it takes what it can
    and refuses the rest.
    """

    def __init__(self, disk: _Disk, file: Any, mode: str, **given: Any) -> None:  # noqa: ANN401 - as FileIO
        self._disk = disk
        self._full = False
        super().__init__(file, mode, **given)
        name = disk.numbers.get(file, "") if isinstance(file, int) else os.path.abspath(file)  # noqa: PTH100 - as above
        disk.numbers[self.fileno()] = name
        disk.files[self.fileno()] = self
        self._path = name
        if self.writable():
            disk.written(self.fileno())

    def write(self, data: Any) -> int:  # noqa: ANN401 - as FileIO
        if self._disk.schedule.dead:
            return len(data)  # a buffer that is let go of with the process
        if self._full:
            self._full = False
            raise failure("write", self._path)
        self._disk.written(self.fileno())
        raw, part = bytes(data), []
        try:
            self._disk.strike(
                "write",
                self._path,
                lambda: part.append(super(_File, self).write(raw[: len(raw) // 2])),
            )
        except OSError:
            self._full = bool(part and part[0])
            if not self._full:
                raise
            return part[0]
        return super().write(raw)

    def truncate(self, size: int | None = None) -> int:
        self._disk.strike("truncate", self._path)
        return super().truncate(size)

    def close(self) -> None:
        if not self.closed:
            self._disk.numbers.pop(self.fileno(), None)
            self._disk.files.pop(self.fileno(), None)
        super().close()


@contextmanager
def failing_files(root: Path, schedule: Schedule, *, reads: bool = False) -> Iterator[None]:
    """Count operations on files below a folder, and let some of them fail.

    Writes, syncs, renames, removals and new folders count, through `os`, `open` and `pathlib`; what
    C code does by itself, such as SQLite's, does not. A write that fails has written its first
    half. A crash leaves what was written; a loss of power takes what was appended and not synced.

    Args:
        root: the folder.
        schedule: counts, and says what fails.
        reads: whether opening a file to read it counts too.
    """
    names = ("open", "close", *_BY_NAME, *_BY_NUMBER)
    real: dict[str, Callable[..., Any]] = {n: getattr(os, n) for n in names}
    real["io"] = io.open
    disk = _Disk(root=os.path.abspath(root), schedule=schedule, reads=reads, real=real)  # noqa: PTH100 - as above
    stand_ins = {name: _by_name(disk, name) for name in _BY_NAME}
    stand_ins |= {name: _by_number(disk, name) for name in _BY_NUMBER}
    stand_ins |= {"open": _opening(disk), "close": _closing(disk)}
    for name, stand_in in stand_ins.items():
        setattr(os, name, stand_in)
    setattr(io, "open", _file_opening(disk))  # noqa: B010 - the type checker knows it as a function
    try:
        yield
    finally:
        for name in stand_ins:
            setattr(os, name, real[name])
        setattr(io, "open", real["io"])  # noqa: B010 - as above
        if schedule.dead:
            disk.end()
        if schedule.dead and schedule.mode == "power":
            disk.lose_power()


def _by_name(disk: _Disk, name: str) -> Callable[..., Any]:
    kind = _KINDS.get(name, name)

    def done(path: Any, *rest: Any, **given: Any) -> Any:  # noqa: ANN401 - as the function of os
        if disk.holds(path):
            if disk.schedule.dead and kind == "unlink":
                return None  # tidying up, which a process that has ended does not
            if kind != "mkdir" or not os.path.isdir(path):  # noqa: PTH112 - pathlib's own is built on it
                disk.strike(kind, os.path.abspath(path))  # noqa: PTH100 - as above
        return disk.real[name](path, *rest, **given)

    return done


def _by_number(disk: _Disk, name: str) -> Callable[..., Any]:
    kind = _KINDS.get(name, name)

    def done(number: int, *rest: Any) -> Any:  # noqa: ANN401 - as the function of os
        if disk.holds(number):
            disk.written(number)
            disk.strike(kind, disk.numbers[number])
        if kind == "fsync" and disk.holds(number):
            return disk.synced(number)  # what the power would take is known without the disk
        return disk.real[name](number, *rest)

    return done


def _opening(disk: _Disk) -> Callable[..., int]:
    def opened(path: Any, flags: int, *rest: Any, **given: Any) -> int:  # noqa: ANN401 - as os.open
        inside = given.get("dir_fd") is None and disk.holds(path)
        if inside and (flags & _WRITING or disk.reads):
            disk.strike("open", os.path.abspath(path))  # noqa: PTH100 - as above
        number: int = disk.real["open"](path, flags, *rest, **given)
        if inside:
            disk.numbers[number] = os.path.abspath(path)  # noqa: PTH100 - as above
        return number

    return opened


def _closing(disk: _Disk) -> Callable[[int], None]:
    def closed(number: int) -> None:
        disk.numbers.pop(number, None)
        disk.real["close"](number)

    return closed


def _file_opening(disk: _Disk) -> Callable[..., Any]:
    def opened(
        file: Any,  # noqa: ANN401
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        writing = bool(set(mode) & set("wax+"))
        if not disk.holds(file) or not (writing or disk.reads):
            if isinstance(file, int) and closefd:
                disk.numbers.pop(file, None)  # the file closes it, and calls nothing here
            return disk.real["io"](
                file, mode, buffering, encoding, errors, newline, closefd, opener
            )
        if not isinstance(file, int):
            disk.strike("open", os.path.abspath(file))  # noqa: PTH100 - as above
        raw = _File(disk, file, mode.replace("b", "").replace("t", ""), closefd=closefd)
        return _layered(raw, mode, buffering, encoding, errors, newline)

    return opened


def _layered(
    raw: _File,
    mode: str,
    buffering: int,
    encoding: str | None,
    errors: str | None,
    newline: str | None,
) -> Any:  # noqa: ANN401 - as io.open
    if buffering == 0:
        return raw
    buffered: Any
    if "+" in mode:
        buffered = io.BufferedRandom(raw)
    else:
        buffered = io.BufferedReader(raw) if "r" in mode else io.BufferedWriter(raw)
    if "b" in mode:
        return buffered
    return io.TextIOWrapper(buffered, encoding, errors, newline)
