"""Report what a strategy's process opens, writes, starts, loads and talks to.

Each report is a kind, a space, and what was met, with a zero byte after it. Paths are absolute,
and the player resolves them::

    read /home/ana/scenarios/first.yaml      write /tmp/notes.txt      link /home/ana
    program ('cat', ...)                     host api.example.com      native libc.so.6
"""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_READS = ("os.listdir", "os.scandir")
_MAKES = ("os.mkdir", "os.truncate")
_MOVES = ("os.rename", "os.link", "os.symlink")
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn")
_TALKS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_NATIVE = ("ctypes.dlopen", "ctypes.dlsym", "ctypes.dlsym/handle")
_MOST = 4096
"""Reports that are remembered, so that none is made twice."""


def watch(alarm: int) -> None:
    """Report from now on, through this descriptor; it cannot be taken off again."""
    watching = _Watch(alarm)
    look_up = socket.getaddrinfo

    def noting(host: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the real one
        found = look_up(host, *given, **named)
        if isinstance(host, str | bytes):
            name = os.fsdecode(host)
            watching.names.update((str(each[4][0]), name) for each in found)
        return found

    socket.getaddrinfo = noting
    sys.addaudithook(watching.hear)


class _Watch:
    """Takes the events of the interpreter.

    It calls functions that it holds itself: those of modules can be replaced by a strategy.

    Attributes:
        names: names of hosts by the addresses that they were looked up as.
    """

    def __init__(self, alarm: int) -> None:
        self._alarm = alarm
        self._write, self._status, self._exit = os.write, os.fstat, os._exit
        self._stat, self._is_folder, self._here = os.stat, stat.S_ISDIR, os.getcwd
        self._real = os.path.realpath
        self._same = self._status(alarm).st_ino
        places = {sys.prefix, sys.base_prefix, str(Path(__file__).parents[1])}
        places |= {os.path.realpath(place) for place in places}
        self._quiet = tuple(f"{place}{os.sep}" for place in sorted(places))
        self._built_in = f"{os.sep}_builtin{os.sep}"
        self._told: set[str] = set()
        self._folders: dict[str, None] = {}
        self.names: dict[str, str] = {}
        self._kinds: dict[str, Callable[[str, tuple[Any, ...]], None]] = {
            "open": self._opened,
            "sqlite3.connect": self._database,
            "socket.getaddrinfo": self._looked_up,
            "import": self._imported,
            **dict.fromkeys(_READS, self._read),
            **dict.fromkeys(_MAKES, self._made),
            **dict.fromkeys(_MOVES, self._moved),
            **dict.fromkeys(_STARTS, self._started),
            **dict.fromkeys(_TALKS, self._talked),
            **dict.fromkeys(_NATIVE, self._loaded),
        }

    def hear(self, event: str, given: tuple[Any, ...]) -> None:
        """Take one event."""
        kind = self._kinds.get(event)
        if kind is not None:
            kind(event, given)

    def _tell(self, kind: str, met: str) -> None:
        report = f"{kind} {met}"
        if report in self._told:
            return
        if len(self._told) >= _MOST:
            self._told.clear()
        self._told.add(report)
        try:
            # Another pipe in its place would hide what happens now.
            if self._status(self._alarm).st_ino != self._same:
                self._exit(1)
            self._write(self._alarm, f"{report}\0".encode("utf-8", "surrogateescape"))
        except OSError:
            self._exit(1)

    def _path(self, kind: str, given: object) -> None:
        if isinstance(given, bytes):
            name = given.decode("utf-8", "surrogateescape")
        elif isinstance(given, str):
            name = given
        else:
            return
        # A path may be relative to a folder that is open, which the event does not name.
        starts = (
            ("",) if name[:1] == "/" else tuple(f"{p}/" for p in (self._here(), *self._folders))
        )
        for start in starts:
            whole = f"{start}{name}"
            if whole.startswith("/proc/"):
                whole = self._real(whole)  # what it calls itself means another to the player
            own = whole.startswith(self._quiet) and "/../" not in whole
            if not own or kind == "write" or self._built_in in whole:
                self._tell(kind, whole)

    def _opened(self, _event: str, given: tuple[Any, ...]) -> None:
        path, _, flags = given
        writes = isinstance(flags, int) and bool(flags & _WRITES)
        self._path("write" if writes else "read", path)
        if not writes and isinstance(path, str | bytes):
            self._note_folder(path)

    def _note_folder(self, path: str | bytes) -> None:
        try:
            if not self._is_folder(self._stat(path).st_mode):
                return
        except (OSError, ValueError):
            return
        name = path if isinstance(path, str) else path.decode("utf-8", "surrogateescape")
        self._folders[name if name[:1] == "/" else f"{self._here()}/{name}"] = None

    def _database(self, _event: str, given: tuple[Any, ...]) -> None:
        path = given[0]
        name = path.decode("utf-8", "surrogateescape") if isinstance(path, bytes) else str(path)
        if name not in {"", ":memory:"}:
            self._path("write", name.removeprefix("file:").partition("?")[0])

    def _read(self, _event: str, given: tuple[Any, ...]) -> None:
        self._path("read", given[0])

    def _made(self, _event: str, given: tuple[Any, ...]) -> None:
        self._path("write", given[0])

    def _moved(self, event: str, given: tuple[Any, ...]) -> None:
        self._path("link" if event == "os.symlink" else "read", given[0])
        self._path("write", given[1])

    def _started(self, _event: str, given: tuple[Any, ...]) -> None:
        self._tell("program", repr(given))

    def _talked(self, _event: str, given: tuple[Any, ...]) -> None:
        address = given[1] if len(given) > 1 else None
        met = address[0] if isinstance(address, tuple) and address else address
        if isinstance(met, bytes):
            met = met.decode("utf-8", "surrogateescape")
        if isinstance(met, str) and met:
            self._tell("host", self.names.get(met, met))

    def _looked_up(self, _event: str, given: tuple[Any, ...]) -> None:
        met = given[0].decode("utf-8", "replace") if isinstance(given[0], bytes) else given[0]
        if isinstance(met, str) and met:
            self._tell("host", self.names.get(met, met))

    def _imported(self, _event: str, given: tuple[Any, ...]) -> None:
        # A file is named where a native module is loaded.
        file = given[1]
        if isinstance(file, str) and not file.startswith(self._quiet):
            self._tell("native", file)

    def _loaded(self, _event: str, given: tuple[Any, ...]) -> None:
        if not self._is_installed(sys._getframe(2)):  # noqa: SLF001 - who loads it
            name = next((each for each in given if isinstance(each, str)), "")
            self._tell("native", name or "the symbols of this program")

    def _is_installed(self, frame: FrameType | None) -> bool:
        """Whether code of an installed package, and no other, loads a library."""
        while frame is not None:
            file = frame.f_code.co_filename
            if f"{os.sep}ctypes{os.sep}" not in file:
                return file.startswith(self._quiet)
            if frame.f_code.co_name == "<module>":
                return True  # ctypes itself is imported
            frame = frame.f_back
        return True
