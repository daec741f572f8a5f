"""Exact values of a sentence, and which of them can replace which."""

from __future__ import annotations

import pytest

from memsim.language.exact_values import Value, comparable, exact_values


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("We fly on 28 March.", [("date", "28 march", "")]),
        ("Not on Thursday.", [("day", "thursday", "")]),
        ("Wake me at 6:40.", [("time", "6:40", "")]),
        ("I take it at noon.", [("time", "noon", "")]),
        ("It takes ninety seconds.", [("number", "ninety", "duration")]),
        ("We pay 295,000 euros.", [("number", "295,000", "euro")]),
        ("It is number 19 now.", [("number", "19", "")]),
        ("The card ends in 4411.", [("ending", "4411", "")]),
        ("The code is 9-2-6-0.", [("code", "9-2-6-0", "")]),
        ("Use fix/tide for it.", [("code", "fix/tide", "")]),
        ("My doctor is Dr. Nakagawa.", [("name", "dr. nakagawa", "")]),
        ("I take it in sage green.", [("colour", "green", "")]),
        ("We stay two nights less.", []),
        ("Two of us know it.", []),
        ("I like it.", []),
    ],
)
def test_values_of_a_sentence(sentence: str, expected: list[tuple[str, str, str]]) -> None:
    """Each with its kind, and a number with its unit; a difference is no value."""
    assert expected == [tuple(value) for value in exact_values(sentence)]


def test_only_the_same_kind_can_replace() -> None:
    """A number needs the same unit, or none where the meaning is close."""
    second, minute = Value("number", "90", "duration"), Value("number", "two", "duration")
    bare, euro = Value("number", "21"), Value("number", "7", "euro")
    day = Value("day", "friday")

    assert comparable(second, minute)
    assert not comparable(second, day)
    assert not comparable(second, euro, loose=True)
    assert [False, True] == [comparable(bare, euro, loose=loose) for loose in (False, True)]
