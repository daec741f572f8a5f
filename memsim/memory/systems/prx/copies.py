"""What PRX writes into files beside its rows, and what stands there when the rows are gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memsim.memory.state import JSON, reading
from memsim.memory.systems.prx.files import Files, daily_name
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

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over what `save` gave.

        Raises:
            StateError: it gave no such thing.
        """
        with reading("its files are damaged"):
            lines = [
                Written(_text(n), _text(k), _text(t), tuple(s)) for n, k, t, s in saved["written"]
            ]
            files = {_text(n): _text(t) for n, t in saved["files"].items()}
        self._lines = lines
        if self.files is not None:
            self.files.load(files)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
