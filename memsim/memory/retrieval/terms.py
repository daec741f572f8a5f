"""What a text is found by: the terms that lexical rankers index and look up."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import Stemmer

from memsim.language.lexicon import STOP
from memsim.language.text import fold

Analyse = Callable[[str], list[str]]
"""A text to its terms, in order, repeated as often as they stand there."""

# Scripts that write words without spaces between them are indexed by pairs of characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f"
)
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[a-z]+)?")
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:'[a-z]+)?")
_PAIRED = re.compile(rf"[{_UNSPACED}]")
_IDENTIFIER = re.compile(r"[^\W_]+(?:[-_/.:@#][^\W_]+)+")
_DIGIT = re.compile(r"\d")
_STEMMED_LENGTH: Final = 64


def lower(text: str) -> list[str]:
    """Words without case: runs of letters and digits, with what follows one apostrophe.

    Accents are dropped outside ASCII, and scripts that do not part words give pairs of characters.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    found: list[str] = []
    for word in _WORD.findall(fold(text)):
        if _PAIRED.match(word):
            found += (word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.append(word)
    return found


def stem(text: str) -> list[str]:
    """Porter stems of the words that are not English stop words, and identifiers whole.

    So `moving` finds `moved`, and `A-17` finds itself alone, not every 17.
    """
    found = [*filter(None, map(_root, lower(text)))]
    if _DIGIT.search(text):
        found += (code for code in _IDENTIFIER.findall(fold(text)) if _DIGIT.search(code))
    return found


ANALYSERS: Final[dict[str, Analyse]] = {"lower": lower, "stem": stem}
"""The ways to read a text, by the name that a strategy's parameter gives."""

_stemmer = Stemmer.Stemmer("porter")
_stemmer.maxCacheSize = 0


@lru_cache(maxsize=1 << 16)
def _root(word: str) -> str:
    bare = word.removesuffix("'s")
    if bare in STOP or word in STOP:
        return ""
    return str(_stemmer.stemWord(bare)) if len(bare) <= _STEMMED_LENGTH else bare
