"""Code mode: the task and how far it is, files that were mentioned, errors that were met."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memsim.memory.codec import JSON
from memsim.message import EPOCH
from memsim.systems.cogtrix.session_notes import (
    Note,
    NotePart,
    Notes,
    iso_stamp,
    note_part,
    read_stamp,
)

EXTENSIONS = (
    "py|js|ts|tsx|jsx|go|rs|java|cpp|c|h|hpp|md|json|yaml|yml|toml|sql|sh|bash|css|html|xml"
)
_QUOTED = tuple(
    re.compile(rf"{quote}([^{quote}]+\.(?:{EXTENSIONS})){quote}", re.IGNORECASE | re.MULTILINE)
    for quote in ("`", '"', "'")
)
_BARE = re.compile(rf"(?<![\w/.\-])([\w./\-]*\w\.(?:{EXTENSIONS}))(?![\w/])", re.IGNORECASE)
_ERRORS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"((?:Error|Exception|Traceback)[^\n]{0,100})",
        (
            r"((?:TypeError|ValueError|KeyError|AttributeError|ImportError|SyntaxError|NameError)"
            r":\s*[^\n]{0,100})"
        ),
        r"(error\[E\d+\]:[^\n]{0,100})",
        r"(error TS\d+:[^\n]{0,100})",
    )
)
LEAST_PATH = 3
LONGEST_ERROR = 200
SHOWN_FILES, SHOWN_STEPS, SHOWN_CHANGES = 5, 5, 5
SHOWN_ERROR, SHOWN_SNIPPET = 100, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFile:
    """A file that was mentioned; the latest mention has the largest number in `at`."""

    path: str
    at: int
    time: datetime = EPOCH
    snippet: str = ""
    lines: tuple[int, int] | None = None
    sources: tuple[str, ...] = ()


@dataclass(slots=True)
class CodeTask:
    """What is being done, and how far it is."""

    description: Note
    started: datetime = EPOCH
    steps: Notes = field(default_factory=Notes)
    current: Note | None = None
    blockers: Notes = field(default_factory=Notes)

    def notes(self) -> Iterator[Note]:
        """Everything that it notes."""
        yield self.description
        yield from self.steps
        if self.current:
            yield self.current
        yield from self.blockers


class CodeState:
    """What code mode knows.

    A new file takes the place of the one that was mentioned longest ago. `fixed` finds files that
    stand in no quotes as well.
    """

    def __init__(self, max_files: int = 20, max_errors: int = 5, *, fixed: bool = False) -> None:
        self._max_files = max_files
        self._max_errors = max_errors
        self._fixed = fixed
        self._mentions = 0
        self.files: dict[str, CodeFile] = {}
        self.current_file = ""
        self.errors = Notes(max_errors)
        self.changes = Notes()
        self.task: CodeTask | None = None

    def set_task(self, text: str, now: datetime = EPOCH, sources: tuple[str, ...] = ()) -> None:
        """Begin a task; the one before it is forgotten."""
        self.task = CodeTask(Note(text, sources), now)

    def add_progress(self, step: str, sources: tuple[str, ...] = ()) -> None:
        """A step of the task is done."""
        if self.task:
            self.task.steps.add_once(step, sources)

    def set_current_step(self, step: str, sources: tuple[str, ...] = ()) -> None:
        """Say what is being worked on."""
        if self.task:
            self.task.current = Note(step, sources)

    def add_blocker(self, text: str, sources: tuple[str, ...] = ()) -> None:
        """Something is in the way."""
        if self.task:
            self.task.blockers.add_once(text, sources)

    def set_file_context(
        self,
        path: str,
        snippet: str = "",
        lines: tuple[int, int] | None = None,
        now: datetime = EPOCH,
    ) -> None:
        """Show a part of a file."""
        self._mention(path, now, ())
        self.files[path] = replace(self.files[path], snippet=snippet, lines=lines)
        self.current_file = path

    def add_error(self, text: str, sources: tuple[str, ...] = ()) -> None:
        """Note an error."""
        self.errors.add(text, sources)

    def record_change(self, text: str, now: datetime, sources: tuple[str, ...] = ()) -> None:
        """Note a change of a file."""
        self.changes.add(f"{now:%H:%M} - {text}", sources)

    def find_files(self, text: str, now: datetime = EPOCH, sources: tuple[str, ...] = ()) -> None:
        """Track the files that a text mentions."""
        for pattern in (*_QUOTED, *((_BARE,) if self._fixed else ())):
            for path in pattern.findall(text):
                if len(path) >= LEAST_PATH:
                    self._mention(path, now, sources)

    def find_errors(self, text: str, sources: tuple[str, ...] = ()) -> None:
        """Keep the errors that a text tells of."""
        for pattern in _ERRORS:
            for found in pattern.findall(text):
                error = found.strip()[:LONGEST_ERROR]
                if error:
                    self.errors.add_once(error, sources)

    def _mention(self, path: str, now: datetime, sources: tuple[str, ...]) -> None:
        self._mentions += 1
        known = self.files.get(path)
        if known is None:
            if len(self.files) >= self._max_files:
                del self.files[min(self.files, key=lambda p: self.files[p].at)]
            known = CodeFile(path=path, at=0)
        seen = tuple(dict.fromkeys((*known.sources, *sources)))
        self.files[path] = replace(known, at=self._mentions, time=now, sources=seen)

    def parts(self) -> Iterator[NotePart]:
        """What stands before the window, in order."""
        if self.task:
            yield note_part(_task_text(self.task), self.task.notes())
        recent = sorted(self.files.values(), key=lambda f: -f.at)[:SHOWN_FILES]
        if recent:
            sources = tuple(dict.fromkeys(i for f in recent for i in f.sources))
            yield NotePart("**Recent files:** " + ", ".join(f"`{f.path}`" for f in recent), sources)
        if self.current_file in self.files and self.files[self.current_file].snippet:
            yield NotePart(_file_text(self.files[self.current_file]))
        if self.errors:
            lines = "\n".join(f"  • {e.text[:SHOWN_ERROR]}" for e in self.errors)
            yield note_part(f"**Recent errors:**\n{lines}", self.errors)
        changes = self.changes.latest(SHOWN_CHANGES)
        if changes:
            lines = "\n".join(f"  • {c.text}" for c in changes)
            yield note_part(f"**Recent changes:**\n{lines}", changes)

    def notes(self) -> Iterator[Note]:
        """Everything that is kept."""
        if self.task:
            yield from self.task.notes()
        for file in self.files.values():
            yield Note(file.path, file.sources)
        yield from self.errors
        yield from self.changes

    def remove(self, ids: Iterable[str]) -> None:
        """Forget what is from any of these messages; a file others mention as well stays."""
        gone = set(ids)
        for path, file in list(self.files.items()):
            left = tuple(i for i in file.sources if i not in gone)
            if file.sources and not left:
                del self.files[path]
            else:
                self.files[path] = replace(file, sources=left)
        self.errors.remove(gone)
        self.changes.remove(gone)
        if self.task and not gone.isdisjoint(self.task.description.sources):
            self.task = None
        elif self.task:
            self.task.steps.remove(gone)
            self.task.blockers.remove(gone)
            if self.task.current and not gone.isdisjoint(self.task.current.sources):
                self.task.current = None

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            "task": _saved_task(self.task) if self.task else None,
            "files": {f.path: _saved_file(f) for f in self.files.values()},
            "current_file": self.current_file,
            "recent_errors": self.errors.save(),
            "changes_made": self.changes.save(),
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        """Take over a saved state."""
        self.files = {path: _loaded_file(path, f) for path, f in saved.get("files", {}).items()}
        self._mentions = max((f.at for f in self.files.values()), default=0)
        self.current_file = saved.get("current_file") or ""
        self.errors.load(saved.get("recent_errors"))
        self.changes.load(saved.get("changes_made"))
        self.task = _loaded_task(saved["task"]) if saved.get("task") else None


def _task_text(task: CodeTask) -> str:
    lines = [f"**Current Task:** {task.description.text}"]
    steps = task.steps.latest(SHOWN_STEPS)
    if steps:
        lines.append("**Completed:**\n" + "\n".join(f"  ✓ {s.text}" for s in steps))
    if task.current:
        lines.append(f"**Working on:** {task.current.text}")
    if task.blockers:
        lines.append("**Blockers:**\n" + "\n".join(f"  ⚠ {b.text}" for b in task.blockers))
    return "\n".join(lines)


def _file_text(file: CodeFile) -> str:
    long = len(file.snippet) > SHOWN_SNIPPET
    snippet = file.snippet[:SHOWN_SNIPPET] + "..." if long else file.snippet
    where = f" (lines {file.lines[0]}-{file.lines[1]})" if file.lines else ""
    return f"**Current file:** `{file.path}`{where}\n```\n{snippet}\n```"


def _saved_task(task: CodeTask) -> JSON:
    return {
        "description": task.description.saved(),
        "started_at": iso_stamp(task.started),
        "steps_completed": task.steps.save(),
        "current_step": task.current.saved() if task.current else None,
        "blockers": task.blockers.save(),
    }


def _loaded_task(saved: Any) -> CodeTask:  # noqa: ANN401 - from a file
    task = CodeTask(Note.loaded(saved["description"]), read_stamp(saved["started_at"]))
    task.steps.load(saved.get("steps_completed"))
    task.blockers.load(saved.get("blockers"))
    task.current = Note.loaded(saved["current_step"]) if saved.get("current_step") else None
    return task


def _saved_file(file: CodeFile) -> JSON:
    return {
        "path": file.path,
        "last_accessed": iso_stamp(file.time),
        "mention": file.at,
        "snippet": file.snippet or None,
        "line_range": list(file.lines) if file.lines else None,
        "sources": list(file.sources),
    }


def _loaded_file(path: str, saved: Any) -> CodeFile:  # noqa: ANN401 - from a file
    lines = saved.get("line_range")
    return CodeFile(
        path=path,
        at=0 + saved.get("mention", 0),
        time=read_stamp(saved["last_accessed"]),
        snippet=saved.get("snippet") or "",
        lines=(lines[0], lines[1]) if lines else None,
        sources=tuple(saved.get("sources", ())),
    )
