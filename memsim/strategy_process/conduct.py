"""Judge what a strategy's process was seen to do: what makes a result invalid, and what is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

_NAMED = 3
"""Files and hosts that are named where a result is invalid."""


_NATIVE = "loaded native code"


class Conduct:
    """What one process was seen to do.

    Args:
        guarded: files and folders that the strategy has no business with.
        offline: whether it may talk to those hosts only that it declares, and to services.

    Attributes:
        pid: of the process.
        folders: where it may write.
        allowed: hosts that it may talk to.
    """

    def __init__(self, guarded: Iterable[Path], *, offline: bool) -> None:
        self._guarded = tuple(path.resolve() for path in guarded)
        self._offline = offline
        self.pid = 0
        self.folders: dict[Path, None] = {}
        self.allowed: set[str] = set()
        self._breaches: dict[str, None] = {}
        self._hosts: dict[str, None] = {}
        self._written: dict[Path, None] = {}

    @property
    def breach(self) -> str:
        """What makes the result invalid, such as a file that was read; empty for nothing."""
        talked = [h for h in self._hosts if h not in self.allowed] if self._offline else []
        read = [b for b in self._breaches if not b.startswith("listed")]
        read += [f"talked to {host}" for host in talked]
        return "; ".join((read or [*self._breaches])[:_NAMED])

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that it talked to, but for services that it was given."""
        return tuple(sorted(self._hosts))

    def serve(self, services: Mapping[str, str]) -> None:
        """Note addresses of servers that it was given."""
        for address in services.values():
            self.allowed.add(urlsplit(address).hostname or address)

    def note(self, report: str) -> None:
        """Take a report of the watch."""
        kind, _, met = report.partition(" ")
        if kind in {"read", "write", "link"}:
            self._path(kind, Path(met))
        elif kind == "program":
            self._breach(
                *(f"started a program with {p.name}" for p in self._guarded if str(p) in met)
            )
        elif kind == "native":
            if not any(b.startswith(_NATIVE) for b in self._breaches):
                self._breach(f"{_NATIVE}: {met}")
        elif kind == "host" and met:
            self._hosts[met] = None

    def blind(self) -> None:
        """Note that it closed the pipe of its watch."""
        self._breach("closed the pipe that reports what it opens")

    def written(self) -> Iterator[Path]:
        """Regular files that it wrote outside of its folders, and that are there."""
        for path in [*self._written]:
            if path.is_file() and not any(path.is_relative_to(own) for own in self.folders):
                yield path

    def _breach(self, *found: str) -> None:
        self._breaches.update(dict.fromkeys(found[:1]))

    def _path(self, kind: str, named: Path) -> None:
        try:
            path = named.resolve()
        except (OSError, RuntimeError, ValueError):
            return
        # A link may be gone by now, so that its name leads nowhere.
        for each in dict.fromkeys((path, named)):
            self._touched(kind, each)
        if kind == "write" and (not path.is_relative_to("/dev") or "shm" in path.parts):
            self._written[path] = None

    def _touched(self, kind: str, path: Path) -> None:
        if path.is_relative_to("/proc") and not path.is_relative_to(f"/proc/{self.pid}"):
            if path.parts[2:3] and path.parts[2].isdigit():
                self._breach("/".join(("read ", "proc", "PID", *path.parts[3:])))
            return
        for guarded in self._guarded:
            if path == guarded or guarded in path.parents or _same_file(path, guarded):
                self._breach(f"{'listed' if path.is_dir() else 'read'} {path.name}")
            elif kind == "link" and path in guarded.parents:
                self._breach(f"linked {path}")


def _same_file(one: Path, other: Path) -> bool:
    try:
        return other.is_file() and one.samefile(other)
    except OSError:
        return False
