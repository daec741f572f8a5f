"""Virtual time: UTC, durations, stamps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.clock import Clock, parse_duration, read_stamp, stamp
from memsim.message import EPOCH, utc

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OSLO_SUMMER = timezone(timedelta(hours=2))


def test_a_clock_begins_where_scripts_begin() -> None:
    """Unless it is told otherwise."""
    assert Clock().now() == EPOCH
    assert Clock(NOON).now() == NOON


def test_a_clock_moves_only_when_moved() -> None:
    """Forwards, and backwards, as clocks do."""
    clock = Clock(NOON)

    assert clock.advance(timedelta(hours=1)) == NOON + timedelta(hours=1)
    assert clock.advance(timedelta(hours=-2)) == NOON - timedelta(hours=1)
    assert clock.set(NOON) == NOON
    assert clock.now() == NOON


def test_time_is_utc_whatever_it_is_given_in() -> None:
    """The same instant, on the one clock that has no summer time."""
    local = datetime(2026, 3, 1, 14, tzinfo=OSLO_SUMMER)
    clock = Clock(local)

    assert (clock.now(), clock.now().tzinfo) == (NOON, UTC)
    assert clock.set(local).tzinfo is UTC


def test_time_without_a_zone_is_refused() -> None:
    """It would be this machine's."""
    naive = NOON.replace(tzinfo=None)

    for make in (utc, Clock, Clock().set):
        with pytest.raises(ValueError, match="has no time zone"):
            make(naive)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", timedelta(seconds=90)),
        ("5min", timedelta(minutes=5)),
        ("5m", timedelta(minutes=5)),
        ("36h", timedelta(hours=36)),
        ("3d", timedelta(days=3)),
        ("2w", timedelta(weeks=2)),
        ("1d 6h", timedelta(days=1, hours=6)),
        ("1d6h30m", timedelta(days=1, hours=6, minutes=30)),
        (" 2 W ", timedelta(weeks=2)),
        ("0s", timedelta()),
    ],
)
def test_durations_are_read(text: str, expected: timedelta) -> None:
    """A number and a unit, as often as wanted."""
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "5", "d", "-1d", "1.5h", "1 day", "3 months", "1d later", "1d,2h", "9" * 20 + "w"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    """With one line that quotes it; also one that no calendar can hold."""
    with pytest.raises(ValueError, match=r"is not a duration|dates end with the year") as refused:
        parse_duration(text)

    assert repr(text) in str(refused.value)


@given(st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9999, 12, 31)))  # noqa: DTZ001
def test_a_stamp_is_read_back(moment: datetime) -> None:
    """To the second, which is all that records keep."""
    whole = moment.replace(microsecond=0, tzinfo=UTC)

    assert read_stamp(stamp(whole)) == whole


def test_a_stamp_is_iso() -> None:
    """Seconds and a Z."""
    assert stamp(NOON) == "2026-03-01T12:00:00Z"


@given(st.integers(0, 10**6), st.integers(0, 10**4), st.integers(0, 10**4))
def test_parts_of_a_duration_add_up(seconds: int, hours: int, weeks: int) -> None:
    """In any order."""
    expected = timedelta(seconds=seconds, hours=hours, weeks=weeks)

    assert parse_duration(f"{seconds}s {hours}h {weeks}w") == expected
    assert parse_duration(f"{weeks}w{seconds}s{hours}h") == expected
