"""What is legible in disguise is read, and every place in what was read can be traced back."""

# ruff: noqa: RUF001 - looking alike is what is tested

from __future__ import annotations

import string
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memsim.canary import normalise
from memsim.canary.normalise import LOOKALIKES, NormalText
from tests.canary.reference import read

ANY_TEXT = st.text(st.characters())  # lone surrogates among them


def test_reads(subtests: pytest.Subtests) -> None:
    """Capitals A to Z and digits are kept, and what looks like them is read as them."""
    for text, expected in [
        ("6pxw-4B5K", "6PXW4B5K"),
        ("", ""),
        (" \t\r\n.,-_*|/", ""),
        (string.printable, string.digits + 2 * string.ascii_uppercase),
        ("Ａｂ９", "AB9"),
        ("𝟔𝐏𝔛𝕎", "6PXW"),
        ("⑥Ⓟⓧ", "6PX"),
        ("❻➅➏⓺", "6666"),
        ("🅟🅿🇵🄿", "PPPP"),
        ("🅐🅩🅰🆉🇦🇿", "AZAZAZ"),
        ("❶❾➀➈➊➒⓵⓽", "19191919"),
        ("٦۶६", "666"),
        ("²½ⅷ", "212VIII"),
        ("P\u0301Ķǜ", "PKU"),
        ("6\u200bP\u00adX\ufeffW\x00", "6PXW"),
        ("\u202eWXP6\u202c", "WXP6"),
        ("6\ufe0f\u20e3", "6"),
        ("\U000e0036\U000e0050\U000e0078", "6PX"),
        ("\U000e001f\U000e0020\U000e007e\U000e007f\U000e0001", ""),
        ("\U000e0021\U000e0030\U000e007a", "0Z"),
        ("РХКМ рхкмвнтгш", "PXKMPXKMBHTRW"),
        ("ΡΧΚΜ ρχκνω", "PXKMPXKVW"),
        ("б З Ч", "634"),
        ("ϲϹ", "CC"),
        ("ᏢᏃᎳ ꓑꓪꓫ ᴘᴡʀꜱ", "PZWPWXPWRS"),
        ("ß ﬁ ſ ı", "SSFISI"),
        ("漢字 한글 🙂", ""),
        ("\ud800\udc00\udfff", ""),
    ]:
        with subtests.test(text=text, expected=expected):
            assert expected == normalise(text)


@given(ANY_TEXT)
@example("İŉǰΐ")
def test_reading_is_reading_each_character(text: str) -> None:
    """As slowly and plainly as can be, one by one."""
    assert "".join(map(read, text)) == normalise(text)


def test_every_character_can_be_read() -> None:
    """All but rare Han gives capitals and digits, or nothing; those stay as they are."""
    every = "".join(map(chr, [*range(0x20000), *range(0xE0000, 0xE0200), sys.maxunicode]))

    assert set(string.digits + string.ascii_uppercase) == set(normalise(every))
    assert normalise(normalise(every)) == normalise(every)


@given(ANY_TEXT, ANY_TEXT)
def test_reading_two_texts_is_reading_both(one: str, other: str) -> None:
    """So a copy that is spread over messages is read as one."""
    assert normalise(one) + normalise(other) == normalise(one + other)


@given(ANY_TEXT, st.integers(1, 3))
def test_every_place_is_traced_to_its_character(text: str, times: int) -> None:
    """Also where one character reads as several, and where most read as nothing."""
    text *= times
    reading = NormalText(text)
    expected = [at for at, character in enumerate(text) for _ in read(character)]

    assert normalise(text) == reading.plain
    assert expected == [reading.origin(place) for place in range(len(reading.plain))]
    assert len(text) == reading.origin(len(reading.plain))
    assert len(text) == reading.origin(len(reading.plain) + 5)


@pytest.mark.parametrize("unit", ["a", "é.", "..z", "½🙂", "\u200b"])
def test_places_are_traced_over_block_borders(unit: str) -> None:
    """Long texts are read in blocks of 4,096 characters, which nobody can tell."""
    text = unit * (9000 // len(unit)) + "Q7"
    reading = NormalText(text)
    origins = [at for at, character in enumerate(text) for _ in read(character)]

    assert normalise(text) == reading.plain
    sample = [0, 1, 4095, 4096, 4097, 8191, 8192, 8193, len(origins) - 2, len(origins) - 1]
    for place in sample:
        if 0 <= place < len(origins):
            assert origins[place] == reading.origin(place)


def test_lookalikes_are_single_characters_with_one_meaning() -> None:
    """Each stands for one capital or digit, and none of those for another."""
    assert {1} == {len(alike) for alike in LOOKALIKES}
    assert set(LOOKALIKES.values()) <= set(string.digits + string.ascii_uppercase)
    assert not [alike for alike in LOOKALIKES if alike.isascii()]
