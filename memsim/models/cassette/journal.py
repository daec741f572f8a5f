"""Calls that were paid for and are not yet in their file: kept one by one, whatever happens next.

A line is the CRC-32 of its JSON in eight hex digits, a blank, and the JSON. The file is hidden, and
goes when its calls are in the file that is kept.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path

from memsim.models.cassette import CassetteError, Recording, Said
from memsim.models.cassette.lines import (
    call_record,
    encode_line,
    read_call,
    read_said,
    said_record,
)

Kept = tuple[list[Recording], dict[str, Said]]


class Journal:
    """The calls of one repeat of a case that is being recorded.

    Args:
        path: where it lies; a journal that a killed process left there is continued.

    Raises:
        CassetteError: another process records the same repeat, or the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise unwritable(path, error) from error
        if not _alone(self._file):
            os.close(self._file)
            raise CassetteError("is being recorded by another process", path=path)

    def read(self) -> Kept:
        """The calls that are in it; a line that a killed process left unfinished is none."""
        calls: list[Recording] = []
        said: dict[str, Said] = {}
        for line in self.path.read_bytes().splitlines():
            crc, _, text = line.partition(b" ")
            if crc != b"%08x" % zlib.crc32(text):
                continue
            try:
                record = json.loads(text)
                said |= {s["message"]: read_said(s) for s in record["said"]}
                calls.append(read_call(record["call"]))
            except (ValueError, TypeError, KeyError):
                continue
        return calls, said

    def add(self, recording: Recording, said: Mapping[str, Said]) -> None:
        """Keep a call, at once.

        Raises:
            CassetteError: the file cannot be written.
        """
        messages = [said_record(name, said[name]) for name in recording.messages]
        text = encode_line({"call": call_record(recording), "said": messages})
        # A killed process may have left half a line: this one must not become the end of it.
        line = b"\n%08x %s\n" % (zlib.crc32(text), text)
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self, *, done: bool) -> None:
        """Give it up; once its calls are kept elsewhere it goes."""
        if done:
            self.path.unlink(missing_ok=True)
        os.close(self._file)


def unwritable(path: Path, error: OSError) -> CassetteError:
    """The error for a recording that cannot be written."""
    return CassetteError(f"cannot be written: {error.strerror or error}", path=path)


def _alone(file: int) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
