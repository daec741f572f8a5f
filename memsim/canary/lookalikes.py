"""Letters of other scripts, and dressed-up ones, that the eye takes for A to Z and 0 to 9.

Only what compatibility decomposition does not already undo. Where a small letter looks like one
Latin letter and its capital like another, each reads as what it looks like.
"""

# ruff: noqa: RUF001 - looking alike is what they are here for

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
"""Character to the letter or digit that it is read as."""
