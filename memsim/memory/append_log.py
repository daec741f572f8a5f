"""Lines that are only ever added to, by any number of writers, and survive a crash whole."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from memsim.atomic_files import WAIT, locked, sync_folder, unwritable, write_whole
from memsim.errors import StoreError
from memsim.memory.codec import JSON, reading

_BLOCK = 4096


class Lines(Protocol):
    """Lines that can only be added to."""

    def lines(self) -> Iterator[bytes]:
        """Every line that was added, without its end."""
        ...

    def last(self) -> bytes | None:
        """The last of them; None where there is none."""
        ...

    def append(self, make: Callable[[bytes | None], Sequence[bytes]]) -> None:
        """Add the lines that `make` makes out of the last one, while nobody else can add any.

        They have reached the disk when this returns, where there is one.

        Raises:
            StoreError: they could not be added.
        """
        ...


class InProcessLines:
    """Lines that last as long as their process."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._lock = threading.Lock()

    def lines(self) -> Iterator[bytes]:
        """Every line there is now."""
        yield from tuple(self._lines)

    def last(self) -> bytes | None:
        """The last line."""
        return self._lines[-1] if self._lines else None

    def append(self, make: Callable[[bytes | None], Sequence[bytes]]) -> None:
        """Add the lines that `make` makes out of the last one."""
        with self._lock:
            self._lines.extend(make(self.last()))


class FileLines:
    r"""Lines of a file, readable by its owner alone.

    A line that a crash cut short has no `\n` at its end, and nobody was told that it was added: it
    is not read, and the next writer cuts it off.

    Args:
        path: the file, made when the first line is added; its folder has to exist.
        wait: seconds to wait for another writer.
    """

    def __init__(self, path: Path, *, wait: float = WAIT) -> None:
        self.path = Path(os.path.realpath(path))
        self._wait = wait

    def lines(self) -> Iterator[bytes]:
        """Every whole line.

        Raises:
            StoreError: the file is there and cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                yield from (line[:-1] for line in file if line.endswith(b"\n"))
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unreadable(error) from error

    def last(self) -> bytes | None:
        """The last whole line; None where there is none.

        Raises:
            StoreError: the file is there and cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                return _last(file)[0]
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error

    def append(self, make: Callable[[bytes | None], Sequence[bytes]]) -> None:
        """Add the lines that `make` makes out of the last one.

        Raises:
            StoreError: they could not be added; the file is as it was, or ends in a torn line.
        """
        with locked(self.path, self._wait):
            try:
                new = not self.path.exists()
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
                with os.fdopen(os.open(self.path, flags, 0o600), "r+b") as file:
                    last, end = _last(file)
                    _add(file, end, make(last))
                if new:
                    sync_folder(self.path.parent)
            except OSError as error:
                raise unwritable(self.path, error) from error

    def _unreadable(self, error: OSError) -> StoreError:
        return StoreError(f"{self.path}: cannot be read: {error.strerror or type(error).__name__}")


def _add(file: IO[bytes], end: int, lines: Sequence[bytes]) -> None:
    file.truncate(end)
    file.seek(end)
    file.write(b"".join(line + b"\n" for line in lines))
    file.flush()
    os.fsync(file.fileno())


def _last(file: IO[bytes]) -> tuple[bytes | None, int]:
    """The last whole line, and where it ends."""
    begin = file.seek(0, os.SEEK_END)
    tail = b""
    while begin and tail.count(b"\n") < 2:
        step = min(_BLOCK, begin)
        begin = file.seek(begin - step)
        tail = file.read(step) + tail
    whole, newline, _ = tail.rpartition(b"\n")
    if not newline:
        return None, 0
    return whole.rpartition(b"\n")[2], begin + len(whole) + 1


# The order in which messages were said: ids of entries in a file, one a line, only added to.


class OrderMark:
    """Lines and their digest, as far as they have been added."""

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        self._lines = 0
        self._digest = hashlib.sha256()
        self.add(lines)

    def add(self, lines: Iterable[bytes]) -> None:
        """More lines, without their ends."""
        for line in lines:
            self._lines += 1
            self._digest.update(line + b"\n")

    def save(self) -> JSON:
        """As JSON values."""
        return {"lines": self._lines, "sha256": self._digest.hexdigest()}


class MessageOrder:
    """The file of the order.

    Args:
        path: it; made when the first line is added.
    """

    def __init__(self, path: Path) -> None:
        self._lines = FileLines(path)
        self._mark: OrderMark | None = None
        self._coming: list[JSON] = []

    def read(self, marks: Any) -> dict[str, int] | None:  # noqa: ANN401 - what was read may be anything
        """The place of each entry; None where the file is damaged, cut or gone.

        Args:
            marks: one of them has to be right; None where there are none to go by.

        Raises:
            StateError: they are no marks.
            StoreError: the file cannot be read.
        """
        lines = [*self._lines.lines()]
        with reading("the marks of its order are damaged"):
            if marks is not None and not any(_holds(mark, lines) for mark in marks):
                return None
        self._mark = OrderMark(lines)
        order: dict[str, int] = {}
        for place, line in enumerate(lines):
            order.setdefault(line.decode("ascii", "replace"), place)
        return order

    def marks(self) -> list[JSON]:
        """What `read` goes by: the present order, and one that is being written in its place."""
        if self._mark is None:
            self._mark = OrderMark(self._lines.lines())
        return [self._mark.save(), *self._coming]

    def add(self, entries: Sequence[str]) -> None:
        """Entries came after all others.

        Raises:
            StoreError: they could not be added.
        """
        lines = [name.encode("ascii") for name in entries]
        mark, self._mark = self._mark, None  # looked at again where this fails half-way
        self._lines.append(lambda _: lines)
        if mark is not None:
            mark.add(lines)
            self._mark = mark

    def replace(self, entries: Sequence[str], keep: Callable[[], None]) -> None:
        """Write it anew.

        Args:
            entries: all of them.
            keep: keeps the marks, so that a kill leaves an order that one of them is of.

        Raises:
            StoreError: it could not be written; the old one is there still.
        """
        lines = [name.encode("ascii") for name in entries]
        mark = OrderMark(lines)
        self._coming = [mark.save()]
        try:
            keep()
            self._mark = None
            write_whole(self._lines.path, b"".join(line + b"\n" for line in lines))
            self._mark = mark
        except OSError as error:
            raise unwritable(self._lines.path, error) from error
        finally:
            self._coming = []


def _holds(mark: Any, lines: Sequence[bytes]) -> bool:  # noqa: ANN401 - as `Order.read`
    return bool(mark == OrderMark(lines[: mark["lines"]]).save())
