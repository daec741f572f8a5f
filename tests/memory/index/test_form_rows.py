"""Rows by form are those that a table would have, however the forms are numbered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index import form_rows
from memsim.memory.index.form_rows import FormRows

STEPS = st.lists(st.tuples(st.booleans(), st.integers(0, 7) | st.integers(0, 40)), max_size=60)


@pytest.fixture(autouse=True, scope="module")
def _few() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(form_rows, "MANY", 4)
        patch.setattr(form_rows, "SPREAD", 3)
        yield


@given(STEPS)
def test_rows_are_those_of_a_table(steps: list[tuple[bool, int]]) -> None:
    """Forms come, get other rows, and go."""
    rows, table = FormRows(), dict[int, int]()
    for number, (come, form) in enumerate(steps):
        if come:
            rows.update([(form, number)])
            table[form] = number
        elif form in table:
            assert rows.pop(form) == table.pop(form)
        else:
            with pytest.raises(KeyError):
                rows.pop(form)
        assert len(rows) == len(table)
        assert [n for n in range(45) if n in rows] == sorted(table)
        assert all(rows[form] == row for form, row in table.items())


def test_many_close_forms_are_in_a_column() -> None:
    """Forms that are far from all others stay in the table, so that the column stays short."""
    rows = FormRows()
    rows.update((form, form) for form in range(100, 110))
    rows.update([(10_000, 1), (112, 2)])
    held = (len(rows._column), rows._apart)
    assert held == (13, {10_000: 1})


def test_a_form_has_one_row_when_the_column_has_come_to_it() -> None:
    """A form that stood apart stays there, though the column reaches it now; all can go."""
    rows = FormRows()
    rows.update((form, form) for form in range(10, 14))
    rows.update([(25, 1), (14, 14), (15, 15), (25, 2), (12, 3)])
    assert (len(rows), rows[25], rows[12]) == (7, 2, 3)
    assert (rows.pop(25), rows.pop(12)) == (2, 3)
    assert (len(rows), 25 in rows, 12 in rows) == (5, False, False)
    rows[12] = 4
    assert (len(rows), rows.pop(12), len(rows)) == (6, 4, 5)
