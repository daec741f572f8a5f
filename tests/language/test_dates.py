"""Dates as texts name them, and what they mean on a day."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.language.dates import day_text, elapsed, mentions, resolve

MONDAY = date(2023, 5, 8)


def test_a_date_means_what_it_meant_that_day(subtests: pytest.Subtests) -> None:
    """Relative dates are counted from the day on which they were said."""
    for text, said, expected in [
        ("yesterday", MONDAY, "7 May 2023"),
        ("the day before yesterday", MONDAY, "6 May 2023"),
        ("today", MONDAY, "8 May 2023"),
        ("tomorrow", date(2024, 2, 28), "29 February 2024"),
        ("two days ago", MONDAY, "6 May 2023"),
        ("a week ago", MONDAY, "1 May 2023 (a week before 8 May 2023)"),
        ("three weeks ago", MONDAY, "17 April 2023 (3 weeks before 8 May 2023)"),
        ("two weekends ago", MONDAY, "two weekends before 8 May 2023"),
        ("a few days ago", MONDAY, "a few days before 8 May 2023"),
        ("two months ago", date(2023, 1, 31), "November 2022"),
        ("four years ago", MONDAY, "2019"),
        ("in a couple of days", MONDAY, "10 May 2023"),
        ("in 3 months", date(2023, 11, 30), "February 2024"),
        ("last week", MONDAY, "the week before 8 May 2023"),
        ("next weekend", MONDAY, "the weekend after 8 May 2023"),
        ("this week", MONDAY, "the week of 8 May 2023"),
        ("last month", date(2023, 1, 10), "December 2022"),
        ("next month", date(2023, 12, 31), "January 2024"),
        ("next year", MONDAY, "2024"),
        ("last night", MONDAY, "7 May 2023"),
        ("this morning", MONDAY, "8 May 2023"),
        ("last Friday", date(2023, 7, 15), "the Friday before 15 July 2023 (14 July 2023)"),
        ("last Monday", MONDAY, "the Monday before 8 May 2023 (1 May 2023)"),
        ("last Fri", date(2023, 7, 15), "the Friday before 15 July 2023 (14 July 2023)"),
        ("last tues", MONDAY, "the Tuesday before 8 May 2023 (2 May 2023)"),
        ("next Thurs", MONDAY, "the Thursday after 8 May 2023 (11 May 2023)"),
        ("this Sun", MONDAY, "Sunday (14 May 2023)"),
        ("next Monday", MONDAY, "the Monday after 8 May 2023 (15 May 2023)"),
        ("on Thursday", MONDAY, "Thursday (11 May 2023)"),
        ("this Sunday", MONDAY, "Sunday (14 May 2023)"),
        ("last June", MONDAY, "June 2022"),
        ("next June", MONDAY, "June 2023"),
        ("last summer", MONDAY, "summer 2022"),
        ("next winter", MONDAY, "winter 2023"),
        ("12 June", MONDAY, "12 June"),
        ("the 3rd of June 2024", MONDAY, "3 June 2024"),
        ("August 13th", MONDAY, "August 13th"),
        ("Sept. 4, 2021", MONDAY, "4 September 2021"),
        ("May 2021", MONDAY, "May 2021"),
        ("in August", MONDAY, "August"),
        ("since 2016", MONDAY, "2016"),
        ("2023-04-02", MONDAY, "2023-04-02"),
    ]:
        with subtests.test(text=text, said=said, expected=expected):
            (mention,) = mentions(f"It was {text} at noon.")

            meant = resolve(mention, said)

            assert meant is not None
            assert meant.label == expected


def test_the_sun_is_no_day() -> None:
    """A short name of a weekday that is a word too is written with a capital."""
    assert mentions("I love this sun, and that I sat here last.") == ()


@pytest.mark.parametrize("text", ["yesterday", "last week", "two days ago", "on Friday"])
def test_a_relative_date_of_unknown_day_means_nothing(text: str) -> None:
    """Without the day on which it was said it is not guessed."""
    (mention,) = mentions(text)

    assert resolve(mention, None) is None


@pytest.mark.parametrize("text", ["31 February 2023", "2023-13-40", "99 June"])
def test_an_impossible_date_means_nothing(text: str) -> None:
    """What the calendar does not have is not resolved."""
    assert [resolve(m, MONDAY) for m in mentions(text) if m.kind != "clock"] in ([], [None])


def test_times_and_weekly_days_are_mentioned_and_not_resolved() -> None:
    """A time of day or a recurring day is no single day."""
    found = mentions("On Mondays at 6:45 or 3 pm")

    assert ["weekly", "clock", "clock"] == [m.kind for m in found]
    assert [None] * 3 == [resolve(m, MONDAY) for m in found]


def test_ordinary_words_are_no_dates() -> None:
    """Numbers and verbs that look like months are left alone."""
    assert mentions("I may have 12 marches and a second-hand car, version 3.2") == ()


@pytest.mark.parametrize(
    ("since", "unit", "expected"),
    [
        (date(2023, 5, 1), "", "7 days"),
        (date(2023, 4, 10), "", "4 weeks"),
        (date(2022, 11, 9), "", "5 months"),
        (date(2013, 5, 8), "", "10 years"),
        (date(2023, 5, 1), "week", "1 week"),
        (date(2023, 5, 8), "day", "0 days"),
    ],
)
def test_the_time_between_is_told_in_a_fitting_unit(since: date, unit: str, expected: str) -> None:
    """Days, weeks, months or years, as one would say, or as asked."""
    assert elapsed(since, MONDAY, unit) == expected


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2999, 12, 31)))
def test_a_told_day_is_read_back(day: date) -> None:
    """What the reader says can be read by the reader."""
    (mention,) = mentions(day_text(day))

    meant = resolve(mention, None)

    assert meant is not None
    assert (day, day) == (meant.first, meant.last)


_PIECES = ["last", "next", "in", "two", "few", "ago", "week", "Friday", "May", "2023", "31", "am"]


@given(st.lists(st.sampled_from(_PIECES)).map(" ".join) | st.text(), st.dates())
def test_every_mention_is_resolved_or_not_without_failing(text: str, said: date) -> None:
    """No text and no day, not even the calendar's first or last, is too strange."""
    for mention in mentions(text):
        meant = resolve(mention, said)
        assert mention.text == text[mention.start : mention.end]
        assert meant is None or meant.first <= meant.last


@pytest.mark.parametrize("text", ["in May 2023", "by May, 2023", "since May of 2023"])
def test_a_month_with_its_year_is_that_month_and_no_other(text: str) -> None:
    """The year after a month is not lost to the word before it."""
    (mention,) = mentions(text)
    found = resolve(mention, date(2025, 2, 3))
    assert found is not None
    assert (date(2023, 5, 1), date(2023, 5, 31)) == (found.first, found.last)
