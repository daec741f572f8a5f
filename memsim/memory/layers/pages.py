"""The workspace: the Markdown files that an agent and its people both read and write.

In a folder of a principal's own::

    IDENTITY.md  SOUL.md  USER.md  MEMORY.md    who the agent is, whom it serves, what it keeps
    memory/2026-01-05.md                        what was noted on a day
    memory/2026-01-05_2.md                      the same day's second file, when the first was full

What is in a file is never changed by adding to it: its bytes stand before the new ones as they are,
whatever line ends or byte order mark they have.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from memsim.atomic_files import WAIT, locked, sweep, unwritable, write_whole
from memsim.errors import LocatedError, StoreError
from memsim.json_input import is_regular, read_bytes
from memsim.language.graphemes import head, tail
from memsim.memory.index.split import LENGTH, PageChunk, chunk
from memsim.message import utc

MEMORY = "MEMORY.md"
ROOTS = ("IDENTITY.md", "SOUL.md", "USER.md", MEMORY)
"""In the order in which a context shows them."""

DAILY = "memory"

FILE_LIMIT, TOTAL_LIMIT = 8_000, 24_000
"""Characters of a file, and of all that a context shows of the workspace (a file's: AgenticX)."""

STANDING = ROOTS[:3]
"""Those that say who the agent is and whom it serves."""

DAY_LIMIT = 10
"""Files of one day at most."""

_HEADING = re.compile(r"^\ufeff?(##? .*?)[ \t]*\r?$", re.MULTILINE)
_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})(?:_([2-9]|[1-9]\d+))?\.md", re.ASCII)


class WorkspaceFull(StoreError):  # noqa: N818 - a state of the workspace, named like its kin
    """What should be noted does not fit into its file, or into the day's.

    `length` is what the file would have with nothing else in it, where that is too long.
    """

    def __init__(self, name: str, limit: int, length: int = 0) -> None:
        self.name = name
        self.limit = limit
        self.length = length
        super().__init__(name, limit, length)

    def __str__(self) -> str:
        may = f"it may have {self.limit:,} characters"
        if self.length > self.limit:
            return f"{self.length:,} characters are too many for {self.name}: {may}"
        return f"{self.name} is full: {may}"


