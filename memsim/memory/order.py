"""The order in which messages were said: ids of entries in a file, one a line, only added to.

The state of a memory holds its marks: how many lines there are, and their digest. Lines beyond a
mark were added by a process that was killed before it wrote the state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from memsim.atomic_files import unwritable, write_whole
from memsim.memory.journal import FileLines
from memsim.memory.state import JSON, reading

if TYPE_CHECKING:
    from pathlib import Path


class Mark:
    """Lines and their digest, as far as they have been added."""

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        self._lines = 0
        self._digest = hashlib.sha256()
        self.add(lines)

    def add(self, lines: Iterable[bytes]) -> None:
        """More lines, without their ends."""
        for line in lines:
            self._lines += 1
            self._digest.update(line + b"\n")

    def save(self) -> JSON:
        """As JSON values."""
        return {"lines": self._lines, "sha256": self._digest.hexdigest()}


class Order:
    """The file of the order.

    Args:
        path: it; made when the first line is added.
    """

    def __init__(self, path: Path) -> None:
        self._lines = FileLines(path)
        self._mark: Mark | None = None
        self._coming: list[JSON] = []

    def read(self, marks: Any) -> dict[str, int] | None:  # noqa: ANN401 - what was read may be anything
        """The place of each entry; None where the file is damaged, cut or gone.

        Args:
            marks: one of them has to be right; None where there are none to go by.

        Raises:
            StateError: they are no marks.
            StoreError: the file cannot be read.
        """
        lines = [*self._lines.lines()]
        with reading("the marks of its order are damaged"):
            if marks is not None and not any(_holds(mark, lines) for mark in marks):
                return None
        self._mark = Mark(lines)
        order: dict[str, int] = {}
        for place, line in enumerate(lines):
            order.setdefault(line.decode("ascii", "replace"), place)
        return order

    def marks(self) -> list[JSON]:
        """What `read` goes by: the present order, and one that is being written in its place."""
        if self._mark is None:
            self._mark = Mark(self._lines.lines())
        return [self._mark.save(), *self._coming]

    def add(self, entries: Sequence[str]) -> None:
        """Entries came after all others.

        Raises:
            StoreError: they could not be added.
        """
        lines = [name.encode("ascii") for name in entries]
        mark, self._mark = self._mark, None  # looked at again where this fails half-way
        self._lines.append(lambda _: lines)
        if mark is not None:
            mark.add(lines)
            self._mark = mark

    def replace(self, entries: Sequence[str], keep: Callable[[], None]) -> None:
        """Write it anew.

        Args:
            entries: all of them.
            keep: keeps the marks, so that a kill leaves an order that one of them is of.

        Raises:
            StoreError: it could not be written; the old one is there still.
        """
        lines = [name.encode("ascii") for name in entries]
        mark = Mark(lines)
        self._coming = [mark.save()]
        try:
            keep()
            self._mark = None
            write_whole(self._lines.path, b"".join(line + b"\n" for line in lines))
            self._mark = mark
        except OSError as error:
            raise unwritable(self._lines.path, error) from error
        finally:
            self._coming = []


def _holds(mark: Any, lines: Sequence[bytes]) -> bool:  # noqa: ANN401 - as `Order.read`
    return bool(mark == Mark(lines[: mark["lines"]]).save())
