"""Put a question in other words that ask for the same."""

from __future__ import annotations

import re
from typing import Final
from zlib import crc32

_WORD = re.compile(r"[^\W\d_]+")
_INNER_MARK = re.compile(r"[,;:](?=\s)")

FRAMES: Final = (
    "Here is what I would like to know: {}",
    "I was just wondering about something. {}",
    "Let me ask you this: {}",
    "{} That is all I need for now.",
    "As far as you remember: {}",
    "{} Just tell me what you have.",
    "One thing I keep forgetting: {}",
    "Okay, so, {}",
)
"""Words around a question that say nothing of its matter."""


def behind(words: str, ask: str) -> str:
    """The question with words behind it."""
    return f"{ask} {words}"


def before(words: str, ask: str) -> str:
    """The question with words before it."""
    return f"{words} {ask}"


def framed(ask: str) -> str:
    """The question in one of several frames, always the same one."""
    return FRAMES[crc32(ask.encode(errors="replace")) % len(FRAMES)].format(ask)


def in_lower_case(ask: str) -> str:
    """The question in lower case, without its mark."""
    return ask.lower().rstrip("?")


def without_inner_marks(ask: str) -> str:
    """The question without commas and colons, with three marks at its end."""
    bare = _INNER_MARK.sub("", ask).rstrip()
    return f"{bare.rstrip('?.!')}???" if bare.endswith("?") else f"{bare.rstrip('.')} ..."


def with_typo(ask: str) -> str:
    """The question with two letters of its longest word changed over; the first such word."""
    longest = max(_WORD.finditer(ask), key=lambda match: len(match.group()), default=None)
    if longest is None or len(longest.group()) < 4:
        return ask
    middle = (longest.start() + longest.end()) // 2
    return f"{ask[: middle - 1]}{ask[middle]}{ask[middle - 1]}{ask[middle + 1 :]}"