class PageStamp(NamedTuple):
    """What a file is known by without being read; another after it was changed.

    `changed` is in nanoseconds of the file system's own clock. A file that was put in its place has
    another `inode`.
    """

    changed: int
    size: int
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a context shows of a file."""

    name: str
    text: str
    omitted: int


class Workspace:
    """The files of one folder.

    A note that would make a day's file longer than allowed begins the day's next one, so that none
    is lost; after `DAY_LIMIT` of them it is refused. MEMORY.md, which people keep in order, is not
    continued elsewhere: a note that does not fit is refused. What is refused changes nothing.

    Args:
        folder: where the files are; made with the first of them.
        file_limit: characters of a file that is added to, and of a file that a context shows.
        total_limit: characters of all files that a context shows.
        wait: seconds to wait for another writer.
        written: takes the name of each file that was written, once it is.
        readonly: whether writing is a `StoreError`.

    Raises:
        ValueError: a limit is not positive.
    """

    def __init__(
        self,
        folder: Path,
        *,
        file_limit: int = FILE_LIMIT,
        total_limit: int = TOTAL_LIMIT,
        wait: float = WAIT,
        written: Callable[[str], object] | None = None,
        readonly: bool = False,
    ) -> None:
        if file_limit < 1 or total_limit < 1:
            raise ValueError("a workspace's limits are at least one character")
        self.folder = Path(os.path.realpath(folder))
        self._file_limit = file_limit
        self._total_limit = total_limit
        self._wait = wait
        self._written = written
        self._readonly = readonly

    def names(self) -> list[str]:
        """The files that there are: the roots in their order, then the days, latest first.

        Raises `StoreError` if the folder cannot be read.
        """
        try:
            days = [f"{DAILY}/{path.name}" for path in (self.folder / DAILY).iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            days = []
        except OSError as error:
            raise self._unreadable(DAILY, error) from error
        roots = [name for name in ROOTS if is_regular(self.folder / name)]
        return roots + sorted((d for d in days if _is_daily(d)), key=_day_order, reverse=True)

    def read(self, name: str) -> str | None:
        """A file's text, every character of it; None where there is no such file.

        Raises `ValueError` if the name is none of a workspace's files. Raises `StoreError` if it
        cannot be read, or is not UTF-8, or leads out of the folder.
        """
        data = self._bytes(name)
        return None if data is None else self._decoded(name, data)

    def stamps(self) -> dict[str, PageStamp]:
        """What each file is known by, in no order; none is read.

        Raises `StoreError` if a folder or a file cannot be looked at.
        """
        found = [(name, _stamp(self.folder / name)) for name in ROOTS]
        # There is a file for each day, and this is done in every turn.
        try:
            with os.scandir(self.folder / DAILY) as days:
                named = ((f"{DAILY}/{entry.name}", entry) for entry in days)
                found += [(name, _stamp(entry)) for name, entry in named if _is_daily(name)]
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise self._unreadable(DAILY, error) from error
        return {name: stamp for name, stamp in found if stamp is not None}

    def pages(self, names: Iterable[str] | None = None, limit: int | None = None) -> list[Page]:
        """What a context shows: of each file as much as allowed, until all of it is.

        Of the roots the beginning is shown, of a day's file the end; a day that is shown in part is
        the oldest shown.

        Args:
            names: of the files, in the order in which they are shown; all of them where None.
            limit: characters of all files, where these are fewer than the workspace's own limit.

        Raises:
            ValueError: a name is none of a workspace's files.
            StoreError: as `read`.
        """
        left = self._total_limit if limit is None else min(limit, self._total_limit)
        pages: list[Page] = []
        for name in self.names() if names is None else names:
            if left <= 0:
                break
            text = (self.read(name) or "").removeprefix("\ufeff")
            shown = (tail if _is_daily(name) else head)(text, min(self._file_limit, left))
            if shown:
                pages.append(Page(name=name, text=shown, omitted=len(text) - len(shown)))
            left -= len(shown)
        return pages

    def chunks(self, length: int = LENGTH) -> Iterator[PageChunk]:
        """The pieces of every file, for an index. Raises `StoreError` as `read`."""
        for name in self.names():
            yield from chunk(name, self.read(name) or "", length)

    def write(self, name: str, text: str) -> None:
        """Put a text in the place of a file, whole or not at all.

        Raises:
            ValueError: as `read`; or the text cannot be encoded.
            WorkspaceFull: it is longer than a file may be.
            StoreError: it cannot be written.
        """
        data = _encoded(text)
        path = self._path(name)
        if len(text) > self._file_limit:
            raise WorkspaceFull(name, self._file_limit, len(text))
        with self._changing():
            self._put(path, data)
        self._tell(name)

    def note(self, text: str, now: datetime) -> str:
        """Add a note to the day's file, begun with the day as its heading.

        The day is that of `now` in its zone; `text` is added byte for byte, as lines of its own.
        Returns the name of the file that it is in.

        Raises:
            ValueError: the note is blank or cannot be encoded, or the time has no zone.
            WorkspaceFull: it fits into none of the day's files, or into no file at all.
            StoreError: it cannot be written, or the file cannot be read.
        """
        day = _day(now)
        with self._changing():
            places = self._places(day)
            name = next((n for n in places if self._add(n, f"# {day}", text)), None)
        if name is not None:
            self._tell(name)
            return name
        length = len(f"# {day}\n{_line(text)}")
        last = 1 if length > self._file_limit else DAY_LIMIT
        raise WorkspaceFull(_daily(day, last), self._file_limit, length)

    def holding(self, text: str, now: datetime) -> str | None:
        """The name of the day's file that has a note already, as lines of its own; None for none.

        Raises `ValueError` as `note`, or `StoreError` if a file cannot be read.
        """
        day = _day(now)
        _encoded(text)
        if not text.strip():
            raise ValueError("a note is blank")
        wanted = _lines(text)
        names = (_daily(day, number) for number in range(1, DAY_LIMIT + 1))
        for name in (n for n in names if os.path.lexists(self.folder / n)):
            lines = _lines((self.read(name) or "").removeprefix("\ufeff"))
            if any(lines[n : n + len(wanted)] == wanted for n in range(len(lines))):
                return name
        return None

    def remember(self, text: str, now: datetime) -> str:
        """Add a note to MEMORY.md, under the day as a heading; as `note` otherwise."""
        day = _day(now)
        with self._changing():
            if not self._add(MEMORY, f"## {day}", text):
                length = len(f"## {day}\n{_line(text)}")
                raise WorkspaceFull(MEMORY, self._file_limit, length)
        self._tell(MEMORY)
        return MEMORY

    def _tell(self, name: str) -> None:
        if self._written is not None:
            self._written(name)

    def _places(self, day: date) -> list[str]:
        # Earlier ones are full, and stay so: notes of a day keep their order.
        names = [_daily(day, number) for number in range(1, DAY_LIMIT + 1)]
        there = [n for n, name in enumerate(names) if os.path.lexists(self.folder / name)]
        return names[there[-1] if there else 0 :]

    def _add(self, name: str, heading: str, note: str) -> bool:
        """Whether the note fitted into the file."""
        if not note.strip():
            raise ValueError("a note is blank")
        before = self._bytes(name) or b""
        text = self._decoded(name, before)
        end = "\r\n" if "\r\n" in text else "\n"
        added = "" if not text or text.endswith(("\n", "\r")) else end
        if not _stands_under(heading, text):
            added += f"{end if text else ''}{heading}{end}"
        added += _line(note, end)
        if len(text) + len(added) > self._file_limit:
            return False
        self._put(self._path(name), before + _encoded(added))
        return True

    @contextmanager
    def _changing(self) -> Iterator[None]:
        if self._readonly:
            raise StoreError(f"{self.folder}: was opened for reading only")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        with locked(self.folder / ".workspace", self._wait):
            yield

    def _put(self, path: Path, data: bytes) -> None:
        try:
            path.parent.mkdir(exist_ok=True)
            sweep(path)
            write_whole(path, data)
        except OSError as error:
            raise unwritable(path, error) from error

    def _bytes(self, name: str) -> bytes | None:
        try:
            return read_bytes(self._path(name), LocatedError)
        except FileNotFoundError:
            return None
        except LocatedError as error:
            if isinstance(error.__cause__, NotADirectoryError):
                return None
            raise StoreError(f"{self.folder / name}: {error.message}") from error

    def _decoded(self, name: str, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise StoreError(f"{self.folder / name}: is not UTF-8") from None

    def _path(self, name: str) -> Path:
        if name not in ROOTS and not _is_daily(name):
            raise ValueError(f"a workspace has {', '.join(ROOTS)} and {DAILY}/<day>.md")
        path = Path(os.path.realpath(self.folder / name))
        if not path.is_relative_to(self.folder):
            raise StoreError(f"{self.folder / name}: leads out of the workspace")
        return path

    def _unreadable(self, name: str, error: OSError) -> StoreError:
        reason = error.strerror or type(error).__name__
        return StoreError(f"{self.folder / name}: cannot be read: {reason}")


def place_of(name: str) -> str:
    """Where something stands that stands in a file: in the notes of its day, or in the file."""
    return _day_order(name)[0] if _is_daily(name) else name


def day_ends(name: str) -> datetime | None:
    """When the day of a day's file is over everywhere; None for another file, or no such end."""
    if not _is_daily(name):
        return None
    day, _ = _day_order(name)
    try:
        return datetime.fromisoformat(f"{day}T12:00:00+00:00") + timedelta(days=1)
    except OverflowError:
        return None


