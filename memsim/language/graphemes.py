"""Cut a text without splitting a grapheme cluster.

The rules are stricter than Unicode's: some allowed positions are left out, and no forbidden
position is used.
"""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U000113d1\U0001193f\U00011941\U00011a3a"
    "\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
)
_EXTENDING = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")


def head(text: str, length: int) -> str:
    """The beginning of a text, at most so many characters (code points)."""
    return text[: boundary(text, length)]


def tail(text: str, length: int) -> str:
    """The end of a text, at most so many characters (code points)."""
    return text[boundary(text, len(text) - length, later=True) :] if length > 0 else ""


def boundary(text: str, place: int, *, later: bool = False, least: int = 0) -> int:
    """The nearest position at or before this one, or at or after it, that splits no cluster.

    No position before `least` is looked at; `least` itself is returned if there is none after it.
    """
    place = min(max(place, 0), len(text))
    step = 1 if later else -1
    while least < place < len(text) and _joined(text, place):
        place += step
    return place


def _joined(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii():
        return before == "\r" and after == "\n"
    return (
        before == _JOINER
        or before in _PREPENDED
        or _extends(after)
        or (_is_flag(before) and _is_flag(after))
        or (_is_jamo(before) and _is_jamo(after))
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or _conjunct(text, place)
    )


def _extends(character: str) -> bool:
    return (
        character in _EXTENDING
        or unicodedata.category(character)[0] == "M"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_jamo(character: str) -> bool:
    return (
        "\u1100" <= character <= "\u11ff"
        or "\ua960" <= character <= "\ua97f"
        or "\uac00" <= character <= "\ud7ff"
    )


def _conjunct(text: str, place: int) -> bool:
    # A letter after a virama, with or without marks between them, belongs to the letter before it.
    if not text[place].isalpha():
        return False
    at = place - 1
    while at > 0 and _extends(text[at]):
        if unicodedata.combining(text[at]) == 9:
            return True
        at -= 1
    return False
