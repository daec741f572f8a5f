"""The row of each form: of many forms that are numbered closely, in a column."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MANY: Final = 4096
"""Forms from which on there is a column: in a table, each takes 100 bytes."""

SPREAD: Final = 8
"""Places of the column for each form that it holds, at most; each takes 4 bytes."""

_NONE: Final = -1


class FormRows:
    """Rows by form, from 0 on both."""

    def __init__(self) -> None:
        self._apart: dict[int, int] = {}
        self._column = array("i")
        self._first = 0
        self._held = 0
        """Forms in the column."""

    def __len__(self) -> int:
        return len(self._apart) + self._held

    def __contains__(self, form: object) -> bool:
        return form in self._apart or (isinstance(form, int) and self._at(form) != _NONE)

    def __getitem__(self, form: int) -> int:
        row = self._at(form)
        return self._apart[form] if row == _NONE else row

    def __setitem__(self, form: int, row: int) -> None:
        if self._at(form) != _NONE:
            self._column[form - self._first] = row
        elif form in self._apart or not self._reaches(form):
            self._apart[form] = row
        else:
            self._put(form, row)

    def update(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Note the rows of forms."""
        if self._held:
            for form, row in pairs:
                self[form] = row
        else:
            self._apart.update(pairs)
        if not self._held and len(self._apart) >= MANY:
            self._begin()

    def pop(self, form: int) -> int:
        """Take a form out, and tell its row. Raises `KeyError` if it is not there."""
        row = self._at(form)
        if row == _NONE:
            return self._apart.pop(form)
        self._column[form - self._first] = _NONE
        self._held -= 1
        return row

    def _at(self, form: int) -> int:
        place = form - self._first
        return self._column[place] if 0 <= place < len(self._column) else _NONE

    def _reaches(self, form: int) -> bool:
        """Whether the column has a place for a form, or may be made so long."""
        return self._held > 0 and 0 <= form - self._first < SPREAD * self._held

    def _put(self, form: int, row: int) -> None:
        place = form - self._first
        more = place + 1 - len(self._column)
        if more > 0:
            self._column.extend(array("i", [_NONE]) * more)
        self._column[place] = row
        self._held += 1

    def _begin(self) -> None:
        """Put all into a column, if they are close."""
        forms = sorted(self._apart)
        if forms[-1] - forms[0] >= SPREAD * len(forms):
            return
        self._first, self._column = forms[0], array("i")
        for form in forms:
            self._put(form, self._apart[form])
        self._apart = {}
