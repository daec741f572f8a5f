"""The Markdown of AgenticX's workspace, and what its hook writes there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from memsim.errors import LocatedError, StateError
from memsim.json_input import is_folder, is_regular, read_bytes
from memsim.memory.codec import JSON, reading
from memsim.memory.compaction.merge import deduplicated

# How AgenticX cuts Markdown for its index: by heading, in windows of lines.

PLAIN, LONG = 40, 60
"""Lines of a piece without headings, and of a section."""

_HEADING = re.compile(r"^#{1,6}\s")


@dataclass(frozen=True, slots=True)
class MarkdownPiece:
    """Lines `start` to `end` of a file, counted from 1, as one stripped text."""

    start: int
    end: int
    text: str


def markdown_pieces(text: str) -> list[MarkdownPiece]:
    """The pieces of a file, in its order, without the empty ones."""
    lines = text.splitlines()
    heads = [place for place, line in enumerate(lines) if _HEADING.match(line)]
    if not heads:
        spans = [(n, min(n + PLAIN, len(lines))) for n in range(0, len(lines), PLAIN)]
    else:
        starts = heads if heads[0] == 0 else [0, *heads]
        sections = zip(starts, [*starts[1:], len(lines)], strict=True)
        spans = [span for start, end in sections for span in _cut(lines, start, end)]
    found = (MarkdownPiece(a + 1, b, "\n".join(lines[a:b]).strip()) for a, b in spans)
    return [piece for piece in found if piece.text]


def _cut(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONG:
        stop = start + LONG
        blank = next((n for n in range(stop - 1, start, -1) if not lines[n].strip()), stop)
        yield start, blank
        start = blank
        while start < end and not lines[start].strip():
            start += 1
    if start < end:
        yield start, end


WORKSPACE = "~/.agenticx/workspace"
DEFAULT_WORKSPACE_MEMORY_DB = "~/.agenticx/memory/main.sqlite"
"""Where the index of workspaces is kept."""

ROOT_VARIABLE = "AGX_WORKSPACE_ROOT"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """The `memory:` part of `~/.agenticx/config.yaml`; nothing reads its `backend`.

    Raises:
        ValueError: a value is no text, or empty.
    """

    backend: str = "sqlite"
    path: str = WORKSPACE

    def __post_init__(self) -> None:
        for name in ("backend", "path"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise ValueError(f"memory.{name} is {value!r}: it is a text")


def memory_settings(config: Mapping[str, Any]) -> MemorySettings:
    """Read the `memory:` part of a configuration. Raises ValueError for what it does not take."""
    told = config.get("memory") or {}
    if not isinstance(told, Mapping):
        raise ValueError("memory is no part of the settings")  # noqa: TRY004 - a user's mistake
    known = {field.name for field in fields(MemorySettings)}
    for name in told:
        if name not in known:
            raise ValueError(f"memory takes no {name!r}: it takes {', '.join(sorted(known))}")
    return MemorySettings(**told)


def workspace_dir(session: str | None, environment: Mapping[str, str], home: Path) -> Path:
    """Where the hook writes: the session's workspace, else the variable's, else the user's home."""
    return Path(session or environment.get(ROOT_VARIABLE) or home)


MEMORY = "MEMORY.md"
ROOTS = (MEMORY, "IDENTITY.md", "USER.md", "SOUL.md")
"""In the order in which they are indexed."""

DAILY = "memory"
DAILY_LIMIT, LONG_TERM_LIMIT, CROWDED = 8000, 4000, 2000
PROMOTED = 4
SAME = 80
"""Characters by which two items of a day are the same."""


def _text(path: Path) -> str:
    try:
        return read_bytes(path, LocatedError).decode()
    except (LocatedError, UnicodeDecodeError) as error:
        raise StateError(f"{path}: cannot be read: {error}") from error


class Pages:
    """The files of one workspace, by their path in it; MEMORY.md is added to only where it exists.

    Args:
        fixed: a full day does not keep facts out of MEMORY.md, as it does in the package, and what
            begins alike is not the same.
    """

    def __init__(self, texts: dict[str, str] | None = None, *, fixed: bool = False) -> None:
        self.texts = dict(texts or {})
        self._fixed = fixed

    @classmethod
    def of(cls, folder: Path) -> Pages:
        """The files of a workspace's folder, as far as they are its memory.

        Raises StateError where one cannot be read.
        """
        days = sorted((folder / DAILY).glob("*.md")) if is_folder(folder) else []
        there = [p for p in (*(folder / name for name in ROOTS), *days) if is_regular(p)]
        return cls({p.relative_to(folder).as_posix(): _text(p) for p in there})

    def write(self, folder: Path) -> None:
        """Write them into a folder, which is made where there is none."""
        for name, text in self.texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    def indexed(self) -> Iterator[tuple[str, str]]:
        """The files that a search can find, with their texts, in the order of the index."""
        days = sorted(n for n in self.texts if n.startswith(f"{DAILY}/") and n.endswith(".md"))
        for name in (*ROOTS, *days):
            if name in self.texts:
                yield name, self.texts[name]

    def keep(self, lines: Sequence[str], day: str) -> tuple[str, ...]:
        """Note facts in the day's file, and the first four in MEMORY.md; return the changed files.

        A day that is full takes nothing more, and then MEMORY.md gets nothing either.
        """
        name = daily(day)
        block = f"## Session Facts ({day})\n" + "\n".join(lines) + "\n\n"
        before = self.texts.get(name, "")
        full = len(before) + len(block) > DAILY_LIMIT
        if full and not self._fixed:
            return ()
        written = [] if full else [name]
        if not full:
            self.texts[name] = before + block
        durable = self.texts.get(MEMORY)
        if durable is not None and len(durable) < LONG_TERM_LIMIT:
            first = "".join(f"{line}\n" for line in lines[:PROMOTED])
            self.texts[MEMORY] = f"{durable}\n## Auto-extracted ({day})\n{first}"
            written.append(MEMORY)
        return tuple(written)

    def compact_daily(self, day: str) -> None:
        """Drop a day's repeated items where its file has become long: `_maybe_compact_daily`."""
        text = self.texts.get(daily(day), "")
        if len(text) <= CROWDED:
            return
        lines = "\n".join(line.strip() for line in text.strip().splitlines())
        fewer = deduplicated(lines, len(lines) if self._fixed else SAME).strip() + "\n"
        if len(fewer) < len(text):
            self.texts[daily(day)] = fewer

    def append(self, target: str, note: str, day: str) -> bool:
        """`memory_append`: add a note to the day's file or to MEMORY.md, where it exists."""
        name = MEMORY if target == "long_term" else daily(day)
        if name not in self.texts:
            return False
        self.texts[name] += f"\n- {note}\n" if target == "long_term" else f"\n  - {note}\n"
        return True

    def erase(self, lines: Sequence[str]) -> None:
        """Take lines out of every file."""
        gone = {line.strip() for line in lines}
        for name, text in self.texts.items():
            kept = [n for n in text.splitlines(keepends=True) if n.strip() not in gone]
            self.texts[name] = "".join(kept)

    def save(self) -> dict[str, JSON]:
        """The files as JSON values."""
        return {name: self.texts[name] for name in sorted(self.texts)}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved files. Raises StateError where they are damaged."""
        with reading("its files are damaged"):
            self.texts = {"" + name: "" + text for name, text in saved.items()}


def daily(day: str) -> str:
    """The name of a day's file."""
    return f"{DAILY}/{day}.md"
