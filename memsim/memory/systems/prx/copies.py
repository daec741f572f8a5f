"""What PRX writes into files beside its rows, and what stands there when the rows are gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memsim.memory.state import JSON, reading
from memsim.memory.systems.prx.files import SNAPSHOT, Files, daily_name
from memsim.memory.systems.prx.rows import Row


class Written(NamedTuple):
    """A line of a file, which stays when its row is gone (0.3.0)."""

    name: str
    key: str
    text: str
    sources: tuple[str, ...]


class Copies:
    """The files of a memory.

    Args:
        files: them; None where there are none.
    """

    def __init__(self, files: Files | None) -> None:
        self.files = files
        self._lines: list[Written] = []

    def append(self, key: str, content: str, category: str, now: datetime) -> None:
        """Write an entry."""
        if self.files is not None:
            self.files.append(key, content, category, now)

    def note(
        self, key: str, text: str, category: str, sources: tuple[str, ...], now: datetime
    ) -> None:
        """An entry was written, of which nobody else knows where it came from."""
        if self.files is not None:
            name = "MEMORY.md" if category == "core" else daily_name(now.date())
            self._lines.append(Written(name, key, text, sources))

    @property
    def has_snapshot(self) -> bool:
        """Whether there is a snapshot of core entries."""
        return any(w.name == SNAPSHOT for w in self._lines)

    def snapshot(self, rows: Sequence[Row]) -> None:
        """These rows stand in the snapshot now, and no others."""
        self._lines = [w for w in self._lines if w.name != SNAPSHOT]
        self._lines += [Written(SNAPSHOT, r.key, r.content, r.sources) for r in rows]

    def without(self, rows: Sequence[Row]) -> None:
        """Take what rows say out of the files."""
        if self.files is None:
            return
        for row in rows:
            self.files.without(row.key, frozenset({row.content}))
        gone = {(row.key, row.content) for row in rows}
        self._lines = [w for w in self._lines if (w.key, w.text) not in gone]

    def look_again(self, workspace: Path) -> None:
        """Some files may have been deleted."""

        def is_there(name: str) -> bool:
            path = workspace / name
            return path.exists() or (path.parent / "archive" / path.name).exists()

        there = {name: is_there(name) for name in {w.name for w in self._lines}}
        self._lines = [w for w in self._lines if there[w.name]]

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """What stands in files beside the rows: where it came from, and the text."""
        return ((line.sources, line.text) for line in self._lines)

    def save(self) -> dict[str, JSON]:
        """Files and lines as JSON values."""
        written: list[JSON] = [[w.name, w.key, w.text, list(w.sources)] for w in self._lines]
        files = {} if self.files is None else self.files.save()
        return {"written": written, "files": dict(files)}

    def take(self, read: tuple[list[Written], dict[str, str]]) -> None:
        """Put what was read in the place of what there is."""
        self._lines, files = read
        if self.files is not None:
            self.files.load(files)


def read_copies(saved: Any) -> tuple[list[Written], dict[str, str]]:  # noqa: ANN401 - from a file
    """What `Copies.save` gave: lines and files.

    Raises:
        StateError: it gave no such thing.
    """
    with reading("its files are damaged"):
        lines = [
            Written(_text(name), _text(key), _text(text), tuple(map(_text, sources)))
            for name, key, text, sources in saved["written"]
        ]
        return lines, {_text(name): _text(text) for name, text in saved["files"].items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
