"""Count the features of generated cases; a check with too few of them has not tried enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from memsim.context import ContextBuilder
from memsim.testing.check_cases import BAD, AnyCase, Case, CaseElapse, CaseForget, CaseGrant
from memsim.testing.generators.generated_cases import COUNTER
from memsim.testing.generators.generated_conversations import CLUSTERS, DELIMITERS, INVISIBLE

CHANCE = 2.5
"""Standard deviations that a count may be below its floor: fifty cases are no five thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A feature that enough cases must have.

    Attributes:
        floor: share of the cases, 0 to 1.
        shows: whether a case has it.
    """

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
    return ContextBuilder(COUNTER).tokens(case.messages)


def _over(case: Case) -> bool:
    return _tokens(case) > case.budget


def _straddles(case: Case) -> bool:
    # The newest messages that fit begin between a call and its result.
    messages = case.messages
    start, room = len(messages), case.budget
    while start > 0 and room >= COUNTER.message(messages[start - 1]):
        start -= 1
        room -= COUNTER.message(messages[start])
    before = {c for m in messages[:start] for c in m.calls}
    return any(before.intersection(m.results) for m in messages[start:])


def _said(case: Case, parts: Iterable[str]) -> bool:
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
        Feature(name="more is said than fits the budget", floor=0.6, shows=_over),
        Feature(name="a tool pair straddles the cut", floor=0.2, shows=_straddles),
        Feature(name="pins", floor=0.5, shows=lambda c: bool(c.pins)),
        Feature(name="several principals", floor=0.5, shows=lambda c: len(c.principals) > 1),
        Feature(name="same words, two principals' codes", floor=0.5, shows=_same_words),
        Feature(
            name="several sessions",
            floor=0.5,
            shows=lambda c: len({t.session for t in c.turns}) > 1,
        ),
        Feature(name="a call's id is used again", floor=0.2, shows=_collides),
        Feature(
            name="parallel calls",
            floor=0.2,
            shows=lambda c: any(len(m.calls) > 1 for m in c.messages),
        ),
        Feature(name="a call without an answer", floor=0.2, shows=_dangles),
        Feature(
            name="a large result",
            floor=0.1,
            shows=lambda c: any(m.role == "tool" and len(m.text) > 1000 for m in c.messages),
        ),
        Feature(
            name="a standing rule",
            floor=0.2,
            shows=lambda c: any(m.role == "system" for m in c.messages),
        ),
        Feature(name="a fact is superseded", floor=0.2, shows=lambda c: _said(c, ("Correction:",))),
        Feature(name="grapheme clusters", floor=0.2, shows=lambda c: _said(c, CLUSTERS)),
        Feature(name="invisible characters", floor=0.2, shows=lambda c: _said(c, INVISIBLE)),
        Feature(name="forged delimiters", floor=0.2, shows=lambda c: _said(c, DELIMITERS)),
        Feature(
            name="an empty text",
            floor=0.1,
            shows=lambda c: any(not m.text.strip() for m in c.messages),
        ),
        Feature(name="a day passes between turns", floor=0.3, shows=_waits),
        Feature(name="time passes in silence", floor=0.1, shows=lambda c: _any(c, CaseElapse)),
        Feature(
            name="something is to be forgotten", floor=0.1, shows=lambda c: _any(c, CaseForget)
        ),
        Feature(name="a grant", floor=0.1, shows=lambda c: _any(c, CaseGrant)),
        Feature(name="a bad summary", floor=0.2, shows=lambda c: c.behaviour in BAD),
        Feature(name="conversations kept apart", floor=0.4, shows=lambda c: c.apart),
    ),
    "LedgerCase": (
        Feature(
            name="a crash between inject and mark",
            floor=0.1,
            shows=lambda c: any(op.step == "crash" for op in c.ops),
        ),
        Feature(
            name="a compaction takes it out",
            floor=0.3,
            shows=lambda c: any(op.step == "compact" for op in c.ops),
        ),
        Feature(name="items expire", floor=0.2, shows=lambda c: c.ttl is not None),
        Feature(
            name="several want to inject",
            floor=0.5,
            shows=lambda c: len({op.who for op in c.ops}) > 1,
        ),
    ),
    "ShelfCase": (
        Feature(
            name="something is pinned or core",
            floor=0.4,
            shows=lambda c: any(e.pinned or "core" in {e.layer, e.category} for e in c.entries),
        ),
        Feature(
            name="two owners", floor=0.4, shows=lambda c: len({e.owner for e in c.entries}) > 1
        ),
        Feature(name="the store fails once", floor=0.2, shows=lambda c: c.fails > 0),
        Feature(
            name="a time in the future",
            floor=0.1,
            shows=lambda c: any(e.age < timedelta(0) for e in c.entries),
        ),
    ),
    "FileCase": (
        Feature(name="a bit flips", floor=0.05, shows=lambda c: c.damage == "flipped"),
        Feature(name="zeros", floor=0.05, shows=lambda c: c.damage == "zeroed"),
        Feature(name="cut short", floor=0.05, shows=lambda c: c.damage == "truncated"),
    ),
    "RunCase": (Feature(name="records are lost", floor=0.3, shows=lambda c: c.lost > 0),),
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
