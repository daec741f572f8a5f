"""Files of recordings: one per case, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from memsim.atomic_files import TEMPORARY, sweep, wait_for_lock, write_whole
from memsim.models.cassette import LARGEST, Recording, RecordMode, SentMessage
from memsim.models.cassette.tape import (
    Journal,
    Tape,
    call_record,
    encode_line,
    read_tape,
    unwritable,
)

_PLAIN = re.compile(r"[^a-z0-9.]+")
_LONGEST = 60


def tape_path(folder: Path, model: str, case: str) -> Path:
    """The file of a case: readable names, made unique by a hash of its id."""
    scenario, _, variant = case.rpartition("::")[2].partition("[")
    digest = hashlib.sha256(f"{model}\n{case}".encode("utf-8", "surrogatepass")).hexdigest()
    names = [path_part(model), path_part(scenario), f"{path_part(variant)}-{digest[:8]}.jsonl"]
    return folder.joinpath(*names)


def path_part(text: str) -> str:
    """A text as part of a path that is valid on every system."""
    return _PLAIN.sub("-", text.lower()).strip("-.")[:_LONGEST] or "unnamed"


class CaseRecordings:
    """The recordings of one repeat of a case.

    Args:
        path: the case's file; None keeps recordings only while the case is played.
        case: the case's id.
        model: the model's ref.
        repeat: the repeat of the case.
        mode: whether recordings are read, written, or both.

    Raises:
        CassetteError: the file is damaged, or another process records the same repeat.
    """

    def __init__(
        self, path: Path | None, *, case: str, model: str, repeat: int, mode: RecordMode
    ) -> None:
        self.path = path
        self.mode = mode
        self.repeat = repeat
        self.tape = Tape(case=case, model=model)
        self._journal: Journal | None = None
        self._size = 0
        if path is None or mode == "live":
            return
        kept = read_tape(path)
        if kept is not None and mode != "rewrite":
            self.tape = kept
            self._size = path.stat().st_size
        if mode in {"new", "rewrite"}:
            self._journal = Journal(path.with_name(f".{path.stem}.{repeat}.{mode}.part"))
            self.tape.take(*self._journal.read())

    def find(self, key: str) -> Recording | None:
        """The recording of a call in this repeat."""
        return self.tape.calls.get((key, self.repeat))

    @property
    def full(self) -> bool:
        """Whether the file has no room for another call."""
        return self._journal is not None and self._size >= LARGEST

    def add(self, recording: Recording, said: Mapping[str, SentMessage]) -> None:
        """Store a recording.

        Raises:
            CassetteError: it cannot be written.
        """
        if self._journal is not None:
            self._journal.add(recording, said)
            new = sum(len(said[m].beginning) + 100 for m in said if m not in self.tape.messages)
            self._size += new + len(encode_line(call_record(recording)))
        self.tape.take([recording], said)

    def close(self, *, complete: bool = True) -> None:
        """Write new recordings into the case's file.

        Args:
            complete: whether the case was played to its end. In mode `rewrite`, recordings of an
                incomplete case do not replace the file; they are kept until the case is continued.

        Raises:
            CassetteError: the file cannot be written; new recordings are kept and found again.
        """
        journal, self._journal = self._journal, None
        if journal is None or self.path is None:
            return
        done = False
        try:
            if complete or self.mode == "new":
                self._merge(self.path)
                done = True
        except OSError as error:
            raise unwritable(self.path, error) from error
        finally:
            journal.close(done=done)

    def _merge(self, path: Path) -> None:
        """Merge with the file, because another process may have written other repeats meanwhile."""
        with folder_lock(path.parent):
            kept = read_tape(path) or Tape(case=self.tape.case, model=self.tape.model)
            if self.mode == "rewrite":
                for key in [k for k in kept.calls if k[1] == self.repeat]:
                    del kept.calls[key]
            own = (r for (_, repeat), r in self.tape.calls.items() if repeat == self.repeat)
            kept.take(own, self.tape.messages)
            if kept.calls:
                write_if_changed(path, kept.encoded())


def write_if_changed(path: Path, data: bytes) -> None:
    """Write a file whole unless it has this content already; the caller holds its folder's lock.

    Raises:
        OSError: it cannot be written.
    """
    sweep(path)
    if not path.exists() or path.read_bytes() != data:
        write_whole(path, data, private=False)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder of recordings, and wait until it is free."""
    file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        wait_for_lock(file)
        yield
    finally:
        os.close(file)


def ignore_unfinished(folder: Path) -> None:
    """Add a .gitignore for the files of unfinished cases.

    Raises:
        CassetteError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text(f".*.part\n.*{TEMPORARY}\n.lock\n", encoding="utf-8")
    except OSError as error:
        raise unwritable(folder, error) from error
