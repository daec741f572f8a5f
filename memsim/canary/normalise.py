"""Normalise disguised text that stays legible: case, spacing, look-alikes, hidden characters.

Each character is normalised alone. So joined texts can be normalised separately, and each position
can be traced back to the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate, chain
from types import MappingProxyType

# Characters of other scripts, and decorated ones, that look like A to Z and 0 to 9.


# ruff: noqa: RUF001 - the table lists look-alikes


_ALIKE = {
    "A": "АаΑαᎪᴀꓮ",
    "B": "ВвΒβᏴʙꓐЬь",
    "C": "СсϹϲᏟᴄꓚↃↄ",
    "D": "ԀԁᎠᴅꓓĐđÐð",
    "E": "ЕеΕεᎬᴇꓰ",
    "F": "ϜϝꓝꜰӺ",
    "G": "ԌԍᏀɢꓖɡ",
    "H": "НнΗηᎻʜꓧһҺĦħ",
    "I": "ІіΙιıᏆɪꓲӀӏ",
    "J": "ЈјϳͿᎫᴊꓙ",
    "K": "КкΚκᏦᴋꓗĸ",
    "L": "ᏞʟꓡŁł",
    "M": "МмΜᎷᴍꓟ",
    "N": "ΝɴꓠпոՈ",
    "O": "ОоΟοσᴏꓳօՕØø",
    "P": "РрΡρᏢᴘꓑ",
    "Q": "ԚԛգԳզ",
    "R": "ᎡᏒʀꓣгᴦ",
    "S": "ЅѕᏚꜱꓢՏ",
    "T": "ТтΤτᎢᴛꓔŦŧ",
    "U": "ᴜꓴՍսυ",
    "V": "ѴѵᏙᴠꓦν",
    "W": "ԜԝᎳᴡꓪωшШ",
    "X": "ХхΧχꓫ",
    "Y": "УуΥҮүγʏꓬ",
    "Z": "ΖζᏃᴢꓜƵƶ",
    "3": "ЗзƷʒӠӡ",
    "4": "ЧчᏎ",
    "6": "бᏮ",
    "8": "Ȣȣ",
}  # fmt: skip


def _row(start: int, symbols: str) -> dict[str, str]:
    return {chr(start + place): symbol for place, symbol in enumerate(symbols)}


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DRESSED = (
    _row(0x1F150, _LETTERS)  # white on a black circle
    | _row(0x1F170, _LETTERS)  # white on a black square
    | _row(0x1F1E6, _LETTERS)  # the halves of flags
    | _row(0x2776, "123456789")
    | _row(0x2780, "123456789")
    | _row(0x278A, "123456789")
    | _row(0x24F5, "123456789")
)

LOOKALIKES: Mapping[str, str] = MappingProxyType(
    {alike: plain for plain, row in _ALIKE.items() for alike in row} | _DRESSED
)
"""The letter or digit that a character looks like."""


_KEPT = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_TAGS = range(0xE0020, 0xE007F)
"""Unicode's invisible copy of ASCII."""
_BLOCK = 4096
_UPPER = bytes(range(256)).upper()
_DROPPED = bytes(code for code in range(256) if chr(_UPPER[code]) not in _KEPT)


class _Reading(dict[int, str]):
    """The normal form of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        read = _read(chr(code - 0xE0000 if code in _TAGS else code))
        self[code] = read
        return read


def normalise(text: str) -> str:
    """The text as capital letters A to Z and digits, and nothing else.

    Compatibility forms are decomposed, and marks and invisible characters are dropped. Tag
    characters and look-alikes become the characters that they stand for. Never raises; lone
    surrogates are dropped.
    """
    if not text.isascii():
        text = _BEYOND_ASCII.sub(_plain, text)
    return text.encode("ascii").translate(_UPPER, _DROPPED).decode("ascii")


class NormalText:
    """An original text and its normal form, with the positions of the characters.

    Attributes:
        text: the original.
        plain: `normalise(text)`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        blocks = [normalise(text[at : at + _BLOCK]) for at in range(0, len(text), _BLOCK)]
        self.plain = "".join(blocks)
        self._ends = list(accumulate(map(len, blocks)))
        self._origins: dict[int, list[int]] = {}

    def origin(self, place: int) -> int:
        """The position in the original of a character of the normal form.

        Args:
            place: an index into `plain`.

        Returns:
            An index into `text`; its length if the place is past the end.
        """
        block = bisect_right(self._ends, place)
        if block == len(self._ends):
            return len(self.text)
        place -= self._ends[block - 1] if block else 0
        return block * _BLOCK + self._block_origins(block)[place]

    def _block_origins(self, block: int) -> list[int]:
        """For each character of a block's normal form, the position of its original there."""
        origins = self._origins.get(block)
        if origins is None:
            within = self.text[block * _BLOCK : (block + 1) * _BLOCK]
            origins = [at for at, c in enumerate(within) for _ in _READING[ord(c)]]
            self._origins[block] = origins
        return origins


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
