"""Finds in a numbered list of facts the one that answers a question, and what it superseded."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFact:
    """The fact that answers a question.

    Attributes:
        place: its place in the list, from 0.
        superseded: what other facts in the same words say.
        contradicted: one of these is newer.
    """

    place: int
    superseded: tuple[str, ...] = ()
    contradicted: bool = False


class FactList:
    """Facts in the order of their numbers, of which a newer one supersedes an older one."""

    def __init__(self, facts: Sequence[str]) -> None:
        self._facts = facts
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, fact in enumerate(facts):
            for word in _words(fact):
                self._places[word].append(place)

    def answer(self, question: str, answers: Sequence[str]) -> AnswerFact | None:
        """The fact that holds an answer and the most telling words of a question.

        Rare words tell more. It has to name everybody whom the question names, else there is none.
        Among equals it is the one with the fewest other words, and then the newest.
        """
        asked = {word: len(self._places[word]) for word in _words(question) & self._places.keys()}
        held = {place for answer in answers for place in self._holding(answer)}
        ranked = [(*self._score(place, asked), place) for place in held]
        if not ranked:
            return None
        *_, place = max(ranked)
        if not _names(question) <= _words(self._facts[place]):
            return None
        return self._around(place, asked, answers)

    def _holding(self, answer: str) -> Iterator[int]:
        wanted = answer.casefold()
        rarest = min((self._places.get(word, []) for word in _words(answer)), key=len, default=[])
        return (place for place in rarest if wanted in self._facts[place].casefold())

    def _score(self, place: int, asked: Mapping[str, int]) -> tuple[float, int]:
        words = _words(self._facts[place])
        return sum(1 / asked[word] for word in sorted(words & asked.keys())), -len(words)

    def _around(self, place: int, asked: Mapping[str, int], answers: Sequence[str]) -> AnswerFact:
        fact = self._facts[place]
        at, answer = max((fact.rfind(answer), answer) for answer in answers)
        before, after = fact[: max(at, 0)], fact[at + len(answer) :]
        shared = sorted(_words(f"{before} {after}") & asked.keys(), key=lambda w: (asked[w], w))
        if at < 0 or not shared:  # it has no words around the answer to compare
            return AnswerFact(place=place)
        others = {p: v for p, v in self._values(shared[0], before, after) if not _same(v, answers)}
        return AnswerFact(
            place=place,
            superseded=tuple(dict.fromkeys(others.values())),
            contradicted=any(p > place for p in others),
        )

    def _values(self, word: str, before: str, after: str) -> Iterator[tuple[int, str]]:
        """What the facts with a word say between two texts, by their place."""
        for place in self._places[word]:
            fact = self._facts[place]
            if fact.startswith(before) and fact.endswith(after) and len(fact) > len(before + after):
                yield place, fact[len(before) : len(fact) - len(after)].strip()


def _same(value: str, answers: Iterable[str]) -> bool:
    words = _words(value)
    return not words or any(words <= _words(a) or _words(a) <= words for a in answers)


def _names(question: str) -> set[str]:
    """The words of a question that begin in capitals, without its first one."""
    found = _WORD.findall(question)[1:]
    return {word.casefold() for word in found if word[0].isupper() or word[0].isdigit()}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
