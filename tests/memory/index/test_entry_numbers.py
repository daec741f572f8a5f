"""Numbers of ids: found as in a dictionary, in little memory."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index import entry_numbers
from memsim.memory.index.entry_numbers import EntryNumbers

LEAN = 50
"""Bytes of an id."""

IDS = st.one_of(
    st.integers(0, 12).map("{:032x}".format),
    st.integers(0, 12).map(lambda n: f"{n:016x}{'f' * 16}"),
    st.sampled_from(
        [
            "",
            "m1",
            "F" * 32,
            f"{0:016x}{'F' * 16}",
            f"{0:016x}-{1:015x}",
            "é" * 32,
            "0 " * 16,
            "f" * 31,
        ]
    ),
)


@given(
    st.lists(st.tuples(IDS, st.booleans()), max_size=60),
    st.integers(0, 5),
    st.booleans(),
    st.booleans(),
)
def test_numbers_are_found_as_in_a_dictionary(
    steps: list[tuple[str, bool]], latest: int, again: bool, together: bool
) -> None:
    """Whatever the ids are, and whichever come and go; a number is one id's at a time.

    Also where they are looked up together before.
    """
    expected: dict[str, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_numbers, "LATEST", latest)
        patch.setattr(entry_numbers, "ASKED", 2)
        found = EntryNumbers(again=again)
        for name, come in steps:
            before = found.given
            if not come:
                assert found.pop(name) == expected.pop(name, None)
            elif name not in expected:
                number = found.add(name)
                assert number not in expected.values()
                assert number == before or again
                expected[name] = number
            if together:
                found.expect(i for i, _ in steps)
            assert all(found.get(i) == expected.get(i) for i, _ in steps)
            assert all((i in found) == (i in expected) for i, _ in steps)
            assert [*map(found.expected, expected.values())] == [*expected]

    assert len(found) == len(expected)
    assert [*found.names(expected.values())] == [*expected]
    assert all(number < found.given for number in expected.values())


def test_the_lowest_numbers_are_given_again() -> None:
    """A column by number stays as short as what is there, where numbers may be given again."""
    for again, given_now in ((True, 1), (False, 3)):
        numbers = EntryNumbers(again=again)
        for n in range(3):
            numbers.add(f"{n:032x}")
            numbers.pop(f"{n:032x}")
        assert (len(numbers), numbers.given) == (0, given_now)


def test_nothing_stays_of_an_id_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it stood."""
    monkeypatch.setattr(entry_numbers, "LATEST", 1)
    numbers = EntryNumbers()
    for name in ("ab" * 16, "cd" * 16, "x"):
        numbers.add(name)
    for name in ("ab" * 16, "cd" * 16, "x"):
        assert name in numbers
        numbers.pop(name)
    assert (numbers._latest | numbers._asked, numbers._others) == ({}, {})
    assert not len(numbers._packed)
    assert not any(numbers._digests)


def test_many_ids_take_little_memory() -> None:
    """Much less than a dictionary of them."""
    numbers = EntryNumbers()
    tracemalloc.start()
    try:
        for n in range(60_003):
            numbers.add(hashlib.blake2b(b"%d" % n, digest_size=16).hexdigest())
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < LEAN * 60_003


@given(st.lists(st.lists(IDS, unique=True, max_size=8), max_size=8), st.integers(0, 5))
def test_who_has_no_number_is_given_one(times: list[list[str]], latest: int) -> None:
    """Several at once: known ids keep theirs, and no number is of two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_numbers, "LATEST", latest)
        found = EntryNumbers()
        expected: dict[str, int] = {}
        for names in times:
            told = dict(zip(names, found.numbered(names), strict=True))
            assert told == told | {i: n for i, n in expected.items() if i in told}
            expected |= told
            assert len({*expected.values()}) == len(expected) == len(found)
    assert {i: found[i] for i in expected} == expected
