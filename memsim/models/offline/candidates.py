"""Rank the sentences of a context by how well they match a question."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.fast_dataclass import fast_init
from memsim.language.dates import Period, mentions, resolve
from memsim.language.lexicon import REACTION, THIRD_PERSON
from memsim.language.text import stem, words
from memsim.models.offline.question import SYNONYM_WEIGHT, subjects
from memsim.models.offline.statements import ROLE_STEMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from memsim.models.offline.question import ParsedQuestion
    from memsim.models.offline.statements import Sentence, Statement

SAME_ENTRY = 0.8
"""Weight of a question word beside the sentence in its entry; in the sentence itself it is 1."""

ASKED_BEFORE = 0.9
"""Weight of a question word in the question that the entry answers."""

BEFORE, AFTER = 0.3, 0.15
"""Weights of a question word in the entry before and in the entry after."""

LEAST_CORPUS = 50
"""Minimum number of entries for weights by rarity, so that they work in a short context."""

LOOKED_AT = 48
"""Number of entries whose sentences are examined."""

AMISS, AMISS_OF_FEW, ELSE = 0.7, 0.2, 0.1
"""Factors of the score of a sentence that misses required words.

The first is for questions of many content words, the second for one or two. The third is for a
sentence about another code, counted thing or person.
"""

DATED = 1.0
"""Weight of a day that a question names, beside the weights of its words."""

SHORT_NAME = 3
"""Minimum length of a name that stands for a longer one."""

EXACT = 9
"""Number of decimals that are compared, because logarithms differ between machines."""

_REACTIONS = frozenset(stem(word) for word in REACTION)


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sentence that may answer.

    Attributes:
        matched: the question's stems in the sentence.
        coverage: share of the question that is found in or around it, 0 to 1.
    """

    statement: Statement
    place: int
    matched: frozenset[str]
    coverage: float
    score: float

    @property
    def sentence(self) -> Sentence:
        """The sentence itself."""
        return self.statement.entry.sentences[self.place]


def _people(names: Sequence[str], speakers: set[str]) -> frozenset[str]:
    """The names and the speakers that they mean: `Mel` is Melanie if she alone is so called."""
    found = {name for name in names if name in speakers}
    for name in names:
        meant = [who for who in speakers if who.startswith(name) and who not in ROLE_STEMS]
        if len(meant) == 1 and len(name) >= SHORT_NAME:
            found.update((name, *meant))
    return frozenset(found)


