"""What failed as GitHub's workflow commands: a mark at the line of the bound that was broken."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.report.comparison import change, value
from memsim.report.failures import broken_text
from memsim.report.marks import UNICODE

if TYPE_CHECKING:
    from memsim.gate.findings import Comparison, Found
    from memsim.report.rows import Failure, Unscored

MOST = 10
"""What GitHub shows of one kind and one step; the report has them all."""

_SERIOUS = {"worse": "error", "unmeasured": "error", "unsure": "warning", "stale": "warning"}


def on_github(environ: Mapping[str, str]) -> bool:
    """Whether the output is read by GitHub Actions."""
    return environ.get("GITHUB_ACTIONS") == "true"


def annotation_lines(
    failures: Sequence[Failure],
    unscored: Sequence[Unscored],
    found: Comparison | None,
    base: Path,
    environ: Mapping[str, str],
) -> list[str]:
    """The commands, errors first.

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
    sorted_lines = [[x for x in lines if x.startswith(f"::{kind} ")][:MOST] for kind in kinds]
    return [line for kind in sorted_lines for line in kind]


def _failed(failures: Sequence[Failure], base: Path, top: Path) -> Iterator[str]:
    for failure in failures:
        missed = ", ".join(probe.probe for probe in failure.missed[:3])
        for broken in failure.broken:
            said = broken_text(broken, UNICODE) + (f"; missed: {missed}" if missed else "")
            place = broken.place if _is_file(broken.place) else failure.case
            yield _command("error", said, title=_title(failure.case), **_at(place, base, top))


def _lacking(unscored: Sequence[Unscored], base: Path, top: Path) -> Iterator[str]:
    for case in unscored:
        said = f"{case.state}: {case.error or 'no reason was given'}"
        yield _command("error", said, title=_title(case.case), **_at(case.case, base, top))


def _compared(cell: Found) -> str:
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
    """The file, and the line where it is known, of a bound's place or a case's id."""
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
