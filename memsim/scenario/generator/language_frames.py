"""Read how a language tells of things that are kept somewhere, and how it asks for them.

A language is one TOML file of the folder `languages`, named by its ISO 639-1 code:

    owners = ["Aino|Ainon"]           who keeps something; whose it is; optional: who did something
    things = ["laukkunsa|{g} laukku|laukkuaan"]     as an object; as a question has it; optional: as
                                      another object
    begin, middle                     parts of the names of places; `gap` stands between them
    ends = ["*la|*lassa|*laan"]       how a place is called; at it; to it. `*` stands for the parts,
                                      and `%` for the parts in small letters
    first, changes, unreal, restored, ask, talk     sentences

In a sentence `{o}` is who keeps something, `{e}` who did something, `{g}` whose it is, `{t}` and
`{p}` the thing as an object, `{q}` the thing in a question. `{at}` and `{to}` are forms of a place.
What is in `talk`, `hello` and `thanks` says nothing of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from memsim.language.word_forms import bare
from memsim.scenario.generator.dials import ENGLISH, LANGUAGES
from memsim.scenario.generator.random_draw import Draw
from memsim.toml_input import parse_toml

_TRIES = 40
"""How often a name of so many parts is drawn before a longer one is."""

_MOST_PARTS = 4
"""Parts in the middle of the longest name of a place."""


class NoNameLeftError(Exception):
    """A language has no name of a place that was not used."""


class Place(NamedTuple):
    """The name of a place, and its forms at the place and to it."""

    name: str
    at: str
    to: str


class ThingForms(NamedTuple):
    """Somebody's thing: by its letter, the words that stand for it in a sentence."""

    o: str
    e: str
    g: str
    t: str
    p: str
    q: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageFrames:
    """The sentences of a language, with the names that stand in them."""

    language: str
    owners: tuple[str, ...]
    things: tuple[str, ...]
    begin: str
    middle: str
    ends: tuple[str, ...]
    first: str
    changes: tuple[str, ...]
    unreal: tuple[str, ...]
    restored: str
    ask: str
    talk: tuple[str, ...]
    hello: str
    thanks: str
    gap: str = ""

    def things_of_all(self) -> list[ThingForms]:
        """Each thing of everybody."""
        return [_thing_forms(who, what) for who, what in product(self.owners, self.things)]

    def place(self, draw: Draw) -> Place:
        """A place that was not named before.

        Raises:
            NoNameLeftError: each was named.
        """
        stem = self._stem(draw)
        end = draw.pick(self.ends)
        told = end.replace("*", stem).replace("%", stem.lower())
        return Place(*told.split("|"))

    def _stem(self, draw: Draw) -> str:
        begins, middles = self.begin.split(), self.middle.split()
        for length in range(1, 2 if self.gap else 1 + _MOST_PARTS):
            for _ in range(_TRIES):
                parts = [draw.pick(begins), *(draw.pick(middles) for _ in range(length))]
                stem = self.gap.join(parts)
                # Whoever reads without accents would take two names for one.
                if draw.take(bare(stem)):
                    return stem
        raise NoNameLeftError


def _thing_forms(owner: str, thing: str) -> ThingForms:
    keeps, whose, *does = owner.split("|")
    kept, asked, *other = thing.split("|")
    return ThingForms(
        o=keeps,
        e=(does or [keeps])[0],
        g=whose,
        t=kept,
        p=(other or [kept])[0],
        q=asked.format(g=whose),
    )


@cache
def frames_of(code: str) -> LanguageFrames:
    """The sentences of a language, by its code."""
    path = Path(__file__).with_name("languages") / f"{code}.toml"
    found = parse_toml(path.read_text(encoding="utf-8"))
    said: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
    return LanguageFrames(**said)


def codes_by_name() -> dict[str, str]:
    """The code of each language but English, by its name in English."""
    return {frames_of(code).language: code for code in LANGUAGES if code != ENGLISH}
