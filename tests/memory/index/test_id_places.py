"""Places of ids: found as in a dictionary, in little memory."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index import id_places
from memsim.memory.index.id_places import IdPlaces, id_number

LEAN = 20
"""Bytes of an id such as `m12`."""

IDS = st.one_of(
    st.integers(0, 40).map("m{}".format),
    st.sampled_from(["m01", "m", "", "D3:7", "m\u0663", "x", f"m{10**18}", "m" + "1" * 5000]),
)


@given(st.lists(IDS, max_size=60), st.integers(0, 9), IDS)
def test_places_are_found_as_in_a_dictionary(names: list[str], most: int, other: str) -> None:
    """Whatever the ids are; an id that comes again leaves first and gets a new place."""
    expected: dict[str, int] = {}
    told: dict[int, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_places, "PLAIN", most)
        found = IdPlaces()
        for place, name in enumerate(names):
            if name in expected:
                assert expected.pop(name) == found.pop(name)
            expected[name] = place
            packed = found.add(name, place)
            told |= {p: n for n, p in expected.items() if p in packed}

    assert len(expected) == len(found)
    assert expected == {name: found[name] for name in expected}
    assert expected.get(other) == found.get(other)
    assert (other in expected) == (other in found)
    assert [*expected.values()] == found.places()
    here = {p: n for p, n in told.items() if expected.get(n) == p}
    assert here == {place: found.name(place) for place in here}


@given(IDS)
def test_a_number_tells_the_id(name: str) -> None:
    """An id that has no number, or could not be told from it, has 0."""
    number = id_number(name)

    assert number == 0 or name == f"m{number}"


@pytest.mark.parametrize("most", [0, 20_000])
def test_what_is_not_there_is_told(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a dictionary tells it."""
    monkeypatch.setattr(id_places, "PLAIN", most)
    found = IdPlaces()
    for place, name in enumerate(("m3", "m5", "x")):
        found.add(name, place)

    for name in ("m4", "m6", "m2", "y"):
        with pytest.raises(KeyError):
            found.pop(name)
        with pytest.raises(KeyError):
            found[name]
    assert 7 not in found


def test_an_id_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million turns have two millions of them."""
    monkeypatch.setattr(id_places, "PLAIN", 100)
    found = IdPlaces()
    for number in range(1, 1_001):
        found.add(f"m{number}", number)
    tracemalloc.start()
    try:
        for number in range(1_001, 11_001):
            found.add(f"m{number}", number)
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert grown / 10_000 < LEAN
