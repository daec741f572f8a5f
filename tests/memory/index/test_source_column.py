"""Ids in a column are those of a list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index.source_column import SourceColumn

IDS = st.integers(0, 9).map("m{}".format) | st.sampled_from(["", "m01", "x", f"m{10**18}", "m²"])


@given(st.lists(IDS, max_size=9), st.lists(st.tuples(st.integers(0, 20), IDS)), st.sets(IDS))
def test_ids_are_those_of_a_list(
    came: list[str], steps: list[tuple[int, str]], sought: set[str]
) -> None:
    """However they came, and whatever took their places."""
    column, plain = SourceColumn(), [*came]
    column.extend(came)
    for place, source in steps:
        if place < len(plain):
            column[place] = plain[place] = source
        else:
            column.append(source)
            plain.append(source)

    assert [column[place] for place in range(len(column))] == plain
    assert repr(column) == repr(plain)
    sought.discard("")
    assert column.among(sought) == [n for n, source in enumerate(plain) if source in sought]


def test_ids_with_a_number_take_none_of_the_table() -> None:
    """The others leave it when something takes their place."""
    column = SourceColumn()
    column.extend(["m1", "x", "m2"])
    column[1] = "m7"
    assert column._others == {}
