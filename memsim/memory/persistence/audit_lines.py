"""The audit trail in the file of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.errors import StateError
from memsim.memory.audit import AuditTrail
from memsim.memory.persistence.memory_file import has_tables, last_number

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from memsim.memory.persistence.memory_file import MemoryFile


class AuditLines:
    """The lines of the audit trail in the file."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def lines(self) -> Iterator[bytes]:
        """Every line that was added."""
        with self._file.snapshot() as connection:
            if not has_tables(connection):
                return
            found = connection.execute("SELECT line FROM audit ORDER BY number").fetchall()
        for (line,) in found:
            yield str(line).encode("utf-8")

    def last(self) -> bytes | None:
        """The last line; None where there is none."""
        with self._file.snapshot() as connection:
            return _last_line(connection)

    def append(self, make: Callable[[bytes | None], Sequence[bytes]]) -> None:
        """Add the lines that `make` makes of the last one; whoever only looks may add some, too.

        Raises `StoreError` if they could not be added.
        """
        if self._file.closed:
            self._file.check_open()
        with self._file.noting() as connection:
            connection.executemany(
                "INSERT INTO audit (line) VALUES (?)",
                [(line.decode("utf-8"),) for line in make(_last_line(connection))],
            )


def open_trail(file: MemoryFile, salt: bytes | None) -> AuditTrail:
    """The audit trail of a memory, after every link was verified.

    Raises `StateError` if a record was changed, left out or cut off.
    """
    lines = AuditLines(file)
    if salt is None:
        return AuditTrail(lines=lines)
    try:
        trail = AuditTrail(salt, lines)
    except StateError as error:
        raise StateError(f"{file.path}: {error}; {file.copied()}") from error
    broken = trail.verify()
    with file.snapshot() as connection:
        (there,) = connection.execute("SELECT count(*) FROM audit").fetchone()
        missing = there != last_number(connection, "audit")
    if broken is not None or missing:
        number = there if broken is None else broken.number
        why = "the trail was cut off" if broken is None else broken.why
        raise StateError(f"{file.path}: record {number} of the audit trail: {why}; {file.copied()}")
    return trail


def _last_line(connection: sqlite3.Connection) -> bytes | None:
    found = connection.execute("SELECT line FROM audit ORDER BY number DESC LIMIT 1").fetchone()
    return str(found[0]).encode("utf-8") if found else None
