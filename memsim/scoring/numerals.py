"""Reads number words, so that `twenty-five` and `25` are one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_UNITS = {word: n for n, word in enumerate(_SMALL.split())}
_ROUND = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * n for n, word in enumerate(_ROUND.split(), start=2)}
_TIMES = {"dozen": 12, "hundred": 100}
_SCALES = {"thousand": 1000, "million": 10**6, "billion": 10**9}
_ALL = frozenset({*_UNITS, *_TENS, *_TIMES, *_SCALES})


def spell_out(words: Sequence[str]) -> list[str]:
    """The words with every number written in digits: `two hundred and five` becomes `205`."""
    if _ALL.isdisjoint(words):
        return list(words)
    return list(_spelled(words))


def _spelled(words: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(words):
        number = _Number()
        end = number.take(words, place)
        if end == place:
            yield words[place]
            place += 1
        else:
            yield number.digits
            place = end


class _Number:
    """A number while it is being read: `total` is closed, `part` still grows."""

    def __init__(self) -> None:
        self.total = 0.0
        self.part: float | None = None

    def take(self, words: Sequence[str], place: int) -> int:
        """Read as far as the words make one number, and return where they stop doing so."""
        start = place
        while place < len(words):
            word = words[place]
            linked = word == "and" and place > start and words[place - 1] in _TIMES | _SCALES
            more = words[place + 1 : place + 2]
            joins = linked and more and self._fits_small(more[0])
            if not joins and not self._grow(word, first=place == start, more=more):
                break
            place += 1
        return place

    @property
    def digits(self) -> str:
        """The number in digits."""
        value = self.total + (self.part or 0)
        return str(int(value)) if value == int(value) else repr(value)

    def _fits_small(self, word: str) -> bool:
        part = self.part or 0
        if word in _UNITS:
            tens = part % 100 >= 20 and part % 10 == 0
            return self.part is None or (tens and _UNITS[word] < 10) or self._round(part)
        return word in _TENS and (self.part is None or self._round(part))

    @staticmethod
    def _round(part: float) -> bool:
        return part > 0 and part % 100 == 0

    def _grow(self, word: str, *, first: bool, more: Sequence[str]) -> bool:
        if word in _UNITS or word in _TENS:
            if not self._fits_small(word):
                return False
            self.part = (self.part or 0) + _UNITS.get(word, 0) + _TENS.get(word, 0)
        elif word in _TIMES and (self.part is None or self.part < 100):
            self.part = (self.part or 1) * _TIMES[word]
        elif word in _SCALES and (self.part is not None or first):
            self.total += (self.part or 1) * _SCALES[word]
            self.part = None
        elif first and more and more[0] in _SCALES | _TIMES and _plain(word):
            self.part = float(word)
        else:
            return False
        return True


def _plain(word: str) -> bool:
    whole, _, decimals = word.partition(".")
    return whole.isdecimal() and len(word) <= 12 and (not decimals or decimals.isdecimal())
