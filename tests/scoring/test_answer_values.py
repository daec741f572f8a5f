"""Values: numbers, dates and choices are compared by what they mean."""

# ruff: noqa: RUF001 - letters of many scripts

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.scoring.probe_types.match_choice import match_choice
from memsim.scoring.probe_types.match_date import days_of, match_date
from memsim.scoring.probe_types.match_number import match_number

OPTIONS = ("red", "blue", "dark blue", "option green")


@pytest.mark.parametrize(
    ("expected", "answer", "tolerance", "right"),
    [
        ("42", "forty-two", 0.0, True),
        ("42", "It is 42, not 43.", 0.0, True),
        ("42", "42.5", 0.0, False),
        ("42", "42.5", 0.02, True),
        ("42", "not 42", 0.0, False),
        ("5000", "5k", 0.0, True),
        ("5,000", "$5,000.00", 0.0, True),
        ("2 million", "2m", 0.0, True),
        ("-5", "-5 degrees", 0.0, True),
        ("-5", "5 degrees", 0.0, False),
        ("0", "zero", 0.0, True),
        ("42", "A-42", 0.0, False),
        ("42", "I don't know", 0.0, False),
        ("3", "1, 2, 3, 4 or 5", 0.0, False),
        ("3", "1, 2, 3 or 4", 0.0, True),
        ("many", "42", 0.0, False),
    ],
)
def test_numbers(expected: str, answer: str, tolerance: float, right: bool) -> None:
    """Words, scales and a relative tolerance; a list of every number names none."""
    assert right == match_number(expected, answer, tolerance=tolerance).right


def test_numbers_of_the_question_are_no_guesses() -> None:
    """An answer may repeat them."""
    asked = "Of orders 1, 2, 3, 4, 5 and 6, which was late?"

    assert match_number("6", "Of 1, 2, 3, 4, 5 and 6 it was 6", tolerance=0, asked=asked).right


def test_dates(subtests: pytest.Subtests) -> None:
    """Any way to write one; within the month or year expected; never coarser than expected."""
    for expected, answer, tolerance, right in [
        ("12 June 2023", "2023-06-12", 0, True),
        ("12 June 2023", "on June 12th, 2023", 0, True),
        ("12 June 2023", "06/12/2023", 0, True),
        ("12 June 2023", "12/06/2023", 0, True),
        ("12 June 2023", "12 June", 0, True),
        ("12 June 2023", "13 June 2023", 0, False),
        ("12 June 2023", "14 June 2023", 2, True),
        ("12 June 2023", "15 June 2023", 2, False),
        ("12 June 2023", "June 2023", 0, False),
        ("12 June 2023", "June 2023", 40, False),
        ("12 June 2023", "not 12 June 2023", 0, False),
        ("June 2023", "12 June 2023", 0, True),
        ("June 2023", "June 2023", 0, True),
        ("June 2023", "2 July 2023", 0, False),
        ("June 2023", "2 July 2023", 2, True),
        ("2023", "12/13/2023", 0, True),
        ("2023", "June 2023", 0, True),
        ("2023", "2024", 0, False),
        ("29 February", "Feb 29", 0, True),
        ("1 January", "31 December", 1, True),
        ("29 February 2024", "1 March", 1, True),
        ("12 June 2023", "1 May 2023, 2 May 2023, 3 May 2023, 4 May 2023, 12 June 2023", 0, False),
        ("soon", "12 June 2023", 0, False),
        ("12 June 2023", "soon", 0, False),
        ("12 June 2023", "30 February 2023", 0, False),
    ]:
        with subtests.test(expected=expected, answer=answer, tolerance=tolerance, right=right):
            assert right == match_date(expected, answer, tolerance=tolerance).right


@given(st.dates(date(1600, 1, 1), date(2150, 1, 1)), st.integers(-40, 40), st.integers(0, 30))
def test_dates_are_right_within_their_tolerance(day: date, off: int, tolerance: int) -> None:
    """A day is right exactly when it is no further away than is allowed."""
    given_day = day + timedelta(days=off)
    match = match_date(day.isoformat(), f"{given_day.isoformat()}.", tolerance=tolerance)

    assert match.right == (abs(off) <= tolerance)


def test_an_ambiguous_date_is_read_both_ways() -> None:
    """5/8 may be May or August."""
    assert {date(2023, 5, 8), date(2023, 8, 5)} == {d.first for d in days_of("5/8/2023")}
    assert {28, 365} == {d.length for d in days_of("February 2023 or 2023")}


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("blue", True),
        ("It was blue.", True),
        ("(b)", True),
        ("B", True),
        ("b) blue", True),
        ("The answer is b.", True),
        ("option b", True),
        ("2", True),
        ("not red, blue", True),
        ("dark blue", False),
        ("red or blue", False),
        ("c", False),
        ("9", False),
        ("z", False),
        ("", False),
        ("I don't know", False),
        ("Ответ: б", True),
        ("Antwort: B", True),
        ("La respuesta es b.", True),
        ("答案是B", True),
        ("選択肢B", True),
        ("정답: 나", True),
        ("β)", True),
        ("ב", True),
        ("Ответ: в", False),
        ("答案是C", False),
    ],
)
def test_choices(answer: str, right: bool) -> None:
    """By words, letter or number; exactly one; a longer option is not the shorter in it."""
    assert right == match_choice("blue", answer, OPTIONS).right


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ("dark blue", "It was dark blue.", True),
        ("red", "red or blue", False),
        ("red", "red, not blue", True),
    ],
)
def test_one_choice_is_made(expected: str, answer: str, right: bool) -> None:
    """The longest option found is meant, and two are none, whichever stands first."""
    assert right == match_choice(expected, answer, OPTIONS).right
