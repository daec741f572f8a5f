"""Makes talk without end out of a domain's patterns, and never says a value that is planted.

That holds by construction and needs no look at the lines: for each value that the script plants or
asks for, one of its words is kept out of every line. Where the word is none of the domain's own, it
is never made up; where it is, the patterns and fillings that hold it are left out.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module

from memsim.language.numbers import spelled
from memsim.scenario.domains import Domain
from memsim.scenario.script_plan import Filler, Plan, ToolCall
from memsim.scenario.words import Words, words


@cache
def load_domain(name: str) -> Domain:
    """The patterns of a domain.

    Args:
        name: one of `DOMAINS`, or `tool` (output of programs) or `notes` (short replies).
    """
    domain: Domain = import_module(f"memsim.scenario.domains.{name}").DOMAIN
    return domain


VERSION = 2
"""Raised whenever a seed would say something else: scenarios with filler get new fingerprints."""

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
_FEW_NAMES = 4
_NEW_NAME = 0.06
_NAMES_KEPT = 1024
_LONGER_NAME = 0.3
_LEAST = 3
_ASIDE = 0.3
_SLOT = re.compile(r"\{(\w+)\}")
_GROUPING = re.compile(r"(?<=\d)[,.'’ ](?=\d{3}(?!\d))")

Say = Callable[[], str]


class UnavoidableWordError(ValueError):
    """A value is so common a word that hardly a pattern of a domain does without it."""

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


@lru_cache(maxsize=64)
def patterns(domain: str, values: frozenset[str]) -> Patterns:
    """A domain's patterns without the values.

    Raises:
        UnavoidableWordError: nothing is left.
    """
    vetting = _Vetting(domain)
    for value in sorted(values):
        vetting.keep_out(value)
    return vetting.patterns()


@cache
def _vocabulary(domain: str) -> dict[str, int]:
    # The damage that keeping a word out does: a pattern is worth many fillings.
    found = load_domain(domain)
    damage: dict[str, int] = {}
    for pattern in (*found.user, *found.assistant, *found.asides):
        for word in words(_SLOT.sub(" ", pattern)):
            damage[word] = damage.get(word, 0) + 100
    for filling in (f for slot in found.slots.values() for f in slot):
        for word in words(filling):
            damage[word] = damage.get(word, 0) + 1
    return damage


@cache
def _whole(domain: str) -> Patterns:
    found = load_domain(domain)
    return Patterns(
        found.user, found.assistant, found.asides, dict(found.slots), banned=frozenset()
    )


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(words(_SLOT.sub(" ", text)))


class _Vetting:
    """What is left of a domain while one value after another is kept out of it."""

    def __init__(self, domain: str) -> None:
        self._name = domain
        self._left = _whole(domain)
        self._damage = _vocabulary(domain)
        self._banned: set[str] = set()
        self._needed: set[str] = set()

    def keep_out(self, value: str) -> None:
        for form in _forms(value):
            if form and self._banned.isdisjoint(form):
                self._ban_one(set(form), value)

    def _ban_one(self, among: set[str], value: str) -> None:
        foreign = among - self._damage.keys()
        if foreign:
            self._banned.add(max(foreign, key=lambda word: (len(word), word)))
            return
        for word in sorted(among - self._needed, key=lambda word: (self._damage[word], word)):
            left = self._without(word)
            kept = (left.assistant, left.user) if self._left.user else (left.assistant,)
            if min(map(len, kept)) >= _LEAST:
                self._banned.add(word)
                self._left = left
                return
            self._needed.add(word)
        raise UnavoidableWordError(value, self._name)

    def patterns(self) -> Patterns:
        return replace(self._left, banned=frozenset(self._banned))

    def _without(self, word: str) -> Patterns:
        left = self._left
        slots = {
            slot: tuple(filling for filling in fillings if word not in _words(filling))
            for slot, fillings in left.slots.items()
        }

        def usable(pattern: str) -> bool:
            filled = all(slots.get(slot, ("",)) for slot in _SLOT.findall(pattern))
            return filled and word not in _words(pattern)

        return replace(
            left,
            user=tuple(filter(usable, left.user)),
            assistant=tuple(filter(usable, left.assistant)),
            asides=tuple(filter(usable, left.asides)),
            slots=slots,
        )


def _forms(value: str) -> set[Words]:
    """The words of a value as it may be written: full-width, with grouped digits, or spelled."""
    plain = unicodedata.normalize("NFKC", value)
    return {
        words(value),
        words(plain),
        words(_GROUPING.sub("", plain)),
        words(spelled(plain) or ""),
    }


class Talker:
    """Says lines of one domain."""

    def __init__(self, patterns: Patterns) -> None:
        self._chance = random.Random()
        self._inventor = _Inventor(self._chance, patterns.banned)
        self._scene = _Scene(self._chance, self._inventor, patterns.slots)
        self._user = self._line(patterns.user, patterns.asides)
        self._assistant = self._line(patterns.assistant, patterns.asides)
        self._plain = self._one_of(patterns.assistant)

    def begin(self, seed: str) -> None:
        """Start anew: the same seed says the same lines."""
        self._chance.seed(seed)
        self._scene.clear()
        self._inventor.forget()

    def turns(self, count: int, at_least: int = 0) -> Iterator[tuple[str, str]]:
        """What user and assistant say in so many turns, each in at least so many words.

        Within a turn both speak of the same things.
        """
        user, assistant, change = self._user, self._assistant, self._scene.clear
        if at_least <= 1:
            for _ in range(count):
                change()
                yield user(), assistant()
            return
        for _ in range(count):
            yield self._lengthened(user, at_least), self._lengthened(assistant, at_least)

    def plain(self) -> str:
        """One line for itself."""
        self._scene.clear()
        return self._plain()

    def _lengthened(self, say: Say, at_least: int) -> str:
        text = ""
        while text.count(" ") + 1 < at_least:
            text = f"{text} {say()}" if text else say()
            self._scene.clear()
        return text

    def _line(self, among: tuple[str, ...], asides: tuple[str, ...]) -> Say:
        first, aside, chance = self._one_of(among), self._one_of(asides), self._chance.random

        def line() -> str:
            return f"{first()} {aside()}" if chance() < _ASIDE else first()

        return line if asides else first

    def _one_of(self, among: tuple[str, ...]) -> Say:
        chance, scene = self._chance.random, self._scene
        ready = [(_SLOT.sub(r"%(\1)s", p.replace("%", "%%")), p.startswith("{")) for p in among]
        count = len(ready)

        def one() -> str:
            pattern, opens = ready[int(chance() * count)]
            text = pattern % scene
            return text[0].upper() + text[1:] if opens else text

        return one


class _Scene(dict[str, str]):
    """What is being spoken of: a slot is filled when first needed and stays so until cleared."""

    def __init__(
        self,
        chance: random.Random,
        inventor: _Inventor,
        slots: Mapping[str, tuple[str, ...]],
    ) -> None:
        super().__init__()
        self._chance = chance.random
        self._slots = {slot: (among, len(among)) for slot, among in slots.items()}
        self._made: dict[str, Say] = {
            "name": inventor.name,
            "code": inventor.code,
            "few": inventor.few,
            "many": inventor.many,
        }

    def __missing__(self, slot: str) -> str:
        found = self._slots.get(slot)
        if found:
            among, count = found
            filling = self[slot] = among[int(self._chance() * count)]
        else:
            filling = self[slot] = self._made[slot]()
        return filling


class _Inventor:
    """Makes up what no list could hold.

    The vocabulary grows as the talk goes on, as it does among people.
    """

    def __init__(self, chance: random.Random, banned: Iterable[str]) -> None:
        self._chance = chance.random
        self._banned = frozenset(banned)
        self._names: list[str] = []
        self._letters = [a for a in _LETTERS if a.lower() not in self._banned]

    def forget(self) -> None:
        self._names.clear()

    def name(self) -> str:
        names, chance = self._names, self._chance
        known = len(names)
        if chance() > max(_NEW_NAME, _FEW_NAMES / (_FEW_NAMES + known)):
            return names[int(chance() * known)]
        made = self._new_name()
        if known < _NAMES_KEPT:
            names.append(made)
        else:
            names[int(chance() * _NAMES_KEPT)] = made
        return made

    def _new_name(self) -> str:
        made = ""
        syllables = 2
        while not made or made in self._banned:
            made = "".join(self._syllable() for _ in range(syllables))
            syllables += self._chance() < _LONGER_NAME
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


# The seeded voice: fillers, short replies and large tool results.


class SeededVoice:
    """A voice that says the same for the same seed.

    Args:
        plan: the script.
        values: what it must never say.
        seed: the run's seed; the script's own is added.
    """

    def __init__(self, plan: Plan, values: frozenset[str], seed: int) -> None:
        self._domain = plan.domain
        self._values = values
        self._seed = f"{plan.seed + seed}/{plan.name}"
        self._talkers: dict[str, Talker] = {}
        self._notes: Talker | None = None

    def reply(self) -> str:
        """A short answer of the assistant's."""
        if self._notes is None:
            self._notes = self._talker("notes", 0)
        return self._notes.plain()

    def result(self, call: ToolCall, number: int) -> str:
        """A tool's result with its generated lines around it."""
        if not (call.lines or call.characters):
            return call.result
        talker = self._talker(call.domain or "tool", number)
        planted = [call.result] if call.result else []
        lines = _padding(talker, call)
        at = round(call.depth * len(lines))
        return "\n".join(lines[:at] + planted + lines[at:])

    def talk(self, filler: Filler, number: int) -> Iterator[tuple[str, str]]:
        """What user and assistant say in a filler's turns."""
        talker = self._talker(filler.domain or self._domain, number)
        return talker.turns(filler.turns, filler.words or 0)

    def _talker(self, domain: str, number: int) -> Talker:
        talker = self._talkers.get(domain)
        if talker is None:
            talker = self._talkers[domain] = Talker(patterns(domain, self._values))
        talker.begin(f"{self._seed}/{domain}/{number}")
        return talker


def _padding(talker: Talker, call: ToolCall) -> list[str]:
    wanted = call.lines - (call.result.count("\n") + 1 if call.result else 0)
    lines = [talker.plain() for _ in range(wanted)]
    space = call.characters - len(call.result) - sum(map(len, lines)) - len(lines)
    while space > 0:
        line = talker.plain()
        space -= len(line) + 1
        if space >= 0 or not lines:
            lines.append(line)
    return lines
