"""Numbers by the id of a message are those of a table."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index.message_numbers import MessageNumbers

SOURCES = st.sampled_from(["m1", "x"])
WAYS = st.sampled_from(["add", "add", "add", "remove", "remove", "drop"])


@given(st.lists(st.tuples(SOURCES, st.integers(0, 3), WAYS), max_size=40))
def test_numbers_of_a_message_stand_as_they_came(steps: list[tuple[str, int, str]]) -> None:
    """One or several; those that are taken out leave the others in their order."""
    numbers = MessageNumbers()
    plain: dict[str, list[int]] = {}
    for source, number, way in steps:
        here = plain.setdefault(source, [])
        if way == "drop":
            numbers.drop(source)
            here.clear()
        elif way == "add" and number not in here:
            numbers.add(source, number)
            here.append(number)
        elif way == "remove" and number in here:
            here.remove(number)
            assert numbers.remove(source, number) == bool(here)
        assert {i: [*numbers[i]] for i in plain} == plain


CHUNKS = st.lists(st.lists(st.sampled_from(["m1", "m2", "m3", "x"]), max_size=4), max_size=4)


@given(CHUNKS)
def test_numbers_that_come_together_are_taken_as_one_by_one(chunks: list[list[str]]) -> None:
    """Also where a message has several, of before or of the same time."""
    together, one_by_one = MessageNumbers(), MessageNumbers()
    count = 0
    for chunk in chunks:
        numbers = [*range(count, count := count + len(chunk))]
        together.extend(chunk, numbers)
        for source, number in zip(chunk, numbers, strict=True):
            one_by_one.add(source, number)
        for source in ("m1", "m2", "m3", "x"):
            assert [*together[source]] == [*one_by_one[source]]
