"""Non-interference: what others have in the same memory changes no byte of what one sees."""

from __future__ import annotations

import pytest

from benchmarks.lockstep import FILLINGS, Filling, differences

CASES = {"some": 50, "same": 50, "keys": 48, "many": 2}


@pytest.mark.parametrize("filling", FILLINGS)
def test_the_others_data_change_no_byte_of_what_one_sees(filling: Filling) -> None:
    """Contexts, answers, orders, scores and errors are those of a memory of one's own."""
    for seed in range(CASES[filling]):
        looked, found = differences(20_000 + seed, filling, vectors=seed % 4 == 3)
        assert looked
        assert [] == found
