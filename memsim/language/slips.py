"""Read a misspelt word of a question as the word that was meant, if the talk has it.

Four slips of the fingers are known: two letters changed over, one doubled or said twice too few,
one too many, one of its neighbours on the keyboard. A word that somebody said is never read as
another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from memsim.language.lexicon import STOP

SHORTEST: Final = 5
"""Letters of a word that may be misspelt: of shorter ones too many have neighbours."""

SURE: Final = 6
"""Letters of a word of which one letter may be another one, or one may be missing."""

LONGEST: Final = 24
"""Letters of the longest word that is looked at."""

MOST_WORDS: Final = 40
"""Words of a longer text that are looked at: it is pasted, not typed."""

_WORD: Final = re.compile(r"(?<![^\W_])[^\W\d_]{5,24}(?![^\W_])")
_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def _keyboard() -> dict[str, str]:
    beside: dict[str, str] = {}
    for number, row in enumerate(_ROWS):
        for place, letter in enumerate(row):
            near = row[max(0, place - 1) : place] + row[place + 1 : place + 2]
            for other in (number - 1, number + 1):
                if 0 <= other < len(_ROWS):
                    shift = 0 if other < number else -1
                    at = max(0, place + shift)
                    near += _ROWS[other][at : place + shift + 2]
            beside[letter] = near
    return beside


_BESIDE: Final = _keyboard()


@lru_cache(maxsize=1 << 10)
def meant_words(word: str) -> tuple[str, ...]:
    """Words that a folded one may be a slip of, the likeliest slips first."""
    if not (SHORTEST <= len(word) <= LONGEST and word.isascii() and word.isalpha()):
        return ()
    found: dict[str, None] = {}
    for at in range(len(word) - 1):
        found[f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"] = None
    if len(word) < SURE:
        found.pop(word, None)
        return tuple(found)
    for at in range(len(word)):
        found[word[:at] + word[at + 1 :]] = None
        found[word[:at] + word[at] + word[at:]] = None
    for at, letter in enumerate(word):
        for other in _BESIDE[letter]:
            found[word[:at] + other + word[at + 1 :]] = None
    found.pop(word, None)
    return tuple(found)


def respelled(text: str, choose: Callable[[str, Sequence[str]], str | None]) -> str:
    """A text with its misspelt words as they were meant.

    `choose` is given a folded word with the words that it may be a slip of. It gives one of these,
    or None where the word is no slip.
    """
    found = [match for match in _WORD.finditer(text) if match[0].isascii()]
    if len(found) > MOST_WORDS:
        return text
    changed = text
    for match in reversed(found):
        word = match[0].lower()
        if word in STOP:
            continue
        meant = choose(word, meant_words(word))
        if meant is not None:
            written = meant.capitalize() if match[0][0].isupper() else meant
            changed = changed[: match.start()] + written + changed[match.end() :]
    return changed
