"""Saved states: files that come back as they were saved, or say that they do not.

A file has two lines, which are its canonical bytes; nothing else is a saved state::

    {"format":"memsim.ledger","sha256":"<of format, version and state>","version":1}
    <the state as canonical JSON>
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsim.atomic_files import WAIT, locked, sweep, unwritable, write_whole
from memsim.errors import StateError
from memsim.memory.codec import JSON, canonical, parse, reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What kind of state a file holds.

    Attributes:
        name: told apart from every other kind by it.
        version: of what is written; a newer one is refused.
        migrations: by version, what makes a state of the next version out of one of this.
    """

    name: str
    version: int = 1
    migrations: Mapping[int, Callable[[Any], JSON]] = field(default_factory=dict)


class Snapshot:
    """One saved state in one file.

    Args:
        path: the file; its folder has to exist. What a symbolic link points to is meant.
        format: the kind of state.
        wait: seconds to wait for another writer.
    """

    def __init__(self, path: Path, format: Format, *, wait: float = WAIT) -> None:  # noqa: A002 - its name
        self.path = Path(os.path.realpath(path))
        self.format = format
        self._wait = wait

    def exists(self) -> bool:
        """Whether there is a file, sound or not."""
        return os.path.lexists(self.path)

    def load(self) -> Any:  # noqa: ANN401 - a state is any JSON value
        """The state, brought to the present version; reading waits for nobody.

        Raises:
            StateError: there is none, it is of another kind or a newer version, or it is damaged.
                Of what is damaged, a copy is kept beside it under a name that says so.
        """
        try:
            data = self.path.read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StateError(f"{self.path}: cannot be read: {reason}") from error
        return self._migrated(*self._read(data))

    def save(self, state: JSON) -> None:
        """Write a state in the place of the one there is.

        A damaged file that is in its place is kept beside it under another name.

        Raises:
            ValueError: the state is no JSON, or holds a text that cannot be encoded.
            StateError: what is there is of another kind, or of a newer version.
            StoreError: it cannot be written; the old state is there still.
        """
        data = _written(self.format, canonical(state))
        with locked(self.path, self._wait):
            self._spare()
            self._write(data)

    def update(self, change: Callable[[Any], JSON], initial: JSON = None) -> JSON:
        """Load, change and save as one step, so that of two writers neither loses anything.

        Args:
            change: makes the new state out of the one there is.
            initial: what it is given where there is no file. A damaged one is not no file.

        Returns:
            What was saved.

        Raises:
            StateError: as `load`; nothing is written then.
            ValueError: as `save`.
            StoreError: as `save`.
        """
        with locked(self.path, self._wait):
            state = change(self.load() if self.exists() else initial)
            self._write(_written(self.format, canonical(state)))
        return state

    def _write(self, data: bytes) -> None:
        try:
            sweep(self.path)
            write_whole(self.path, data)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _spare(self) -> None:
        if not self.exists():
            return
        try:
            self._read(self.path.read_bytes())
        except _DamagedError:
            return  # a copy has been kept
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _read(self, data: bytes) -> tuple[int, Any]:
        try:
            name, version, state = _parsed(data)
        except StateError:
            kept = self._quarantine(data)
            raise _DamagedError(f"{self.path}: is damaged; a copy is kept as {kept}") from None
        if name != self.format.name:
            raise StateError(f"{self.path}: is {name}, not {self.format.name}")
        if version > self.format.version:
            raise StateError(
                f"{self.path}: is of version {version}, and this memsim knows up to"
                f" {self.format.version}: upgrade memsim, or use another file"
            )
        return version, state

    def _quarantine(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()[:12]
        copy = self.path.with_name(f"{self.path.name}.damaged-{digest}")
        try:
            if not copy.exists():
                write_whole(copy, data)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            said = f"{self.path}: is damaged, and no copy could be kept: {reason}"
            raise StateError(said) from error
        return copy.name

    def _migrated(self, version: int, state: Any) -> Any:  # noqa: ANN401 - as `load`
        for old in range(version, self.format.version):
            migrate = self.format.migrations.get(old)
            if migrate is None:
                raise StateError(f"{self.path}: nothing leads on from its version, {old}")
            with reading(f"{self.path} is not of version {old}"):
                state = migrate(state)
        return state


class _DamagedError(StateError):
    """Apart from the other kinds, since it may be replaced once a copy is kept."""


def _written(kind: Format, state: str) -> bytes:
    return _document(kind.name, kind.version, state.encode("utf-8"))


def _document(name: str, version: int, state: bytes) -> bytes:
    signed = canonical([name, version]).encode("utf-8") + state
    header = canonical(
        {"format": name, "version": version, "sha256": hashlib.sha256(signed).hexdigest()}
    )
    return header.encode("utf-8") + b"\n" + state + b"\n"


def _parsed(data: bytes) -> tuple[str, int, Any]:
    # Whatever is not byte for byte what would have been written is damaged.
    head, _, rest = data.partition(b"\n")
    with reading("it is damaged"):
        header = parse(head)
        name, version = header["format"], header["version"]
        if not isinstance(version, int) or data != _document(name, version, rest[:-1]):
            raise StateError("it is damaged")
        return name, version, parse(rest)
