"""Numbers in words and digits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.language.numbers import numbers, word_value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three children", [3]),
        ("twenty-five or thirty six", [25, 36]),
        ("two hundred and five thousand", [205_000]),
        ("one million", [1_000_000]),
        ("1,249.50 and 1,000,000", [1249.5, 1_000_000]),
        ("$48.20", [48.2]),
        ("A-17, db7 and user_3", []),
        ("555-0199", []),
        ("often and nineteen", [19]),
        ("someone", []),
        ("", []),
    ],
)
def test_numbers_are_read(text: str, expected: list[float]) -> None:
    """Number words count; digits that are part of an identifier do not."""
    assert [number.value for number in numbers(text)] == expected


def test_a_number_knows_its_place() -> None:
    """The text between its ends is the number as it was written."""
    text = "I have twenty-five cats."
    (found,) = numbers(text)

    assert text[found.start : found.end] == "twenty-five"


@pytest.mark.parametrize(
    ("word", "expected"), [("7", 7), ("a", 1), ("couple", 2), ("Nine", 9), ("cat", None)]
)
def test_one_word_has_a_value(word: str, expected: int | None) -> None:
    """As a count before a unit, `a` is one."""
    assert word_value(word) == expected


@given(st.integers(min_value=0, max_value=10**9))
def test_digits_are_their_value(value: int) -> None:
    """With and without separators of thousands."""
    assert [n.value for n in numbers(f"{value} or {value:,} cats")] == [value, value]


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    """Numbers stand in order and do not overlap."""
    found = numbers(text)

    assert all(a.end <= b.start for a, b in pairwise(found))