class Ranking:
    """A context ranked for one question."""

    def __init__(
        self,
        question: ParsedQuestion,
        found: Sequence[Statement],
        asker: str = "",
        periods: Sequence[Period] = (),
    ) -> None:
        self.question = question
        self.found = found
        self._asker = asker or "user"
        self._periods = periods
        speakers = {s.who for s in found}
        self._people = _people(question.names, speakers)
        self._asked_of = self._mentioned(subjects(question.folded).intersection(question.names))
        known = question.known - self._people
        self._hits = [known & s.entry.stems for s in found]
        self.weights = self._weigh()
        # Exactly rounded sums do not depend on the order of sets.
        self._total = math.fsum(self.weights.values()) or 1.0
        full = question.full & self.weights.keys()
        self.full = len(full)
        self._substance = full - question.owners - set(question.names)

    def best(self) -> list[Candidate]:
        """Every sentence that shares something with the question, best first, then latest first."""
        ranked = [c for index in self._promising() for c in self._of(index)]
        ranked.sort(key=lambda c: (-c.score, -c.statement.order, c.place))
        return ranked

    def matching(self) -> list[Candidate]:
        """Every sentence that shares a word with the question, in the order of the context."""
        held = (c for n, hit in enumerate(self._hits) if hit for c in self._of(n))
        return [c for c in held if c.matched]

    def every(self) -> list[Candidate]:
        """Every sentence that states something, in the order of the context."""
        return [c for index in range(len(self.found)) for c in self._of(index)]

    def beside(self, best: Candidate) -> list[Candidate]:
        """The other matching sentences of the same entry; those that add most come first."""
        worth: dict[int, float] = {}
        others = [c for c in self._of(best.statement.order) if c.place != best.place]
        for c in others:
            added = math.fsum(self.weights.get(root, 0.0) for root in c.matched - best.matched)
            next_to = {best.place + 1: 0.3, best.place - 1: 0.1}.get(c.place, 0.0)
            worth[c.place] = added + next_to
        telling = [c for c in others if self._tells(c.sentence)]
        return sorted(telling, key=lambda c: (-worth[c.place], c.place))

    def own(self, candidate: Candidate) -> float:
        """Share of the question that a sentence itself holds, 0 to 1."""
        return math.fsum(self.weights.get(root, 0.0) for root in candidate.matched) / self._total

    def touches(self, candidate: Candidate) -> bool:
        """Whether a sentence's entry, or the question before it, is about the subject."""
        at = candidate.statement.order
        return bool(self._hits[at] or self._asked_before(at))

    def of_speaker(self, candidate: Candidate) -> bool:
        """Whether the person in question says the sentence."""
        return candidate.statement.who in self._people

    def of_another(self, candidate: Candidate) -> bool:
        """Whether somebody else says it, and does not name the person in question."""
        names, who = self.question.names, candidate.statement.who
        if not names or who in self._people or who in ROLE_STEMS:
            return False
        return candidate.sentence.stems.isdisjoint(names)

    def _mentioned(self, asked: frozenset[str]) -> frozenset[str]:
        """Those of whom it is asked that the context names, and that do not speak in it."""
        if asked <= self._people:
            return frozenset()
        named = frozenset().union(*(asked & s.entry.names for s in self.found))
        return named - self._people

    def _weigh(self) -> dict[str, float]:
        weights = self.question.weights
        count = dict.fromkeys(weights, 0)
        for hit in self._hits:
            for root in hit:
                if root in count:
                    count[root] += 1
        size = max(len(self.found), LEAST_CORPUS) + 1
        top = math.log(1 + size / 0.5)
        return {
            root: weight * math.log(1 + size / (count[root] + 0.5)) / top
            for root, weight in weights.items()
            if root not in self._people
        }

    def _promising(self) -> list[int]:
        hits = self._hits
        bounds = []
        before: frozenset[str] = frozenset()
        for index, hit in enumerate(hits):
            if hit or before or self._in_time(self.found[index].day):
                mass = math.fsum(self._around(index).values())
                bounds.append((mass * self._person(self.found[index].who, None), index))
            before = hit
        return [index for _, index in heapq.nlargest(LOOKED_AT, bounds)]

    def _around(self, index: int) -> dict[str, float]:
        strength: dict[str, float] = {}
        hits = self._hits
        if index and hits[index - 1]:
            self._raise(strength, hits[index - 1], BEFORE)
            self._raise(strength, self._asked_before(index), ASKED_BEFORE)
        if index + 1 < len(hits) and hits[index + 1]:
            self._raise(strength, hits[index + 1], AFTER)
        self._raise(strength, hits[index], SAME_ENTRY)
        return strength

    def _asked_before(self, index: int) -> frozenset[str]:
        if index == 0 or self.found[index - 1].who == self.found[index].who:
            return frozenset()
        return self._hits[index - 1] & self.found[index - 1].entry.question_stems

    def _raise(self, strength: dict[str, float], roots: frozenset[str], share: float) -> None:
        stands_for = self.question.stands_for
        for root in roots:
            origin = stands_for.get(root, root)
            value = self.weights[origin] * (share if origin is root else share * SYNONYM_WEIGHT)
            if value > strength.get(origin, 0.0):
                strength[origin] = value

    def _of(self, index: int) -> list[Candidate]:
        entry = self.found[index].entry
        around = self._around(index)
        return [
            self._candidate(index, place, sentence, around)
            for place, sentence in enumerate(entry.sentences)
            if not sentence.question
        ]

    def _candidate(
        self, index: int, place: int, sentence: Sentence, around: Mapping[str, float]
    ) -> Candidate:
        statement = self.found[index]
        own = self._hits[index] & sentence.stems
        strength = dict(around)
        self._raise(strength, own, 1.0)
        factor = self._person(statement.who, sentence) * self._timely(statement.day, sentence)
        factor *= self._aim(strength, sentence) * (1.0 if self._tells(sentence) else 0.4)
        mass = self._mass(statement.day, strength)
        stands_for = self.question.stands_for
        return Candidate(
            statement=statement,
            place=place,
            matched=frozenset(stands_for.get(root, root) for root in own),
            coverage=round(mass * min(factor, 1.0), EXACT),
            score=round(mass * factor, EXACT),
        )

    def _mass(self, said: date | None, strength: Mapping[str, float]) -> float:
        """Share of the question that is found; a day that it names is a word of it."""
        found = math.fsum(strength.values())
        if not self._periods:
            return found / self._total
        return (found + DATED * self._in_time(said)) / (self._total + DATED)

    def _in_time(self, said: date | None) -> bool:
        if said is None:
            return False
        return any(p.first <= said <= p.last for p in self._periods)

    def _tells(self, sentence: Sentence) -> bool:
        # A sentence that only repeats the question, or only reacts, is no answer.
        empty = frozenset[str]() if self.question.feeling else _REACTIONS
        return not sentence.stems - empty <= self.question.weights.keys()

    def _aim(self, strength: Mapping[str, float], sentence: Sentence) -> float:
        # Some words of a question are required: the owner of the thing, the thing, and
        # a word besides the names.
        question = self.question
        missing = {r for r, w in self.weights.items() if strength.get(r, 0.0) < 0.4 * w}
        amiss = len(missing & question.owners)
        amiss += question.bare and question.head in missing - question.owners
        amiss += bool(self._substance) and self._substance <= missing
        exact = {question.counted} if question.kind == "number" else set()
        exact |= {root for root in question.owners if not root.isalpha()}
        if missing & exact or self._is_of_another(sentence, missing):
            return ELSE
        return (AMISS_OF_FEW if self.full <= 2 else AMISS) ** amiss

    def _is_of_another(self, sentence: Sentence, missing: set[str]) -> bool:
        # `She` may be the person in question where a line before names her.
        if not self._asked_of or not self._asked_of <= missing:
            return False
        return THIRD_PERSON.isdisjoint(words(sentence.text))

    def _person(self, who: str, sentence: Sentence | None) -> float:
        question = self.question
        if self._people or (question.names and who not in ROLE_STEMS):
            return self._named(who, sentence)
        if question.mine:
            return self._mine(who, sentence)
        if question.yours and who == "user":
            return 0.8
        return 1.0

    def _named(self, who: str, sentence: Sentence | None) -> float:
        if who in self._people:
            return 1.0
        if sentence is None or not sentence.stems.isdisjoint(self.question.names):
            return 0.95
        if sentence.second:
            return 0.8
        return 0.12 if sentence.first else 0.3

    def _mine(self, who: str, sentence: Sentence | None) -> float:
        if who == self._asker:
            return 1.0
        if who not in ROLE_STEMS:
            # `my` of another speaker does not refer to the asker, if the asker's name is known.
            return 0.95 if self._asker == "user" else 0.3
        if who == "assist" and sentence is not None and not sentence.second:
            return 0.8
        return 0.95

    def _timely(self, said: date | None, sentence: Sentence) -> float:
        if not self._periods:
            return 1.0
        days = [Period(first=said, last=said, label="")] if said else []
        meant = (resolve(mention, said) for mention in mentions(sentence.text))
        days += [period for period in meant if period]
        met = any(d.first <= p.last and p.first <= d.last for d in days for p in self._periods)
        return 1.3 if met else 0.8
