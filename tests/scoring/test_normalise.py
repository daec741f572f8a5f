"""Normalising: different ways to write one thing are one, and different things stay different."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.scoring.answer_text import content, fold, places, read_words, stem


@pytest.mark.parametrize(
    ("same", "token"),
    [
        (
            (
                "8 May 2023",
                "8th of May, 2023",
                "May 8, 2023",
                "may 8th 2023",
                "2023-05-08",
                "2023/5/8",
            ),
            "2023-05-08",
        ),
        (("25/12/2023", "12/25/2023", "25.12.2023", "25 Dec 2023"), "2023-12-25"),
        (("May 2023", "may of 2023", "May, 2023"), "2023-05"),
        (("8 Sept", "September 8th", "Sep. 8"), "--09-08"),
        (("3 pm", "3:00 PM", "15:00", "3 p.m"), "15:00"),
        (("12 am", "12:00 am", "00:00"), "00:00"),
        (("twenty-five", "25", "twenty five"), "25"),
        (("two hundred and five", "205"), "205"),
        (("1,250.00", "1250", "$1,250", "one thousand two hundred fifty"), "1250"),
        (("2.5 million", "2,500,000"), "2500000"),
        (("a dozen", "12", "twelve"), "12"),
        (("A-17", "a17", "A17", "a-17", "A_17"), "a17"),
        (("U.S.A.", "USA"), "usa"),
        (("Café", "cafe", "CAFÉ", "cafe\u0301"), "cafe"),
        (("Zoë's", "zoe"), "zoe"),
        (("O'Brien", "O’Brien", "obrien"), "obrien"),
        (("co\u00adop", "coop", "co\u200bop"), "coop"),
        (("1st", "1", "one"), "1"),
        (("-5", "-5.0"), "-5"),
    ],
)
def test_ways_to_write_one_thing_are_one(same: tuple[str, ...], token: str) -> None:
    """Dates, times, numbers, identifiers and spellings have one form."""
    assert {(token,)} == {read_words(text).tokens for text in same}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A-17", "A-170"),
        ("A-17", "BA-17"),
        ("A-17", "A-17-B"),
        ("3.10", "3.1"),
        ("v1.2", "v12"),
        ("5 May 2023", "5 June 2023"),
        ("Plan A", "Plan B"),
        ("Plan A", "plan"),
        ("5", "-5"),
        ("555-0142", "0142"),
        ("10.0.0.7:8080", "10.0.0.7"),
        ("jo@x.org", "x.org"),
    ],
)
def test_different_things_stay_different(one: str, other: str) -> None:
    """Normalising never makes one identifier, version, date or option into another."""
    assert read_words(one).tokens != read_words(other).tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("isn't won't can't cannot", ("is", "not", "will", "not", "can", "not", "can", "not")),
        ("24-hour, 7-year-old", ("24", "hour", "7", "year", "old")),
        ("3-4 weeks, 2022-2023", ("3", "4", "weeks", "2022", "2023")),
        ("the red car and a dog", ("red", "car", "and", "dog")),
        ("Plan A is good", ("plan", "a", "is", "good")),
        ("src/auth.py and/or config.yaml", ("src", "auth", "py", "and", "or", "config", "yaml")),
        ("you may have 3 may be", ("you", "may", "have", "3", "may", "be")),
        ("31/02/1, 45/45/2023", ("31/02/1", "45/45/2023")),
        ("我住在奥斯陆", ("我", "住", "在", "奥", "斯", "陆")),
        ("Thurs. or Fri.", ("thursday", "or", "friday")),
        ("50%", ("50", "percent")),
        ("12:34pm 13pm", ("12:34", "13:00")),
        ("2 and 3, one two", ("2", "and", "3", "1", "2")),
        ("twenty five six", ("25", "6")),
        ("\ufb01ne \uff11\uff12", ("fine", "12")),
        ("", ()),
        ("... !?", ()),
    ],
)
def test_texts_are_read_as_words(text: str, tokens: tuple[str, ...]) -> None:
    """Contractions, compounds, articles, scripts without spaces and odd marks."""
    assert tokens == read_words(text).tokens


def test_clauses_end_at_marks_and_contrasts() -> None:
    """A comma, a full stop, brackets and `but` end a clause; words run on otherwise."""
    words = read_words("Oslo, not Bergen (since May) but maybe")

    assert [0, 1, 1, 2, 2, 4] == list(words.clauses)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("She is going to the lakes", ("go", "lake")),
        ("Yes", ("ye",)),
        ("it is", ("it", "i")),
        ("not married", ("not", "marri")),
        ("the the", ("the",)),
        ("red red car", ("red", "car")),
    ],
)
def test_content_leaves_out_what_says_nothing(text: str, kept: tuple[str, ...]) -> None:
    """Stop words go, unless nothing else is there; yes, no and not stay; each word counts once."""
    assert kept == content(read_words(text))


def test_stems_join_forms_and_leave_names_of_things() -> None:
    """Endings go from words only."""
    assert stem("hiking") == stem("hikes") == "hike"
    assert stem("a17s") == "a17s"
    assert stem("s") == "s"


def test_places_finds_every_start() -> None:
    """Overlapping ones too; an empty needle is nowhere."""
    assert [0, 2] == places("ab", "abab")
    assert [0, 1] == places("aa", "aaa")
    assert [] == places("", "abc")
    assert [] == places("abc", "ab")


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    """No text breaks it: every word has a stem and a clause, and clauses are in order."""
    words = read_words(text)

    assert len(words.tokens) == len(words.stems) == len(words.clauses)
    assert all(words.tokens)
    assert all(words.stems)
    assert list(words.clauses) == sorted(words.clauses)


@given(st.text())
def test_reading_is_blind_to_case(text: str) -> None:
    """Upper case of the folded text reads the same, wherever case can be undone."""
    folded = fold(text)
    if fold(folded.upper()) == folded:
        assert read_words(folded).tokens == read_words(folded.upper()).tokens


@given(st.integers(0, 999_999_999))
def test_grouped_and_plain_numbers_are_one(number: int) -> None:
    """Thousands may be parted by commas."""
    assert read_words(str(number)).tokens == read_words(f"{number:,}").tokens


@pytest.mark.parametrize(
    "hostile",
    ["the " * 20_000, "1 " * 20_000, "a-" * 20_000 + "1", "may " * 20_000, "1,111" * 8_000],
)
def test_long_texts_are_read_once(hostile: str) -> None:
    """Repetition costs no more than its length: this ends at once or not at all."""
    assert read_words(hostile).tokens
