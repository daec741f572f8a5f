"""The Markdown of AgenticX's workspace, and what its hook writes there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memsim.memory.compaction.duplicates import deduplicated
from memsim.memory.state import JSON, reading

MEMORY = "MEMORY.md"
ROOTS = (MEMORY, "IDENTITY.md", "USER.md", "SOUL.md")
"""In the order in which they are indexed."""

DAILY = "memory"
DAILY_LIMIT, LONG_TERM_LIMIT, CROWDED = 8000, 4000, 2000
PROMOTED = 4
SAME = 80
"""Characters by which two items of a day are the same."""


class Pages:
    """The files of one workspace, by their path in it.

    Args:
        texts: what is there to begin with; MEMORY.md is only ever added to where it is.
        fixed: a full day does not keep facts out of MEMORY.md, as it does in the package, and what
            begins alike is not the same.
    """

    def __init__(self, texts: dict[str, str] | None = None, *, fixed: bool = False) -> None:
        self.texts = dict(texts or {})
        self._fixed = fixed

    @classmethod
    def of(cls, folder: Path) -> Pages:
        """The files of a workspace's folder, as far as they are its memory."""
        days = sorted((folder / DAILY).glob("*.md")) if folder.is_dir() else []
        there = [*(folder / name for name in ROOTS), *days]
        return cls(
            {p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in there if p.is_file()}
        )

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
        """Note a turn's facts: in the day's file, and the first four in MEMORY.md.

        A day that is full takes nothing more, and then MEMORY.md gets nothing either.

        Args:
            lines: the facts.
            day: such as 2026-01-05.

        Returns:
            The files that they were added to.
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
        """Take over saved files.

        Raises:
            StateError: they are none.
        """
        with reading("its files are damaged"):
            self.texts = {"" + name: "" + text for name, text in saved.items()}


def daily(day: str) -> str:
    """The name of a day's file."""
    return f"{DAILY}/{day}.md"
