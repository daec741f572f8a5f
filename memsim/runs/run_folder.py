"""Find, name, lock and describe run folders."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memsim.atomic_files import is_beginning, open_itself, sweep, try_lock, write_whole
from memsim.errors import RunFolderError
from memsim.json_input import is_regular, read_json
from memsim.json_types import WrongTypeError, convert
from memsim.runs.record_types import RunInfo

INFO = "run.json"
LOCK = ".lock"
FORMAT = 1
_NEW = ".new-"
_RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{4}")
_SECOND = len("20260105T090000")
_NAMED_BY = "%Y%m%dT%H%M%S"
_TRIES = 100
_GRACE = 60.0
"""Seconds after which a run folder that was never begun counts as abandoned."""


def runs_folder(reports: Path) -> Path:
    """The folder of all runs."""
    return reports / "runs"


def list_runs(reports: Path) -> tuple[Path, ...]:
    """List the folders of all runs, by the time at which they started: newest first."""
    folder = runs_folder(reports)
    if not folder.is_dir():
        return ()
    found = [p for p in folder.iterdir() if not p.name.startswith(".") and is_regular(p / INFO)]
    return tuple(sorted(found, key=lambda p: (_started(p), p.name), reverse=True))


_UNKNOWN = datetime.min.replace(tzinfo=UTC)


def _started(folder: Path) -> datetime:
    """When the run in a folder started: by its `run.json`, else by its name."""
    with suppress(RunFolderError, ValueError):
        started = datetime.fromisoformat(str(read_info(folder).get("created")))
        return started if started.tzinfo else started.replace(tzinfo=UTC)
    if _RUN.fullmatch(folder.name):
        with suppress(ValueError):
            return datetime.strptime(folder.name[:_SECOND], _NAMED_BY).replace(tzinfo=UTC)
    return _UNKNOWN


def start_time(reports: Path) -> datetime:
    """The time at which a new run starts: now, and later than every run before."""
    earlier = list_runs(reports)
    now = datetime.now(UTC)
    if not earlier:
        return now
    # The clock may have been set back since: `latest` still means the run that starts now.
    with suppress(OverflowError):
        return max(now, _started(earlier[0]) + timedelta(milliseconds=1))
    return now


def prepare_reports(reports: Path) -> Path:
    """Make the folder of all runs, hide it from git, and remove abandoned beginnings."""
    folder = runs_folder(reports)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = reports / ".gitignore"
        if not ignore.exists():
            ignore.write_text("runs/\nshards/\n", encoding="utf-8")
        for beginning in folder.glob(f"{_NEW}*"):
            _clear(beginning)
    except OSError as error:
        raise unwritable(reports, error) from error
    return folder


def _clear(beginning: Path) -> None:
    # One that is only just being made has no lock yet; one that is old enough never will.
    if time.time() - beginning.stat().st_mtime < _GRACE:
        return
    if (held := RunLock.take(beginning)) is not None:
        held.release()
        shutil.rmtree(beginning, ignore_errors=True)


def unwritable(path: Path, error: OSError) -> RunFolderError:
    """Make the error for a folder or file that cannot be written."""
    return RunFolderError(f"cannot be written: {error.strerror or error}", path=path)


def create_run(folder: Path, info: Mapping[str, object]) -> tuple[Path, RunLock]:
    """Make a new locked run folder, which appears together with its `run.json`."""
    beginning = _begun(folder)
    lock: RunLock | None = None
    try:
        lock = RunLock.take(beginning)
        if lock is None:
            raise RunFolderError("is in use", path=beginning)
        write_info(beginning, info)
        return _named(beginning, folder), lock
    except OSError as error:
        if lock is not None:
            lock.release()
        shutil.rmtree(beginning, ignore_errors=True)
        raise unwritable(folder, error) from error


def _begun(folder: Path) -> Path:
    """Make a folder that no other process has begun."""
    for _ in range(_TRIES):
        beginning = folder / f"{_NEW}{secrets.token_hex(4)}"
        try:
            beginning.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise unwritable(folder, error) from error
        return beginning
    raise RunFolderError("cannot be written: every name is taken", path=folder)


def _named(beginning: Path, folder: Path) -> Path:
    while True:
        named = folder / _new_name(folder)
        try:
            return beginning.rename(named)
        except OSError:
            if not named.exists():
                raise
            # Another run was given this very name since the others were looked at.


def _new_name(folder: Path) -> str:
    # Runs begun in one second are numbered on, so that the newest is always the last by name; so
    # are those of an hour that the clock goes through twice.
    latest = max((p.name[:_SECOND] for p in folder.iterdir() if _RUN.fullmatch(p.name)), default="")
    second = max(latest, datetime.now(UTC).strftime(_NAMED_BY))
    taken = [p.name[len(second) + 1 :] for p in folder.glob(f"{second}-*")]
    numbers = [int(t, 16) for t in taken if len(t) == 4 and t.isalnum() and _is_hex(t)]
    return f"{second}-{max(numbers) + 1 if numbers else secrets.randbelow(0x8000):04x}"


def _is_hex(text: str) -> bool:
    return all(c in "0123456789abcdef" for c in text)


def write_info(folder: Path, info: Mapping[str, object]) -> None:
    """Write `run.json` in one step, so that a crash leaves the old or the new one."""
    text = json.dumps(info, ensure_ascii=False, indent=1) + "\n"
    sweep(folder / INFO)
    write_whole(folder / INFO, text.encode(), private=False)


def only_begun(names: Iterable[str]) -> bool:
    """Whether these names are those of a run that was killed while it began."""
    return all(name == LOCK or is_beginning(name, of=INFO) for name in names)


def read_info(folder: Path) -> dict[str, object]:
    """Read `run.json`."""
    path = folder / INFO
    try:
        info: dict[str, object] = read_json(path, RunFolderError, prefix="is damaged: ")
    except FileNotFoundError as error:
        raise RunFolderError("is not a run: it has no run.json", path=folder) from error
    if not isinstance(info, dict) or "memsim" not in info or "fingerprint" not in info:
        raise RunFolderError("was not written by memsim", path=path)
    if info["memsim"] != FORMAT:
        shown = ascii(info["memsim"])[:40]
        said = f"is of format {shown}, and this memsim reads format {FORMAT}"
        raise RunFolderError(said, path=path)
    try:
        convert(info, RunInfo)
    except WrongTypeError as error:
        raise RunFolderError(f"is damaged: {error}", path=path) from error
    return info


class RunLock:
    """The lock of a run folder; it ends with its process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, folder: Path) -> RunLock | None:
        """Lock the folder for this process; None while another process has it."""
        descriptor = open_itself(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if not try_lock(descriptor):
                os.close(descriptor)
                return None
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        except OSError:
            os.close(descriptor)
            raise
        return cls(descriptor)

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def holder(folder: Path) -> str:
    """Read the id of the process that holds a folder's lock."""
    try:
        return (folder / LOCK).read_text(encoding="utf-8").strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        return "unknown"
