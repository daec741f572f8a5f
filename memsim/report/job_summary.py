"""The report on the page of a CI job: appended to the file that `GITHUB_STEP_SUMMARY` names."""

from __future__ import annotations

import os
from collections.abc import Mapping

VARIABLE = "GITHUB_STEP_SUMMARY"
MOST = 1 << 20
"""Bytes that GitHub shows of one step; of a step that wrote more it shows nothing."""

_CUT = "\n\n*Cut here, as a job's summary holds 1 MiB: report.md in the run's folder is whole.*\n"
_FENCE = "```"


def add_to_job_summary(text: str, environ: Mapping[str, str]) -> str:
    """Append a report where the environment asks for it, after what is there already.

    The text is added at once or not at all, so that jobs which write at the same time do not mix.

    Args:
        text: Markdown, in which nothing of strangers is markup.
        environ: of the process.

    Returns:
        What went wrong, in one line; empty if nothing did or nothing was asked for. A summary that
        cannot be written is no reason to fail.
    """
    path = environ.get(VARIABLE, "")
    if not path:
        return ""
    try:
        return _append(path, text)
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        said = error.strerror if isinstance(error, OSError) else error
        return f"{VARIABLE}: {path}: cannot be written: {said}"


def _append(path: str, text: str) -> str:
    # A pipe that nobody reads would wait for ever: it is refused instead.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
    file = os.open(path, flags, 0o644)
    try:
        there = os.fstat(file).st_size
        data = b"" if not there or _ends_line(file, there) else b"\n"
        data += cut(text, MOST - there - len(data))
        if not data.strip():
            return f"{VARIABLE}: {path}: is full, and the report was left out"
        if os.write(file, data) < len(data):
            return f"{VARIABLE}: {path}: the report did not fit"
    finally:
        os.close(file)
    return ""


def _ends_line(file: int, size: int) -> bool:
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == b"\n"


def cut(text: str, room: int) -> bytes:
    """A text of at most so many bytes: whole lines from its beginning, and a note on the rest."""
    data = text.encode("utf-8", "replace")
    if len(data) <= room:
        return data
    closing = f"\n{_FENCE}{_CUT}".encode()
    end = data.rfind(b"\n", 0, max(0, room - len(closing)))
    if end <= 0:
        return b""
    kept = data[:end]
    opened = sum(line.startswith(_FENCE.encode()) for line in kept.split(b"\n")) % 2
    return kept + (closing if opened else _CUT.encode())