def _stands_under(heading: str, text: str) -> bool:
    """Whether what is added at the end of a text would be under this heading."""
    if heading.startswith("# "):
        return bool(text.removeprefix("\ufeff"))  # a day's file is all that day's
    return _HEADING.findall(text)[-1:] == [heading]


def _day(now: datetime) -> date:
    utc(now)  # which refuses a time without a zone
    return now.date()


def _daily(day: date, number: int) -> str:
    return f"{DAILY}/{day}.md" if number == 1 else f"{DAILY}/{day}_{number}.md"


def _stamp(file: Path | os.DirEntry[str]) -> PageStamp | None:
    try:
        state = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return PageStamp(state.st_mtime_ns, state.st_size, state.st_ino)


@lru_cache(maxsize=4096)
def _is_daily(name: str) -> bool:
    folder, _, rest = name.rpartition("/")
    match = _NAME.fullmatch(rest)
    return folder == DAILY and match is not None and _is_date(match[1])


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _line(note: str, end: str = "\n") -> str:
    return note if note.endswith(("\n", "\r")) else note + end


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _day_order(name: str) -> tuple[str, int]:
    match = _NAME.fullmatch(name.rpartition("/")[2])
    return (match[1], int(match[2] or 1)) if match else ("", 0)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a text cannot be encoded as UTF-8") from None
