"""Pages beside the report's, for the cases that had no room in it: one for each scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memsim.errors import RunFolderError
from memsim.report.html.page import viewer_page
from memsim.report.viewer.fragment import BESIDE, fragment, names_beside, playable_of

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.report.fragment import Fragment
    from memsim.report.rows import Summary
    from memsim.runs import Run

ROOM_BESIDE = 12_000_000
"""Characters that the data of one page may take, packed."""


def save_beside(run: Run, summary: Summary, viewer: Fragment | None) -> tuple[Path, ...]:
    """Write the pages for what is not in the report's into the run's folder.

    Args:
        run: as saved.
        summary: its numbers.
        viewer: what is in the report's page, made with `beside`.

    Returns:
        The pages; none where the report's page holds all.

    Raises:
        RunFolderError: the run's records are damaged, or its folder cannot be written.
    """
    there = set() if viewer is None else _keys(viewer)
    names = names_beside([case for case in playable_of(run) if case.key not in there])
    try:
        for old in (run.folder / BESIDE).glob("*.html"):
            old.unlink()
        return tuple(_save(run, summary, name, where) for name, where in names.items())
    except OSError as error:
        said = f"cannot be written: {error.strerror}"
        raise RunFolderError(said, path=run.folder / BESIDE) from error


def _keys(viewer: Fragment) -> set[str]:
    return {entry["key"] for entry in json.loads(viewer.data["reels"])["cases"]}


def _save(run: Run, summary: Summary, scenario: str, where: str) -> Path:
    path = run.folder / where
    path.parent.mkdir(exist_ok=True)
    found = fragment(run, room=ROOM_BESIDE, scenario=scenario)
    if found is not None:
        path.write_bytes(viewer_page(run, summary, found).encode(errors="backslashreplace"))
    return path
