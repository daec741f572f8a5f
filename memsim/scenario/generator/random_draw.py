"""Draw names, words and dates for a story: each once, and the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_ONSETS: tuple[str, ...] = (
    "b",
    "br",
    "d",
    "dr",
    "f",
    "g",
    "gl",
    "h",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
)
_ONSETS += ("sk", "st", "t", "tr", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "eo", "ia")
_CODAS = ("l", "m", "n", "nd", "r", "rk", "s", "st", "th", "x")
_NAMES = (
    *("Aino", "Bram", "Celia", "Dario", "Edda", "Farid", "Greta", "Hugo", "Ilse", "Jonas"),
    *("Kaja", "Leif", "Mira", "Nuno", "Oda", "Pavel", "Quirin", "Rosa", "Sven", "Tilda"),
    *("Ulla", "Vito", "Wanda", "Xenia", "Yara", "Zeno", "Anouk", "Bela", "Cosmo", "Dunja"),
)

_CODES = 8_000
"""Codes of four digits, of 9,000: the last ones would be drawn too often before they are new."""


MOST_WORDS = 1_000_000
"""Words of one story: more stand in more text than a scenario may have, ten characters to each."""


class LongStoryError(Exception):
    """A story is longer than a scenario may be."""


class Draw:
    """Chance with a seed; what it makes up is made up once."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._bits = self._random.getrandbits
        self._used: set[str] = set()
        self._codes = 0

    def beside(self, seed: str) -> Draw:
        """Chance with a seed of its own, whose words are new to this one as well."""
        other = Draw(seed)
        other._used = self._used
        other._codes = self._codes
        return other

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self._below(len(options))]

    def number(self, least: int, most: int) -> int:
        """A whole number between two, both included."""
        return least + self._below(most - least + 1)

    def happens(self, percent: int) -> bool:
        """Whether something happens that does so many times of a hundred."""
        return self._random.randrange(100) < percent

    def some(self, items: Sequence[T], most: int) -> list[T]:
        """So many of the items at most, in their order."""
        if len(items) <= most:
            return [*items]
        return [items[n] for n in sorted(self._random.sample(range(len(items)), most))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in any order."""
        return self._random.sample(items, len(items))

    def word(self) -> str:
        """A word that stands in no dictionary, such as `Trikoland`."""
        return self._new(self._syllables)

    def code(self) -> str:
        """Four digits; more once most of those are used up."""
        digits, most = 4, _CODES
        while self._codes >= most:
            digits, most = digits + 1, most * 10
        self._codes += 1
        return self._new(lambda: str(self.number(10 ** (digits - 1), 10**digits - 1)))

    def person(self) -> str:
        """A first name; with a made-up surname once the names are used up."""
        free = [name for name in _NAMES if name not in self._used]
        if free:
            name = self.pick(free)
            self._used.add(name)
            return name
        return f"{self.pick(_NAMES)} {self.word()}"

    def like(self, name: str) -> str:
        """Another first name for a first name, else another word."""
        return self.person() if name.split(maxsplit=1)[0] in _NAMES else self.word()

    def take(self, word: str) -> bool:
        """Use a word that was made up elsewhere; False if it was used before."""
        new = word not in self._used
        self._used.add(word)
        return new

    def _below(self, most: int) -> int:
        """A whole number from 0 to below another, as `random.choice` draws it."""
        length, bits = most.bit_length(), self._bits
        drawn = bits(length)
        while drawn >= most:
            drawn = bits(length)
        return drawn

    def _syllables(self) -> str:
        below, made = self._below, ""
        for _ in range(self.number(2, 3)):
            made += _ONSETS[below(len(_ONSETS))] + _VOWELS[below(len(_VOWELS))]
        return (made + _CODAS[below(len(_CODAS))]).capitalize()

    def _new(self, make: Callable[[], str]) -> str:
        if len(self._used) >= MOST_WORDS:
            raise LongStoryError
        made = make()
        while made in self._used:
            made = make()
        self._used.add(made)
        return made
