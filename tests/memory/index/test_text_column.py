"""A column of texts is a list at which the garbage collector does not look."""

from __future__ import annotations

import gc

from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index.text_column import TextColumn


@given(st.lists(st.tuples(st.sampled_from(["add", "set", "remove"]), st.integers(0, 99))))
def test_it_holds_what_a_list_holds(steps: list[tuple[str, int]]) -> None:
    """Whatever is put behind the others, in the place of one, or taken out."""
    column, told = TextColumn(), list[str]()
    for number, (step, place) in enumerate(steps):
        if step == "add" or not told:
            column.append(f"m{number}")
            told.append(f"m{number}")
        elif step == "set":
            column[place % len(told)] = told[place % len(told)] = f"m{number}"
        else:
            del column[place % len(told)], told[place % len(told)]

    assert (len(told), told, repr(told)) == (len(column), [*column], repr(column))
    assert told == [column[place] for place in range(len(told))]


def test_nothing_stays_of_a_text_that_was_taken_out() -> None:
    """Not even behind the last of those that are there."""
    column = TextColumn()
    for text in ("m1", "heron"):
        column.append(text)
    del column[1]

    assert "heron" not in column._held.tolist()


def test_the_garbage_collector_looks_at_none_of_its_texts() -> None:
    """Nothing that it tracks leads to them."""
    column = TextColumn()
    column.append("m1")
    passed: list[object] = [column]
    for held in passed:
        passed += [o for o in gc.get_referents(held) if not isinstance(o, type)]

    assert not [held for held in passed if isinstance(held, str)]
