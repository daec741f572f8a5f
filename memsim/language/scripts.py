r"""Characters by script: vowel signs, scripts without spaces, native digits, points.

Python's `\w` leaves out the vowel signs of Indic scripts, and Thai or Chinese have no word
boundaries. The character classes here say what a word consists of in each script.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Japanese, Chinese
    "\U00020000-\U0003134f"
)
"""Characters of scripts that are written without spaces, as part of a character class."""

CASELESS: Final = f"\u0590-\u0dff\u10a0-\u11ff\u1200-\u137f\uac00-\ud7af{UNSPACED}"
"""Characters of scripts without upper case: an identifier ends beside them."""

INDIC: Final = frozenset(
    {"BENGALI", "DEVANAGARI", "GUJARATI", "GURMUKHI", "KANNADA"}
    | {"MALAYALAM", "ORIYA", "SINHALA", "TAMIL", "TELUGU"}
)
"""Scripts whose vowels are signs on a consonant."""

_MARKED: Final = (range(0x0900, 0x1100), range(0x1780, 0x1800))
_POINTS: Final = re.compile(
    "[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0640"
    "\u055a-\u055c\u055e"  # Armenian marks of stress and question stand inside a word
    "\u00ad\u200b-\u200f\u2060\ufeff]"
)
_NATIVE_DIGIT: Final = re.compile(r"(?![0-9])\d")
_NATIVE_LETTER: Final = re.compile(r"(?![a-zA-Z0-9])[^\W_]|(?<=[GOgo])\u2018(?=[a-z])")


@lru_cache(maxsize=1)
def marks() -> str:
    """The vowel signs and other marks that are part of a word, as part of a character class."""
    codes = (code for block in _MARKED for code in block)
    return "".join(chr(c) for c in codes if unicodedata.category(chr(c)) in {"Mn", "Mc"})


@lru_cache(maxsize=1 << 12)
def script_of(character: str) -> str:
    """The script of a letter as Unicode names it: `LATIN`, `HANGUL`, `DEVANAGARI`."""
    return unicodedata.name(character, "NONE").partition(" ")[0]


def is_mostly_latin(text: str) -> bool:
    """Whether at least half of a text's letters are Latin, as where it has none."""
    if text.isascii():
        return True
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(script_of(c) == "LATIN" for c in letters) >= len(letters)


def has_native_letters(text: str) -> bool:
    """Whether a text has letters or digits beyond ASCII, and not only quotes or pictures."""
    return _NATIVE_LETTER.search(text) is not None


def plain_digits(text: str) -> str:
    """The text with the digits of every script as 0 to 9."""
    return _NATIVE_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit.group())), text)


def without_points(text: str) -> str:
    """The text without vowel points, stretched strokes and invisible characters."""
    return _POINTS.sub("", text)
