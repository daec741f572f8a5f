"""Write failures as GitHub workflow commands, each at the line of its bound."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memsim.gate.comparison import Comparison, MetricChange
from memsim.report.comparison_text import change, value
from memsim.report.failure_text import broken_text
from memsim.report.layout import UNICODE
from memsim.report.run_summary import CaseFailure, UnscoredCase

# The report on the page of a CI job: appended to the file that `GITHUB_STEP_SUMMARY` names.

VARIABLE = "GITHUB_STEP_SUMMARY"
MOST_BYTES = 1 << 20
"""Most bytes of a step summary; GitHub hides larger ones."""

_CUT = "\n\n*Cut here, as a job's summary holds 1 MiB: report.md in the run's folder is whole.*\n"
_FENCE = "```"


def add_to_job_summary(text: str, environ: Mapping[str, str]) -> str:
    """Append a report to the file that `GITHUB_STEP_SUMMARY` names.

    The text is added at once or not at all, so that jobs which write at the same time do not mix.

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
        data += cut_summary(text, MOST_BYTES - there - len(data))
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


def cut_summary(text: str, room: int) -> bytes:
    """Cut a text to so many bytes in whole lines, with a note on the rest."""
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


MOST_ANNOTATIONS = 10
"""Most commands of one kind that GitHub shows for a step."""

_SERIOUS = {"worse": "error", "unmeasured": "error", "unsure": "warning", "stale": "warning"}


def on_github(environ: Mapping[str, str]) -> bool:
    """Whether GitHub Actions reads the output."""
    return environ.get("GITHUB_ACTIONS") == "true"


def annotation_lines(
    failures: Sequence[CaseFailure],
    unscored: Sequence[UnscoredCase],
    found: Comparison | None,
    base: Path,
    environ: Mapping[str, str],
) -> list[str]:
    """Write the workflow commands, errors first.

    Args:
        failures: cases that broke a bound.
        unscored: cases that could not be scored.
        found: the comparison with a baseline, if there was one.
        base: the project, to which places are relative.
        environ: `GITHUB_WORKSPACE` is the folder that GitHub's paths are relative to.
    """
    top = Path(environ.get("GITHUB_WORKSPACE") or base)
    lines = [*_failed(failures, base, top), *_lacking(unscored, base, top)]
    if found is not None:
        lines += [_compared(cell) for cell in found.cells if cell.word in _SERIOUS]
    kinds = ("error", "warning")
    sorted_lines = [
        [x for x in lines if x.startswith(f"::{kind} ")][:MOST_ANNOTATIONS] for kind in kinds
    ]
    return [line for kind in sorted_lines for line in kind]


def _failed(failures: Sequence[CaseFailure], base: Path, top: Path) -> Iterator[str]:
    for failure in failures:
        missed = ", ".join(probe.probe for probe in failure.missed[:3])
        for broken in failure.broken:
            said = broken_text(broken, UNICODE) + (f"; missed: {missed}" if missed else "")
            place = broken.place if _is_file(broken.place) else failure.case
            yield _command("error", said, title=_title(failure.case), **_at(place, base, top))


def _lacking(unscored: Sequence[UnscoredCase], base: Path, top: Path) -> Iterator[str]:
    for case in unscored:
        said = f"{case.state}: {case.error or 'no reason was given'}"
        yield _command("error", said, title=_title(case.case), **_at(case.case, base, top))


def _compared(cell: MetricChange) -> str:
    said = f"{cell.metric} is {cell.word}"
    if cell.layer:
        then, now = value(cell.metric, cell.base), value(cell.metric, cell.now)
        said = f"{said}: {then} then, {now} now, {change(cell, UNICODE)}"
    elif cell.why:
        said = f"{said}: {cell.why}"
    return _command(_SERIOUS[cell.word], said, title=f"memsim {cell.variant}")


def _title(case: str) -> str:
    return f"memsim {case.partition('::')[2]}"


def _is_file(place: str) -> bool:
    path, _, line = place.rpartition(":")
    return bool(path) and line.isdecimal()


def _at(place: str, base: Path, top: Path) -> dict[str, str]:
    """Find the file and line of a bound's place or a case's id."""
    file, _, line = (
        place.rpartition(":") if "::" not in place else (place.partition("::")[0], "", "")
    )
    path = (base / file).resolve()
    if file.startswith("builtin/") or not path.is_relative_to(top.resolve()):
        return {}
    found = {"file": os.fspath(path.relative_to(top.resolve())).replace(os.sep, "/")}
    return found | ({"line": line} if line else {})


def _command(kind: str, said: str, **properties: str) -> str:
    order = ("file", "line", "title")
    known = ",".join(f"{k}={_property(properties[k])}" for k in order if k in properties)
    return f"::{kind} {known}::{_data(said)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
