"""Write files whole or not at all, and lock files between threads and processes.

The locks are the kernel's: a lock ends with its process, and a leftover lock file means nothing.
The package `filelock` is not used: its import takes 110 ms of processor time, five times that of
`memsim.memory`, and each short command would pay it. All locks of memsim use `try_lock`,
`wait_for_lock` and `unlock` of this module.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from memsim.errors import StoreError

WAIT = 10.0
"""Default number of seconds to wait for a lock."""

GRACE = 60.0
"""Seconds after which an unfinished file without a lock counts as abandoned."""

TEMPORARY = ".tmp"
"""Ending of the names of unfinished files."""

_POLL = 0.005
_TRIES = 100


def write_whole(path: Path, data: bytes, *, private: bool = True) -> None:
    """Replace the content of a file: readers see the old bytes or the new ones, never a mixture.

    The bytes are on the disk when this returns. An existing file keeps its permissions.

    Args:
        path: the file; its folder exists.
        data: the new content.
        private: whether only the owner can read a new file.

    Raises:
        OSError: the file could not be written; then the old content is unchanged.
    """
    folder = path.parent
    descriptor, name = _beginning(path, 0o600 if private else 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            with contextlib.suppress(FileNotFoundError):
                Path(name).chmod(path.stat().st_mode & 0o7777)
            os.fsync(file.fileno())
        os.replace(name, path)  # noqa: PTH105 - tests make it fail here, as they do fsync
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - as above
        raise
    sync_folder(folder)


def _beginning(path: Path, mode: int) -> tuple[int, str]:
    """Create a temporary file beside a file, and return its descriptor and name."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for _ in range(_TRIES):
        name = str(path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY}"))
        with contextlib.suppress(FileExistsError):
            return os.open(name, flags, mode), name
    raise FileExistsError(errno.EEXIST, "every name is taken", str(path))


def open_itself(path: str | Path, flags: int, mode: int = 0o666) -> int:
    """Open a file to write it: a link is not followed, and a pipe is not waited for."""
    more = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"))
    return os.open(path, flags | sum(more), mode)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    if sys.platform == "win32":
        return  # Windows cannot open a folder
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(path: Path, grace: float = 0.0) -> int:
    """Remove temporary files that dead writers left beside a file.

    Args:
        path: the file.
        grace: seconds for which a writer may still be active; 0 if the caller holds the lock.
    """
    left = [
        Path(entry.path)
        for entry in os.scandir(path.parent)
        if is_beginning(entry.name, of=path.name)
    ]
    found = [beginning for beginning in left if not grace or _age(beginning) >= grace]
    for beginning in found:
        beginning.unlink(missing_ok=True)
    return len(found)


def is_beginning(name: str, *, of: str) -> bool:
    """Whether a name is that of a temporary file of another file."""
    return name.startswith(f".{of}.") and name.endswith(TEMPORARY)


def _age(path: Path) -> float:
    # abs: a clock that was set back must not keep the file for ever.
    try:
        return abs(time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return 0.0


@contextlib.contextmanager
def locked(path: Path, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock of a file against all other threads and processes.

    The lock is a file beside it, which contains the id of the process that holds it.

    Raises:
        StoreError: another process held the lock all the time, or the lock file cannot be written.
    """
    try:
        descriptor = open_itself(lock_of(path), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        _take(descriptor, path, wait)
        try:
            yield
        finally:
            unlock(descriptor)
    finally:
        os.close(descriptor)


def lock_of(path: Path) -> Path:
    """The path of the lock file of a file."""
    return path.with_name(f"{path.name}.lock")


def holder(path: Path) -> str:
    """The id of the process that locked a file last, or `unknown`."""
    try:
        return lock_of(path).read_text(encoding="ascii").strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        return "unknown"


def unwritable(path: Path, error: OSError) -> StoreError:
    """The error for a file that cannot be written; it names the file but none of its content."""
    return StoreError(f"{path}: cannot be written: {error.strerror or type(error).__name__}")


def _take(descriptor: int, path: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    try:
        while not try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise StoreError(f"{path}: is in use by process {holder(path)}")
            time.sleep(_POLL)
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{os.getpid()}\n".encode())
    except OSError as error:
        raise unwritable(path, error) from error


if sys.platform == "win32":
    import msvcrt

    _LOCK_OFFSET = 1 << 30
    # Windows forbids others to read a locked range, so the range lies behind the process id.

    def try_lock(descriptor: int) -> bool:
        """Lock an open file; False while another process or descriptor holds the lock."""
        return _lock_range(descriptor, msvcrt.LK_NBLCK)

    def wait_for_lock(descriptor: int) -> None:
        """Lock an open file, and wait until its holder releases it."""
        while not try_lock(descriptor):
            time.sleep(_POLL)

    def unlock(descriptor: int) -> None:
        """Release the lock of an open file."""
        _lock_range(descriptor, msvcrt.LK_UNLCK)

    def _lock_range(descriptor: int, mode: int) -> bool:
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, mode, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, position, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file; False while another process or descriptor holds the lock."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait_for_lock(descriptor: int) -> None:
        """Lock an open file, and wait until its holder releases it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def unlock(descriptor: int) -> None:
        """Release the lock of an open file.

        Closing the file is not enough: a process that was forked meanwhile would keep the lock.
        """
        fcntl.flock(descriptor, fcntl.LOCK_UN)
