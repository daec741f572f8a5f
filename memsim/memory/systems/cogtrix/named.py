"""Sessions by their names, each in the files that its name gives it.

A session `a` keeps its summary in `a_hybrid.json`, which is the history of a session `a_hybrid`:
who opens the one overwrites the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from memsim.memory.conversation import digest_of
from memsim.memory.state import JSON, reading
from memsim.memory.systems.cogtrix.records import paths

if TYPE_CHECKING:
    from memsim.memory.systems.cogtrix.session import Session


class Named:
    """The sessions of a folder; one that is opened goes on with what its files hold.

    Args:
        make: makes an empty session.
        apart: whether everybody's sessions have names of their own, no two of which share a file.
    """

    def __init__(self, make: Callable[[], Session], *, apart: bool) -> None:
        self._make = make
        self._apart = apart
        self._live: dict[str, Session] = {}
        self._files: dict[str, JSON] = {}
        self._unwritten: dict[str, None] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._live.values()))

    def name(self, principal: str, session: str) -> str:
        """What a session's files are called after."""
        return digest_of(principal, session) if self._apart else session

    def of(self, name: str) -> Session:
        """A session, to write to."""
        if name not in self._live:
            self._write()
            self._live[name] = self._opened(name)
        self._unwritten.pop(name, None)
        self._unwritten[name] = None
        return self._live[name]

    def seen_by(self, name: str) -> Session:
        """A session, to read."""
        return self._live.get(name) or self._opened(name)

    def visible(self, viewer: str | None) -> Iterator[Session]:
        """The sessions in which a viewer has spoken; None sees all."""
        for session in self:
            if viewer is None or session.own(viewer):
                yield session

    def save(self) -> JSON:
        """Names and files as JSON values."""
        self._write()
        return {"names": [*self._live], "files": dict(self._files)}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved files in place of the present ones.

        Raises:
            StateError: they are none.
        """
        with reading("it is not a folder of sessions"):
            names, files = [*saved["names"]], dict(saved["files"])
        self._files, self._unwritten = files, {}
        self._live = {name: self._opened(name) for name in names}

    def _opened(self, name: str) -> Session:
        session = self._make()
        parts = {part: self._files.get(path) for part, path in _paths(name).items()}
        if any(parts.values()):
            history: Any = parts["history"]
            if not isinstance(history, list) and "messages" not in (history or {}):
                parts["history"] = []  # another session's file, in which no message is found
            session.load(parts)
        return session

    def _write(self) -> None:
        """Bring the files up to date, those of the session used last at last."""
        for name in self._unwritten:
            saved: Any = self._live[name].save()
            self._files |= {path: saved[part] for part, path in _paths(name).items()}
        self._unwritten = {}


def _paths(name: str) -> dict[str, str]:
    return {part: path.as_posix() for part, path in paths(PurePosixPath(), name).items()}
