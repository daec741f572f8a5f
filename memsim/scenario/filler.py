"""Makes talk without end out of a domain's patterns, and never says a value that the script plants or asks for.

That holds by construction and needs no look at the lines: for each value one of its words is kept out of every line.
Where the word is none of the domain's own, it is never made up; where it is, the patterns and fillings that hold it
are left out.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from string import Formatter

from memsim.scenario.domains import Domain, load_domain
from memsim.scenario.words import words

VERSION = 1
"""Raised whenever the same seed would say something else, so that scenarios with filler get another fingerprint."""

_ONSETS = (
    "b",
    "br",
    "d",
    "f",
    "g",
    "h",
    "j",
    "k",
    "kr",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "tr",
    "v",
    "w",
    "y",
    "z",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ei", "ia", "oa")
_CODAS = ("", "", "", "l", "m", "n", "r", "s", "th", "x")
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_NEW_NAME = 0.08
_NAMES_KEPT = 1024
_ASIDE = 0.3
_SLOT = re.compile(r"\{(\w+)\}")

Say = Callable[[], str]


class CannotAvoid(ValueError):
    """A value is so common a word that no pattern of a domain does without it.

    Args:
        value: the value.
        domain: the domain.
    """

    def __init__(self, value: str, domain: str) -> None:
        super().__init__(f"{domain} cannot do without {value!r}")
        self.value = value
        self.domain = domain


@dataclass(frozen=True, slots=True)
class Patterns:
    """What is left of a domain once some words are kept out of it.

    Attributes:
        banned: words that must not be made up either.
    """

    user: tuple[str, ...]
    assistant: tuple[str, ...]
    asides: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]
    banned: frozenset[str]


@cache
def patterns(domain: str, values: frozenset[str]) -> Patterns:
    """A domain's patterns without the values.

    Raises:
        CannotAvoid: nothing is left.
    """
    vetting = _Vetting(domain)
    for value in sorted(values):
        vetting.keep_out(value)
    return vetting.patterns()


@cache
def _vocabulary(domain: str) -> dict[str, int]:
    # The damage that banning a word would do: a pattern is worth many fillings.
    found = load_domain(domain)
    damage: dict[str, int] = {}
    for pattern in (*found.user, *found.assistant, *found.asides):
        for word in words(_SLOT.sub(" ", pattern)):
            damage[word] = damage.get(word, 0) + 100
    for filling in (f for slot in found.slots.values() for f in slot):
        for word in words(filling):
            damage[word] = damage.get(word, 0) + 1
    return damage


class _Vetting:
    def __init__(self, name: str) -> None:
        self._name = name
        self._domain = load_domain(name)
        self._damage = _vocabulary(name)
        self._banned: set[str] = set()
        self._left = self._without(frozenset())

    def keep_out(self, value: str) -> None:
        for form in {words(value), words(unicodedata.normalize("NFKC", value))}:
            if form and self._banned.isdisjoint(form):
                self._ban_one(form, value)

    def _ban_one(self, form: tuple[str, ...], value: str) -> None:
        for word in sorted(set(form), key=lambda w: (self._damage.get(w, 0), -len(w), w)):
            if word not in self._damage:
                self._banned.add(word)
                return
            left = self._without(frozenset({*self._banned, word}))
            if left.assistant and (left.user or not self._domain.user):
                self._banned.add(word)
                self._left = left
                return
        raise CannotAvoid(value, self._name)

    def patterns(self) -> Patterns:
        left = self._left
        return Patterns(left.user, left.assistant, left.asides, left.slots, frozenset(self._banned))

    def _without(self, banned: frozenset[str]) -> Patterns:
        domain = self._domain
        slots = {
            slot: tuple(f for f in fillings if banned.isdisjoint(words(f)))
            for slot, fillings in domain.slots.items()
        }

        def usable(pattern: str) -> bool:
            wanted = _SLOT.findall(pattern)
            fixed = words(_SLOT.sub(" ", pattern))
            return banned.isdisjoint(fixed) and all(slots.get(s, ("",)) for s in wanted)

        return Patterns(
            tuple(filter(usable, domain.user)),
            tuple(filter(usable, domain.assistant)),
            tuple(filter(usable, domain.asides)),
            slots,
            banned,
        )


class Talker:
    """Says lines of one domain.

    Args:
        patterns: what may be said.
    """

    def __init__(self, patterns: Patterns) -> None:
        self._chance = random.Random()
        self._inventor = _Inventor(self._chance, patterns.banned)
        self._slots = patterns.slots
        self.user = self._line(patterns.user, patterns.asides)
        self.assistant = self._line(patterns.assistant, patterns.asides)
        self.plain = self._one_of(patterns.assistant)

    def begin(self, seed: str) -> None:
        """Start anew: the same seed says the same lines."""
        self._chance.seed(seed)
        self._inventor.forget()

    def turns(self, count: int, at_least: int = 0) -> Iterator[tuple[str, str]]:
        """What user and assistant say in so many turns, each in at least so many words."""
        user, assistant = self.user, self.assistant
        if at_least <= 1:
            for _ in range(count):
                yield user(), assistant()
            return
        for _ in range(count):
            yield _lengthened(user, at_least), _lengthened(assistant, at_least)

    def _line(self, among: tuple[str, ...], asides: tuple[str, ...]) -> Say:
        first, aside, chance = self._one_of(among), self._one_of(asides), self._chance.random

        def line() -> str:
            return f"{first()} {aside()}" if chance() < _ASIDE else first()

        return line if asides else first

    def _one_of(self, among: tuple[str, ...]) -> Say:
        chance = self._chance.random
        ready = [self._pattern(pattern) for pattern in among]
        count = len(ready)

        def one() -> str:
            text, fillings = ready[int(chance() * count)]
            return text % tuple([filling() for filling in fillings]) if fillings else text

        return one

    def _pattern(self, pattern: str) -> tuple[str, tuple[Say, ...]]:
        text, fillings = "", []
        for literal, slot, _, _ in Formatter().parse(pattern):
            text += literal
            if slot:
                # A sentence that begins with a slot begins with a capital.
                text += "%s"
                fillings.append(self._filling(slot, opens=len(text) == 2))
        return text, tuple(fillings)

    def _filling(self, slot: str, *, opens: bool) -> Say:
        if slot not in self._slots:
            made: Say = getattr(self._inventor, slot)
            return made
        chance, among = self._chance.random, self._slots[slot]
        if opens:
            among = tuple(f[0].upper() + f[1:] for f in among)
        count = len(among)
        return lambda: among[int(chance() * count)]


def _lengthened(say: Say, at_least: int) -> str:
    text = say()
    while text.count(" ") + 1 < at_least:
        text = f"{text} {say()}"
    return text


class _Inventor:
    """Makes up what no list could hold: the vocabulary grows as the talk goes on, as it does among people."""

    def __init__(self, chance: random.Random, banned: Iterable[str]) -> None:
        self._chance = chance.random
        self._banned = frozenset(banned)
        self._names: list[str] = []
        self._letters = [a for a in _LETTERS if a.lower() not in self._banned]

    def forget(self) -> None:
        self._names.clear()

    def name(self) -> str:
        names, chance = self._names, self._chance
        if names and chance() >= _NEW_NAME:
            return names[int(chance() * len(names))]
        made = self._new_name()
        if len(names) < _NAMES_KEPT:
            names.append(made)
        else:
            names[int(chance() * _NAMES_KEPT)] = made
        return made

    def _new_name(self) -> str:
        chance, made = self._chance, ""
        syllables = 2
        while not made or made in self._banned:
            made = "".join(self._syllable() for _ in range(syllables))
            syllables += chance() < 0.3
        return made.capitalize()

    def _syllable(self) -> str:
        chance = self._chance
        onset = _ONSETS[int(chance() * len(_ONSETS))]
        vowel = _VOWELS[int(chance() * len(_VOWELS))]
        return onset + vowel + _CODAS[int(chance() * len(_CODAS))]

    def few(self) -> str:
        return self._number(2, 60)

    def many(self) -> str:
        return self._number(100, 9_900)

    def code(self) -> str:
        number = self._number(1_000, 900_000)
        letters = self._letters
        return f"{letters[int(self._chance() * len(letters))]}-{number}" if letters else number

    def _number(self, least: int, span: int) -> str:
        chance, banned = self._chance, self._banned
        number = str(least + int(chance() * span))
        while number in banned:
            span *= 10
            number = str(least + int(chance() * span))
        return number
