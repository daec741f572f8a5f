"""Virtual time: a conversation of months is replayed in seconds and never reads the real time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from memsim.message import EPOCH, utc

_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_PART = re.compile(r"(\d+)\s*(s|min|m|h|d|w)(?![a-z])")


class Clock:
    """The time of one case, in UTC.

    Args:
        start: the first instant; must have a time zone.
    """

    def __init__(self, start: datetime = EPOCH) -> None:
        self._now = utc(start)

    def now(self) -> datetime:
        """The present instant, in UTC."""
        return self._now

    def advance(self, by: timedelta) -> datetime:
        """Move by an interval, which may be negative, and return the new instant."""
        self._now += by
        return self._now

    def set(self, now: datetime) -> datetime:
        """Move to an instant and return it."""
        self._now = utc(now)
        return self._now


def parse_duration(text: str) -> timedelta:
    """Parse a duration such as `90s`, `5min`, `36h`, `3d`, `2w` or `1d 6h`.

    Raises:
        ValueError: the text is not a duration.
    """
    compact = text.strip().lower()
    if not compact or _PART.sub("", compact).strip():
        message = f"{text!r} is not a duration such as 90s, 5min, 36h, 3d or 2w"
        raise ValueError(message)
    seconds = sum(int(n) * _UNITS[unit] for n, unit in _PART.findall(compact))
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        message = f"{text!r} is too long: dates end with the year 9999"
        raise ValueError(message) from None


def stamp(moment: datetime) -> str:
    """Format an instant as in records: ISO 8601, seconds, `Z`."""
    return f"{moment.isoformat()[:19]}Z"


def read_stamp(text: str) -> datetime:
    """Parse an instant that `stamp` formatted."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
