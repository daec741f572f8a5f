"""Numbers by the last halves of ids: found as by a look at each of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index import id_halves
from memsim.memory.index.id_halves import IdHalves

LAST = (1 << 64) - 1
HALF = st.one_of(
    st.integers(0, 40),
    st.integers(0, 40).map(lambda n: LAST - n),
    st.integers(0, LAST),
    st.integers(0, 63).map(lambda bit: 1 << bit),
)


@given(
    st.lists(st.one_of(st.integers(0, 999), st.lists(HALF, max_size=60)), max_size=12),
    st.lists(HALF, max_size=10),
    st.sampled_from([0, 3, 64]),
)
def test_halves_are_found_as_by_a_look_at_each(
    steps: list[int | list[int]], others: list[int], moved: int
) -> None:
    """Together and alone, however they are spread, and whichever come and go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_halves, "TABLED", 1 << id_halves._PART_BITS)
        patch.setattr(id_halves, "_MOVED", moved)
        held, there, given_now = IdHalves(), list[tuple[int, int]](), 0
        for step in steps:
            if isinstance(step, list):
                numbers = range(given_now, given_now + len(step))
                held.merge(np.array(step, np.uint64), np.array(numbers, np.intc))
                there = sorted([*there, *zip(step, numbers, strict=True)], key=lambda one: one[0])
                given_now += len(step)
            else:
                for _ in range(min(step % 20, len(there))):
                    place = step % len(there)
                    assert there.pop(place)[1] == held.take(place)
            if there:
                asked = [*(half for half, _ in there), *others]
                found, first = held.find(np.array(asked, np.uint64))
                known = dict(reversed(there))
                assert [half in known for half in asked] == found.tolist()
                assert [known[half] for half, _ in there] == first[: len(there)].tolist()
            expected = [(at, number) for at, (half, number) in enumerate(there) if half == LAST]
            assert expected == held.numbers(LAST)
            assert len(there) == len(held)


def test_halves_are_found_where_many_others_are_gone() -> None:
    """The table is the old one, and those behind the others have moved up."""
    spread = [(number * 0x9E3779B97F4A7C15) % (1 << 64) for number in range(5000)]
    held = IdHalves()
    held.merge(np.array(spread, np.uint64), np.arange(5000, dtype=np.intc))
    asked = np.array(spread, np.uint64)
    assert held.find(asked)[0].all()
    gone = {held.take(place) for place in [0, -1] * (id_halves._MOVED // 2)}

    there, numbers = held.find(asked)
    assert [number not in gone for number in range(5000)] == there.tolist()
    assert [*range(5000)] == np.where(there, numbers, np.arange(5000)).tolist()
