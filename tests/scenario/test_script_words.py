"""When a text says a value."""

# ruff: noqa: RUF001 - values in many scripts

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.language import form_search
from memsim.language.word_forms import prefix_sizes
from memsim.scenario.words import ValueSearch, says, words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My order is A-17.", "A-17"),
        ("my order is a 17", "A-17"),
        ("It is in OSLO, by the fjord.", "Oslo"),
        ("Dr. Smith, at 9:30", "dr smith"),
        ("私は京都に住んでいます。", "京都"),
        ("ฉันอยู่กรุงเทพ", "กรุงเทพ"),
        ("서울에 살아요", "서울"),
        ("Straße", "STRASSE"),
        ("all good \U0001f600!", "\U0001f600"),
        ("the end", "end"),
        ("Toplantı Ankara'da yapılacak.", "Ankara"),
        ("Kokous pidetään Helsingissä.", "Helsinki"),
        ("הפגישה תתקיים בירושלים.", "ירושלים"),
        ("رقم طلبي هو ٧٧٣١.", "7731"),
        ("会议在2026年3月5日举行。", "2026-03-05"),
    ],
)
def test_a_text_says_a_value_whatever_its_case_and_punctuation(text: str, value: str) -> None:
    """Words in a row; a script without spaces has a word for each character."""
    assert says(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("We are in Oslofjord.", "Oslo"),
        ("We are in Osloban, you know.", "Oslo"),
        ("Kokous pidetään Turussa.", "Helsinki"),
        ("رقم طلبي هو ٧٧٣١.", "773"),
        ("order A-178", "A-17"),
        ("17 A", "A-17"),
        ("a red and blue hat", "red hat"),
        ("anything", ""),
        ("anything", "  "),
        ("", "x"),
        ("hello", "!"),
    ],
)
def test_a_part_of_a_word_or_another_order_does_not_say_it(text: str, value: str) -> None:
    """Otherwise 4411 would be found in every longer number."""
    assert not says(text, value)


WORDS = st.lists(st.sampled_from(["a", "b", "ab", "A", "1", "京", "都"]), max_size=30)


def slow(text: str, value: str) -> bool:
    """The definition, word by word."""
    said, sought = words(text), words(value)
    return bool(sought) and any(
        said[n : n + len(sought)] == sought for n in range(len(said) - len(sought) + 1)
    )


FEW = st.lists(st.sampled_from("ab"), max_size=30)
"""Of two words alone, so that values overlap one another and themselves."""


@settings(max_examples=500)
@given(
    WORDS | FEW,
    st.lists((WORDS | FEW).map(lambda w: " ".join(w[:4])), max_size=8),
)
def test_many_values_are_found_as_each_alone(text: list[str], values: list[str]) -> None:
    """One pass for all values finds what a search for each would find."""
    joined = " - ".join(text)

    assert {value for value in values if slow(joined, value)} == ValueSearch(values).found(joined)


def test_long_texts_are_read_in_parts_without_loss() -> None:
    """No value is missed where two parts meet."""
    values = [f"w{n} w{n + 1}" for n in range(0, 40_000, 7)]
    text = " ".join(f"w{n}" for n in range(40_001))

    assert set(values) == ValueSearch(values).found(text)
    assert len(text) > 3 * (1 << 16)


def test_symbols_count_only_where_there_are_no_words() -> None:
    """`C++` is the word C; `+` alone is itself."""
    assert words("C++") == ("c",)
    assert words("+ +") == ("+", "+")


def test_a_word_is_compared_with_values_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In another language the words of many texts are mostly the same words."""
    compared: list[str] = []

    def sizes(word: str) -> list[int]:
        compared.append(word)
        return prefix_sizes(word)

    search = ValueSearch(["Vilnius", "senas Kaunas"])
    monkeypatch.setattr(form_search, "prefix_sizes", sizes)

    for _ in range(20):
        assert {"Vilnius"} == search.found("Yra Vilniuje, Vilniuje, ne Kaune.")

    assert len(compared) <= 10
