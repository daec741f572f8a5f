"""How remembered lines begin: `- [2023-05-08] Caroline: text`, each part optional.

A time may follow the date, and round brackets may stand for square ones. What looks like a head is
one where a strategy wrote the text; `Port: 8443` in a tool's result is not said by a Port.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, NamedTuple

from memsim.models.lexicon import LABELS
from memsim.models.text import fold

ROLES: Final = frozenset({"user", "assistant", "system", "tool", "memory", "human", "ai", "agent"})
"""Speakers that are no persons."""

_HEAD: Final = re.compile(
    r"\s{0,40}(?:[-*\u2022>]\s{1,4}|#{1,6}\s|\d{1,3}[.)]\s)?"
    r"(?:[\[(]?(?P<date>[12]\d{3}-[01]\d-[0-3]\d)"
    r"(?:[T ,]{1,2}\d\d:\d\d(?::\d\d)?(?:\s?UTC|Z)?)?[\])]?[:,]?\s{0,4})?"
    r"(?:(?P<who>[^\W\d_][\w'.\-]{0,30}(?:\s[A-Z][\w'.\-]{0,30}){0,2}):(?:\s{1,4}|$))?"
)


class Head(NamedTuple):
    """How a line begins, and where each part of the beginning ends.

    Attributes:
        who: the name before a colon, as written, or nothing.
        day: the date, or None.
        after_day: where the text begins if the name is part of it.
        after_who: where it begins if the name is the speaker's.
    """

    who: str
    day: date | None
    after_day: int
    after_who: int


def read_head(line: str) -> Head:
    """How a line begins."""
    head = _HEAD.match(line)
    if head is None or not (head["date"] or head["who"]):
        return Head("", None, 0, 0)
    who, day = head["who"] or "", _day(head["date"])
    start = head.start("who") if who else head.end()
    return Head(who, day, start if head["date"] else 0, head.end())


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def split_head(line: str) -> tuple[str, str, date | None]:
    """A remembered line without its date and speaker, then these; nothing and None without them."""
    head = read_head(line)
    if head.who and is_label(head.who):
        return line[head.after_day :], "", head.day
    return line[head.after_who :], head.who, head.day


def is_label(who: str) -> bool:
    """Whether what stands before a colon says what follows rather than who says it."""
    return fold(who) in LABELS
