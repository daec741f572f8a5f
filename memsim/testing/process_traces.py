"""Notice what code leaves behind in its process: threads, open files, settings, foreign files."""

from __future__ import annotations

import decimal
import locale
import os
import random
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
_FILES = Path("/proc/self/fd")
_HARMLESS = ("/dev/", "/proc/")
_CHANGES = frozenset({"os.mkdir", "os.rename", "os.truncate"})


class WriteWatch:
    """Lists the files that are written outside given folders; it cannot be taken off again."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._on = False
        self.outside: list[str] = []
        sys.addaudithook(self._hear)

    def __enter__(self) -> Self:
        self._on = True
        return self

    def __exit__(self, *_: object) -> None:
        self._on = False

    def _hear(self, event: str, given: tuple[object, ...]) -> None:
        if not self._on or event not in {"open", "sqlite3.connect", *_CHANGES}:
            return
        path = given[0]
        if event == "open" and not (isinstance(given[2], int) and given[2] & WRITES):
            return
        if isinstance(path, bytes | str):
            self._note(os.fsdecode(path))

    def _note(self, path: str) -> None:
        if path in {"", ":memory:"} or path.startswith("file:"):
            return
        whole = os.path.realpath(path)
        inside = self._prefix in whole
        if not inside and not (whole.startswith(_HARMLESS) and "shm" not in whole):
            self.outside.append(path)


def state_of_process() -> Mapping[str, object]:
    """What every part of a process shares, by name."""
    state: dict[str, object] = {
        "the global random numbers": random.getstate(),
        "the environment variables": dict(os.environ),
        "the working directory": str(Path.cwd()),
        "the locale": locale.setlocale(locale.LC_ALL),
        "the time zone": time.tzname,
        "the recursion limit": sys.getrecursionlimit(),
        "the precision of decimals": decimal.getcontext().prec,
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        state["the global random numbers of numpy"] = repr(numpy.random.get_state())
    return state


def changed(before: Mapping[str, object]) -> list[str]:
    """Names of what is not as it was before."""
    now = state_of_process()
    return [name for name, value in before.items() if now[name] != value]


def threads() -> set[int]:
    """Threads that run, by their numbers."""
    return {thread.ident or 0 for thread in threading.enumerate()}


def names_of(numbers: set[int]) -> list[str]:
    """Names of threads."""
    return sorted(t.name for t in threading.enumerate() if t.ident in numbers)


def open_files() -> Mapping[str, str]:
    """What is open, by its number; empty where the system does not tell."""
    found: dict[str, str] = {}
    if not _FILES.is_dir():
        return found
    for file in list(_FILES.iterdir()):
        with suppress(OSError):
            found[file.name] = str(file.readlink())
    return found


def notes_of(
    state: Mapping[str, object],
    files: Mapping[str, str],
    before: set[int],
    outside: Sequence[str],
) -> list[str]:
    """What was left behind since then, one sentence each.

    Args:
        state: what `state_of_process` gave.
        files: what `open_files` gave.
        before: what `threads` gave.
        outside: files that were written outside of the folder.
    """
    notes = [f"it changes {name}" for name in changed(state)]
    notes += [f"it leaves the thread {name!r}" for name in names_of(threads() - before)]
    opened = opened_since(files)
    notes += [f"it leaves {path} open" for path in opened if "memsim-check-" in path]
    return notes + [f"it writes {path}, outside its folder" for path in dict.fromkeys(outside)]


def limit_files(*, full: bool) -> None:
    """Let every write to a file fail, or work again."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0 if full else hard, hard))


def opened_since(before: Mapping[str, str]) -> list[str]:
    """What is open now and was not before."""
    return sorted(
        target
        for number, target in open_files().items()
        if before.get(number) != target and not target.startswith(("/proc/", "pipe:"))
    )
