"""Dates told in words are read as days, and the same days told otherwise are the same answer."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.scoring.answer_dates import told_dates
from memsim.scoring.answer_match import match_words
from memsim.scoring.answer_text import read_words


def days(text: str) -> list[str]:
    """The days of the dates in a text, as `first..last`."""
    found = [told.readings[0] for told in told_dates(read_words(text))]
    return [f"{d.first:%m-%d}..{d.last:%m-%d}" for d in found]


def test_dates_in_words_are_days(subtests: pytest.Subtests) -> None:
    """Words before a date choose days beside it or a part of it."""
    for text, first, last in [
        ("9 June 2023", "06-09", "06-09"),
        ("the week before 9 June 2023", "06-02", "06-08"),
        ("last week, before 9 June 2023", "06-02", "06-08"),
        ("in the week prior to 9 June 2023", "06-02", "06-08"),
        ("the week leading up to 9 June, 2023", "06-02", "06-08"),
        ("the week after 9 June 2023", "06-10", "06-16"),
        ("two weeks before 11 August 2023", "07-25", "07-31"),
        ("the Friday before 15 July 2023", "07-14", "07-14"),
        ("the Saturday before 15 July 2023", "07-08", "07-08"),
        ("the Monday after 15 July 2023", "07-17", "07-17"),
        ("the weekend before 17 July 2023", "07-15", "07-16"),
        ("two weekends before 17 July 2023", "07-08", "07-09"),
        ("3 days before 17 July 2023", "07-14", "07-14"),
        ("a few days before 17 July 2023", "07-11", "07-16"),
        ("the month before 17 July 2023", "06-01", "06-30"),
        ("10 years before 3 June 2023", "01-01", "12-31"),
        ("the week of 23 August 2023", "08-21", "08-27"),
        ("the weekend of 24 June 2022", "06-25", "06-26"),
        ("the first weekend of August 2023", "08-05", "08-06"),
        ("the last Friday of June 2023", "06-30", "06-30"),
        ("the third week of June 2023", "06-15", "06-21"),
        ("early June 2023", "06-01", "06-10"),
        ("mid-June 2023", "06-11", "06-20"),
        ("at the end of June 2023", "06-21", "06-30"),
        ("the summer of 2022", "06-01", "08-31"),
        ("June 2023", "06-01", "06-30"),
        ("9-10 September 2023", "09-09", "09-10"),
        ("from 19 to 25 June 2023", "06-19", "06-25"),
        ("June 19-25, 2023", "06-19", "06-25"),
        ("between 29 June and 5 July 2023", "06-29", "07-05"),
        ("24June, 2022", "06-24", "06-24"),
        ("April.2023", "04-01", "04-30"),
    ]:
        with subtests.test(text=text):
            assert [f"{first}..{last}"] == days(text)


@pytest.mark.parametrize(
    "text", ["before I left", "week after week", "the first of many", "31 cats"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    """Units and orders need a date."""
    assert [] == days(text)


def test_a_date_may_be_told_otherwise(subtests: pytest.Subtests) -> None:
    """Days within the expected ones are right; others, and coarser ones, are wrong."""
    for expected, answer, right in [
        ("The week before 9 June 2023", "2 June, 2023", True),
        ("The week before 9 June 2023", "approximately 2-3 June 2023", True),
        ("The week before 9 June 2023", "in the first week of June 2023", True),
        ("The Friday before 15 July 2023", "On Friday, 14 July 2023.", True),
        ("two weekends before 17 July 2023", "the weekend of 8-9 July 2023", True),
        ("The weekend before 13 September 2023", "9 September", True),
        ("June 2023", "mid June 2023", True),
        ("2022", "last year, in the summer of 2022", True),
        ("2", "Twice.", True),
        ("The week before 9 June 2023", "the week before 16 June 2023", False),
        ("The week before 9 June 2023", "9 June 2023", False),
        ("The week before 9 June 2023", "June 2023", False),
        ("The Friday before 15 July 2023", "15 July 2023", False),
        ("The Friday before 15 July 2023", "the Friday before 22 July 2023", False),
        ("the summer of 2022", "the summer of 2021", False),
        ("12 June 2023", "early June 2023", False),
        ("12 June 2023", "not on 12 June 2023", False),
    ]:
        with subtests.test(expected=expected, answer=answer):
            assert right == match_words(expected, answer, "When was it?").right


WORDS = (
    *("the", "week", "weekend", "Friday", "before", "after", "of", "to", "and", "between", "first"),
    *(
        "early",
        "late",
        "mid",
        "summer",
        "two",
        "9",
        "31",
        "30",
        "2023",
        "June",
        "9 June 2023",
        "3 May",
    ),
    *("2023-02-28", "12/11/2023", "24June", "April.2023", "May 2022", ",", ".", "-", "few", "days"),
)


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text())
def test_any_text_may_hold_dates(text: str) -> None:
    """Dates have their places in the text, in order, and their last day is not before the first."""
    words = read_words(text)
    end = 0
    for told in told_dates(words):
        assert end <= told.start < told.end <= len(words.tokens)
        end = told.end
        assert all(days.first <= days.last for days in told.readings)


@given(st.dates(date(1600, 1, 1), date(2100, 1, 1)), st.sampled_from(["week", "weekend", "Friday"]))
def test_what_stands_before_a_day_is_before_it(day: date, unit: str) -> None:
    """Never the day itself, and never more than eight days away."""
    (told,) = told_dates(read_words(f"the {unit} before {day.isoformat()}"))
    (found,) = told.readings

    assert 1 <= (day - found.last).days
    assert (day - found.first).days <= 8
