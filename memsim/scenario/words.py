"""When a text says a value: its words in a row, whatever their case and punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# Scripts that are written without spaces: there each character is a word of its own.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
)
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W{_UNSPACED}]+")
_SYMBOL = re.compile(r"[^\w\s]")

Words = tuple[str, ...]


def words(text: str) -> Words:
    """The words of a text, case-folded; its symbols where it has no word at all."""
    folded = text.casefold()
    return tuple(_WORD.findall(folded)) or tuple(_SYMBOL.findall(folded))


class Sought:
    """Values to look for in many texts, each text being read once whatever their number.

    Args:
        values: what to look for; blank ones are never found.
    """

    def __init__(self, values: Iterable[str]) -> None:
        self._words: dict[str, list[tuple[Words, str]]] = {}
        self._symbols: dict[str, list[tuple[Words, str]]] = {}
        for value in dict.fromkeys(values):
            sequence = words(value)
            if sequence:
                index = self._words if _WORD.match(sequence[0]) else self._symbols
                index.setdefault(sequence[0], []).append((sequence, value))

    def found(self, text: str) -> set[str]:
        """The values that a text says."""
        found: set[str] = set()
        if self._words:
            found.update(_scan(_WORD.finditer(text.casefold()), self._words))
        if self._symbols:
            found.update(_scan(_SYMBOL.finditer(text), self._symbols))
        return found


def _scan(
    matches: Iterator[re.Match[str]], index: dict[str, list[tuple[Words, str]]]
) -> Iterator[str]:
    begun: list[tuple[Words, str, int]] = []
    for match in matches:
        word = match[0]
        starts = index.get(word)
        if not (begun or starts):
            continue
        going = [(w, v, n + 1) for w, v, n in begun if w[n] == word]
        going += [(w, v, 1) for w, v in starts or ()]
        yield from (v for w, v, n in going if n == len(w))
        begun = [entry for entry in going if entry[2] < len(entry[0])]


def says(text: str, value: str) -> bool:
    """Whether a text says a value."""
    return bool(Sought((value,)).found(text))
