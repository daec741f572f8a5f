"""Gather what conversations name: people, other names, and values known by their form."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from memsim.language.anchors import CALENDAR_WORDS, MOST_TEXT, anchors
from memsim.language.common_words import COMMON_WORDS
from memsim.language.lexicon import LIGHT, STOP
from memsim.language.scripts import UNSPACED
from memsim.language.text import fold
from memsim.traces.pseudonyms.value_forms import exact_values

RUN = re.compile(r"[^\W\d_]+")
"""Letters that stand together."""

_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_WIDE = re.compile(f"[{UNSPACED}]")
_COMMON = frozenset(COMMON_WORDS) | frozenset(STOP) | frozenset(LIGHT) | CALENDAR_WORDS
_SHORTEST = 3


class Identities:
    """What is replaced.

    Attributes:
        people: folded words of the names of those who speak.
        names: folded words of all names.
        whole: names of several words, as they are written.
        wide: names in scripts without spaces.
        values: values known by their form, as they are written.
        words: folded words of the conversations; nothing may become one of them.
        ordinary: words that are mostly written small; they are names only with a capital.
    """

    def __init__(self) -> None:
        self.people: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.whole: dict[str, None] = {}
        self.wide: dict[str, None] = {}
        self.values: dict[str, None] = {}
        self.words: set[str] = set(_COMMON)
        self.ordinary: set[str] = set(_COMMON)
        self._shouted: dict[str, None] = {}
        self._small: Counter[str] = Counter()
        self._large: Counter[str] = Counter()

    def meet(self, person: str) -> None:
        """Learn the name of somebody who speaks."""
        runs = [piece for run in RUN.findall(person) for piece in camel(run)]
        for run in runs:
            folded = fold(run)
            if _WIDE.search(run):
                self.wide[run] = None
            elif folded not in _NOBODY and len(folded) > 1:
                self.people[folded] = self.names[folded] = None
        if len(runs) > 1:
            self.whole[person] = None

    def learn(self, text: str) -> None:
        """Learn the names and values of a text."""
        at = 0
        for value in exact_values(text):
            self.values[text[value.start : value.end]] = None
            self._count(text[at : value.start])
            at = value.end
        self._count(text[at:])
        for start in range(0, len(text), MOST_TEXT):
            for anchor in anchors(text[start : start + MOST_TEXT]):
                if anchor.kind == "name":
                    self._name(anchor.text)

    def settle(self) -> None:
        """Decide what was only shouted, once all texts are learned."""
        self.words |= {*self._small, *self._large}
        self.ordinary |= {w for w, number in self._small.items() if number > self._large[w]}
        self.ordinary -= self.people.keys() - _COMMON
        for word in self._shouted:
            if word not in self.ordinary:
                self.names[word] = None

    def _count(self, text: str) -> None:
        for run in RUN.findall(text):
            (self._small if run[0].islower() else self._large)[fold(run)] += 1

    def _name(self, written: str) -> None:
        if _WIDE.search(written):
            self.wide[unicodedata.normalize("NFC", written)] = None
            return
        runs = RUN.findall(written)
        for run in runs:
            folded = fold(run)
            if len(folded) < _SHORTEST or folded in _COMMON:
                continue
            if run.isupper():
                self._shouted[folded] = None
            else:
                self.names[folded] = None
        if len(runs) > 1:
            self.whole[written] = None


def camel(run: str) -> list[str]:
    """The words of a run such as `AnaSmith`."""
    return _CAMEL.split(run)


_NOBODY = frozenset({"user", "me", "s", "conversation", "assistant", "chat", "session"})
"""What `memsim import` calls people without a name."""
