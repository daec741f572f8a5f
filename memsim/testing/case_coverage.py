"""Count the features of generated cases; a check with too few of them has not tried enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from memsim.context import ContextBuilder
from memsim.testing.case_tokens import counter_of
from memsim.testing.check_cases import BAD, AnyCase, Case, CaseElapse, CaseForget, CaseGrant
from memsim.testing.generators.awkward_texts import CLUSTERS, DELIMITERS, INVISIBLE

CHANCE = 2.5
"""Standard deviations that a count may be below its floor: fifty cases are no five thousand."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that enough cases must have."""

    name: str
    floor: float
    shows: Callable[[Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureCount:
    """How many cases had a feature."""

    name: str
    floor: float
    cases: int
    seen: int

    @property
    def share(self) -> float:
        """Share of the cases."""
        return self.seen / self.cases if self.cases else 0.0

    @property
    def enough(self) -> bool:
        """Whether the count is above the floor, within the range of chance."""
        chance = CHANCE * math.sqrt(self.floor * (1 - self.floor) * self.cases)
        return self.seen > 0 and self.seen >= self.floor * self.cases - chance


def _tokens(case: Case) -> int:
    return ContextBuilder(counter_of(case.tokenizer)).tokens(case.messages)


def _over(case: Case) -> bool:
    return _tokens(case) > case.budget


def _straddles(case: Case) -> bool:
    # The newest messages that fit begin between a call and its result.
    messages = case.messages
    start, room = len(messages), case.budget
    tokens = counter_of(case.tokenizer).message
    while start > 0 and room >= tokens(messages[start - 1]):
        start -= 1
        room -= tokens(messages[start])
    before = {c for m in messages[:start] for c in m.calls}
    return any(before.intersection(m.results) for m in messages[start:])


def _contains(case: Case, parts: Iterable[str]) -> bool:
    return any(part in m.text for part in parts if part.strip() for m in case.messages)


def _same_words(case: Case) -> bool:
    who: dict[str, set[str]] = {}
    for m in case.messages:
        if m.role == "user" and "K-" in m.text:
            words = " ".join(w for w in m.text.split() if not w.startswith("K-"))
            who.setdefault(words, set()).add(m.principal)
    return any(len(speakers) > 1 for speakers in who.values())


def _collides(case: Case) -> bool:
    calls = [c for m in case.messages for c in m.calls]
    return len(calls) != len(set(calls))


def _dangles(case: Case) -> bool:
    called = {c for m in case.messages[:-1] for c in m.calls}
    return bool(called - {r for m in case.messages for r in m.results})


def _waits(case: Case) -> bool:
    times = [turn.time for turn in case.turns]
    return any(b - a > timedelta(days=1) for a, b in pairwise(times))


def _any(case: Case, kind: type[object]) -> bool:
    return any(isinstance(event, kind) for event in case.events)


FEATURES: Mapping[str, tuple[Feature, ...]] = {
    "Case": (
        Feature("more is said than fits the budget", 0.6, _over),
        Feature("a tool pair straddles the cut", 0.2, _straddles),
        Feature("pins", 0.5, lambda c: bool(c.pins)),
        Feature("several principals", 0.5, lambda c: len(c.principals) > 1),
        Feature("same words, two principals' codes", 0.5, _same_words),
        Feature("several sessions", 0.5, lambda c: len({t.session for t in c.turns}) > 1),
        Feature("a call's id is used again", 0.2, _collides),
        Feature("parallel calls", 0.2, lambda c: any(len(m.calls) > 1 for m in c.messages)),
        Feature("a call without an answer", 0.2, _dangles),
        Feature(
            "a large result",
            0.1,
            lambda c: any(m.role == "tool" and len(m.text) > 1000 for m in c.messages),
        ),
        Feature("a standing rule", 0.2, lambda c: any(m.role == "system" for m in c.messages)),
        Feature("a fact is superseded", 0.2, lambda c: _contains(c, ("Correction:",))),
        Feature("grapheme clusters", 0.2, lambda c: _contains(c, CLUSTERS)),
        Feature("invisible characters", 0.2, lambda c: _contains(c, INVISIBLE)),
        Feature("forged delimiters", 0.2, lambda c: _contains(c, DELIMITERS)),
        Feature("an empty text", 0.1, lambda c: any(not m.text.strip() for m in c.messages)),
        Feature("a day passes between turns", 0.3, _waits),
        Feature("time passes in silence", 0.1, lambda c: _any(c, CaseElapse)),
        Feature("something is to be forgotten", 0.1, lambda c: _any(c, CaseForget)),
        Feature("a grant", 0.1, lambda c: _any(c, CaseGrant)),
        Feature("a bad summary", 0.2, lambda c: c.behaviour in BAD),
        Feature("conversations kept apart", 0.4, lambda c: c.apart),
    ),
    "LedgerCase": (
        Feature(
            "a crash between inject and mark",
            0.1,
            lambda c: any(op.step == "crash" for op in c.ops),
        ),
        Feature(
            "a compaction takes it out", 0.3, lambda c: any(op.step == "compact" for op in c.ops)
        ),
        Feature("items expire", 0.2, lambda c: c.ttl is not None),
        Feature("several want to inject", 0.5, lambda c: len({op.who for op in c.ops}) > 1),
    ),
    "ShelfCase": (
        Feature(
            "something is pinned or core",
            0.4,
            lambda c: any(e.pinned or "core" in {e.layer, e.category} for e in c.entries),
        ),
        Feature("two owners", 0.4, lambda c: len({e.owner for e in c.entries}) > 1),
        Feature("the store fails once", 0.2, lambda c: c.fails > 0),
        Feature(
            "a time in the future", 0.1, lambda c: any(e.age < timedelta(0) for e in c.entries)
        ),
    ),
    "FileCase": (
        Feature("a bit flips", 0.05, lambda c: c.damage == "flipped"),
        Feature("zeros", 0.05, lambda c: c.damage == "zeroed"),
        Feature("cut short", 0.05, lambda c: c.damage == "truncated"),
    ),
    "RunCase": (Feature("records are lost", 0.3, lambda c: c.lost > 0),),
}
"""What cases have to show, by the kind of case."""


class Coverage:
    """Counts the features of cases."""

    def __init__(self) -> None:
        self._cases: dict[str, int] = {}
        self._seen: dict[tuple[str, str], int] = {}

    def add(self, case: AnyCase) -> None:
        """Count the features of a case."""
        kind = type(case).__name__
        self._cases[kind] = self._cases.get(kind, 0) + 1
        for feature in FEATURES[kind]:
            if feature.shows(case):
                key = (kind, feature.name)
                self._seen[key] = self._seen.get(key, 0) + 1

    def counted(self) -> tuple[FeatureCount, ...]:
        """Every feature of every kind of case that was tried."""
        return tuple(
            FeatureCount(
                name=feature.name,
                floor=feature.floor,
                cases=cases,
                seen=self._seen.get((kind, feature.name), 0),
            )
            for kind, cases in sorted(self._cases.items())
            for feature in FEATURES[kind]
        )
