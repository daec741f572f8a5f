"""Keeping file tools away from the memory's own files: what is not told is not read off the disk.

What a path means is decided as the system would, and as a careless tool might: links are followed,
and so are the spellings that a tool could turn into another path before it opens it. Where that
cannot be decided, the answer is that the path is protected.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from urllib.parse import unquote

_SPELLINGS = 64
"""Other spellings of a path that are looked at; one that has more is protected."""

_Identity = tuple[int, int]


class Guard:
    """Knows where a memory keeps its files.

    Protected is what is at or below one of its roots, under whatever name: through symbolic and
    hard links, `..`, another case or Unicode form, percent-encoding, `file:` URLs, `~`, variables,
    or `/proc`. Beside a root that is a file, so are all whose names begin with its own: what SQLite
    keeps there, locks, copies of damaged states, backups.

    A check and an opening are two steps, between which a link can be turned. A tool that opens
    first and then asks about the descriptor is safe from that. Raises `ValueError` if one of them
    is no path.
    """

    def __init__(self, roots: Iterable[Path | str]) -> None:
        self._roots: list[str] = []
        for root in roots:
            try:
                # Not resolved: what a root is called is protected as well as where it leads.
                place = os.path.join(os.getcwd(), os.path.normpath(root))  # noqa: PTH109, PTH118
                self._roots += [place, os.path.realpath(place)]
            except (OSError, ValueError):
                raise ValueError("a root of the memory is no path") from None
        self._roots = list(dict.fromkeys(self._roots))

    def is_protected(
        self,
        path: str | bytes | os.PathLike[str] | os.PathLike[bytes] | int,
        *,
        base: Path | str | None = None,
        recursive: bool = False,
    ) -> bool:
        """Whether a tool has to leave a path alone.

        Args:
            path: as the tool was given it, or a descriptor that it has opened.
            base: what a relative path starts from; the working folder unless told otherwise.
            recursive: whether the tool goes into folders, as searching and archiving do. Then a
                folder that a root is somewhere below is protected as well.
        """
        try:
            if isinstance(path, int):
                return self._is_open(path, recursive=recursive)
            start = os.fspath(base) if base is not None else os.getcwd()  # noqa: PTH109 - a str
            told = os.fsdecode(path)
            return any(
                self._leads_in(os.path.join(start, spelling), recursive=recursive)  # noqa: PTH118
                for spelling in _spellings(told)
            )
        except (OSError, ValueError, RuntimeError, TypeError):
            return True

    def _is_open(self, descriptor: int, *, recursive: bool) -> bool:
        if self._is_one_of_them(os.fstat(descriptor)):
            return True
        place = f"/proc/self/fd/{descriptor}"
        return os.path.lexists(place) and self._leads_in(place, recursive=recursive)

    def _leads_in(self, place: str, *, recursive: bool) -> bool:
        real = os.path.realpath(place)
        return (
            _is_of_a_process(real)
            or self._is_named_in(real, recursive=recursive)
            # Some tools take `..` out of a path before links are followed.
            or self._is_named_in(os.path.normpath(place), recursive=recursive)
            or self._is_same(real)
        )

    def _is_named_in(self, name: str, *, recursive: bool) -> bool:
        parts = _folded(name)
        for root in self._roots:
            its = _folded(root)
            if parts[: len(its)] == its:
                return True
            if recursive and its[: len(parts)] == parts:
                return True
            if not os.path.isdir(root) and _is_beside(parts, its):  # noqa: PTH112 - a str
                return True
        return False

    def _is_same(self, real: str) -> bool:
        """Whether what is there, or a folder that it is in, is of the memory by another name."""
        found = _status(real)
        if found is not None and self._is_one_of_them(found):
            return True
        folders = {_identity(s) for p in PurePath(real).parents if (s := _status(str(p)))}
        return any((s := _status(root)) and _identity(s) in folders for root in self._roots)

    def _is_one_of_them(self, found: os.stat_result) -> bool:
        wanted = _identity(found)
        if any((s := _status(root)) and _identity(s) == wanted for root in self._roots):
            return True
        # Only what has several names can be of the memory under one that is none of its own.
        if stat.S_ISDIR(found.st_mode) or found.st_nlink < 2:
            return False
        return any(identity == wanted for identity in self._files())

    def _files(self) -> Iterator[_Identity]:
        for root in self._roots:
            if not os.path.isdir(root):  # noqa: PTH112 - a str
                folder, its = os.path.dirname(root), _folded(root)  # noqa: PTH120 - as above
                if os.path.isdir(folder):  # noqa: PTH112 - as above
                    with os.scandir(folder) as entries:
                        beside = [e for e in entries if _is_beside(_folded(e.path), its)]
                    yield from (_identity(e.stat(follow_symlinks=False)) for e in beside)
                continue
            for folder, _, names in os.walk(root, onerror=_raise):
                for name in names:
                    yield _identity(os.lstat(os.path.join(folder, name)))  # noqa: PTH118 - as above


def _spellings(told: str) -> Iterator[str]:
    """A path, and what tools may make of it before they open it.

    Raises `ValueError` if there are too many, so that nobody can say what would be opened.
    """
    seen: dict[str, None] = {told: None}
    waiting = [told]
    while waiting:
        path = waiting.pop()
        yield path
        for other in _read_as(path):
            if other not in seen:
                seen[other] = None
                waiting.append(other)
        if len(seen) > _SPELLINGS:
            raise ValueError("a path has too many spellings")


def _read_as(path: str) -> Iterator[str]:
    yield unquote(path, errors="surrogateescape") if "%" in path else path
    yield unicodedata.normalize("NFKC", path)
    yield "".join(c for c in path if unicodedata.category(c) != "Cf")
    yield path.replace("\\", "/")
    yield path.strip()
    yield os.path.expanduser(path)  # noqa: PTH111 - no error where there is no such user
    yield os.path.expandvars(path)
    yield "/".join(part.rstrip(" .") or part for part in path.split("/"))
    scheme, colon, rest = path.partition(":")
    if colon and scheme.casefold() == "file":
        yield rest if not rest.startswith("//") else "/" + rest[2:].partition("/")[2]


def _folded(name: str) -> tuple[str, ...]:
    """The parts of a path, as a file system that knows neither case nor Unicode forms has them."""
    return tuple(
        unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", part).casefold())
        for part in PurePath(name).parts
    )


def _is_beside(parts: tuple[str, ...], root: tuple[str, ...]) -> bool:
    same_folder = parts[: len(root) - 1] == root[:-1] and len(parts) >= len(root)
    return same_folder and parts[len(root) - 1].removeprefix(".").startswith(
        root[-1].removeprefix(".")
    )


def _is_of_a_process(name: str) -> bool:
    # What is left when links are followed is a process's own, or leads nobody knows where.
    parts = PurePath(name).parts
    return len(parts) > 3 and parts[1] == "proc" and parts[2].isdigit()


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _status(place: str) -> os.stat_result | None:
    """What is there; None for nothing.

    Raises `OSError` if there is something that cannot be looked at.
    """
    try:
        return os.stat(place)  # noqa: PTH116 - a str
    except (FileNotFoundError, NotADirectoryError):
        return None


def _raise(error: OSError) -> None:
    raise error
