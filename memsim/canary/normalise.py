"""Reads through disguises that leave a text legible: case, spacing, look-alikes, hidden characters.

Every character is read on its own, so that reading two texts one after the other is reading both
together, and a place in what was read can be traced to a place in the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate, chain

from memsim.canary.lookalikes import LOOKALIKES

_KEPT = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_TAGS = range(0xE0020, 0xE007F)
"""Unicode's invisible copy of ASCII."""
_BLOCK = 4096
_UPPER = bytes(range(256)).upper()
_DROPPED = bytes(code for code in range(256) if chr(_UPPER[code]) not in _KEPT)


class _Reading(dict[int, str]):
    """What each character reads as, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        read = _read(chr(code - 0xE0000 if code in _TAGS else code))
        self[code] = read
        return read


def normalise(text: str) -> str:
    """The text as capital letters A to Z and digits, and nothing else.

    Compatibility forms are decomposed, marks and invisible characters dropped, tag characters and
    look-alikes read as what they stand for. Never raises; lone surrogates are dropped.
    """
    if not text.isascii():
        text = _BEYOND_ASCII.sub(_plain, text)
    return text.encode("ascii").translate(_UPPER, _DROPPED).decode("ascii")


class Normalised:
    """A text as it was and as it is read, with the way back.

    Attributes:
        text: as it was.
        plain: `normalise(text)`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        blocks = [normalise(text[at : at + _BLOCK]) for at in range(0, len(text), _BLOCK)]
        self.plain = "".join(blocks)
        self._ends = list(accumulate(map(len, blocks)))

    def origin(self, place: int) -> int:
        """Where the character stands in the text that is read at a place.

        Args:
            place: an index into `plain`.

        Returns:
            An index into `text`; its length when the place is past the end.
        """
        block = bisect_right(self._ends, place)
        if block == len(self._ends):
            return len(self.text)
        place -= self._ends[block - 1] if block else 0
        start = block * _BLOCK
        within = self.text[start : start + _BLOCK]
        # The first character up to which more is read than stands before the place.
        return start + bisect_right(
            range(len(within)), place, key=lambda at: len(normalise(within[: at + 1]))
        )


_READING = _Reading()


def _plain(run: re.Match[str]) -> str:
    return run.group().translate(_READING)


def _read(character: str) -> str:
    known = LOOKALIKES.get(character)
    if known is not None:
        return known
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    parts = unicodedata.normalize("NFKD", character)
    upper = (LOOKALIKES.get(part, part).upper() for part in parts)
    return "".join(c for c in (LOOKALIKES.get(c, c) for c in chain(*upper)) if c in _KEPT)
