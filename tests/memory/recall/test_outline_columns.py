"""Outlines in columns: each is given back as it was, whatever came and went around it."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.recall.outline_columns import MessageOutline, OutlineColumns

NAMES = st.sampled_from(["", "ana", "bo", "own:ana", "東京"])
NUMBERS = st.integers(0, 1 << 40)
OUTLINES = st.builds(
    MessageOutline,
    owner=NAMES,
    source=st.text(max_size=3),
    session=NAMES,
    created=st.datetimes(timezones=st.just(UTC)),
    role=NAMES,
    turn=NUMBERS,
    tokens=NUMBERS,
    question=st.booleans(),
    asked=NAMES,
    standing=st.booleans(),
    matter=st.none() | NAMES,
    repeated=st.none() | st.binary(min_size=8, max_size=8),
)


@given(st.lists(st.tuples(OUTLINES, st.booleans()), max_size=30))
def test_an_outline_is_given_back_as_it_was(came: list[tuple[MessageOutline, bool]]) -> None:
    """One that is put where another was taken out has nothing of that."""
    columns = OutlineColumns()
    held: dict[int, MessageOutline] = {}
    free: list[int] = []
    for said, stays in came:
        number = free.pop() if free else len(held)
        columns.put(number, said)
        held[number] = said
        if not stays:
            columns.remove(number)
            del held[number]
            free.append(number)

    assert {number: columns[number] for number in held} == held
    assert all(columns.source(n) == said.source for n, said in held.items())
    assert all(columns.repeated(n) == said.repeated for n, said in held.items())


def test_nothing_stays_of_what_was_said() -> None:
    """Neither the id of a message that was taken out, nor the words that it asked for."""
    columns = OutlineColumns()
    columns.put(
        0,
        MessageOutline(
            owner="ana",
            source="m1",
            session="s",
            created=datetime(2026, 1, 5, tzinfo=UTC),
            role="user",
            turn=1,
            tokens=9,
            question=True,
            asked="heron",
            standing=True,
            matter="sencha",
            repeated=b"12345678",
        ),
    )
    columns.remove(0)

    held = repr(vars(columns))
    assert [] == [word for word in ("'m1'", "heron", "sencha") if word in held]
    assert columns.repeated(0) is None
    assert columns.source(0) == ""
