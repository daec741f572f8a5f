"""Names beside points: what may lie upon what, and always the same."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.report.plots.tradeoff import LabelPoint, placed

CROWDED = [
    LabelPoint(name=name, x=x, y=y, low=y - 0.03, high=y + 0.03)
    for name, x, y in [
        ("bm25", 0.52, 0.82),
        ("hybrid", 0.53, 0.78),
        ("vector", 0.532, 0.76),
        ("prx:acl=on", 0.71, 0.68),
        ("rolling_summary", 0.77, 0.64),
        ("cogtrix:mode=code", 0.715, 0.62),
    ]
]


def test_no_name_lies_upon_a_point_or_another_name() -> None:
    """Where there is room, however close the points are to each other."""
    found = placed(CROWDED)

    for place in found:
        assert not any(place.box.shared(spot.mark) for spot in CROWDED)
        assert 0 <= place.box.left < place.box.right <= 1
    assert not any(one.box.shared(other.box) for one, other in combinations(found, 2))


SPOT = st.builds(
    lambda name, x, y: LabelPoint(name=name, x=x, y=y, low=y, high=y),
    st.text("ab:=", min_size=1, max_size=30),
    st.floats(0, 1),
    st.floats(0, 1),
)


@settings(max_examples=8)
@given(st.lists(SPOT, max_size=8))
def test_every_point_gets_a_place_and_always_the_same(spots: list[LabelPoint]) -> None:
    """Also where there is none to be had."""
    assert placed(spots) == placed(list(spots))
    assert len(spots) == len(placed(spots))
