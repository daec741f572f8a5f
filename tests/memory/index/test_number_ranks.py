"""Where numbers stand in an ascending list: as halving the list tells."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.memory.index.number_ranks import NumberRanks

NUMBERS = st.integers(0, 300)


def agrees(ranks: NumberRanks, there: list[int]) -> None:
    """Each number of the list has its place, and no other is there."""
    asked = np.arange(-130, 420)
    at, found = ranks.find(asked)
    assert there == asked[found].tolist()
    assert [bisect_left(there, number) for number in there] == at[found].tolist()


@settings(max_examples=200, deadline=None)
@given(
    st.sets(NUMBERS).map(sorted),
    st.lists(st.one_of(st.none(), st.integers(1, 130)), max_size=30),
)
def test_places_are_those_of_the_list(there: list[int], changes: list[int | None]) -> None:
    """Numbers come at the end, over gaps of any length, and the last one goes."""
    ranks = NumberRanks(np.array(there, np.int64))
    agrees(ranks, there)
    for gap in changes:
        if gap is None:
            if there:
                ranks.drop_last()
                there.pop()
        elif (number := (there[-1] if there else 0) + gap) < 420:
            ranks.append(number)
            there.append(number)
        agrees(ranks, there)
