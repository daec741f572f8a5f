"""Play cases plain and twisted, and pair each question with itself in the twisted scenario."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from memsim.errors import ConfigError, nearest
from memsim.scenario.relations import RELATIONS, SEPARATOR, changes
from memsim.scenario.relations.relation import Expected
from memsim.suite.cases import CaseOutcome, CaseSpec

ProbeLine = Mapping[str, Any]
"""A record of `probes.jsonl`."""

AnswerChange = Literal["lost", "gained", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwistedQuestion:
    """A question, plain and twisted.

    Attributes:
        relation: the twist.
    """

    strategy: str
    scenario: str
    relation: str
    plain: ProbeLine
    twisted: ProbeLine

    @property
    def answer(self) -> AnswerChange:
        """What happened to the answer."""
        before, after = (p["outcome"] == "PASS" for p in (self.plain, self.twisted))
        if before == after:
            return "same"
        return "lost" if before else "gained"

    @property
    def flipped(self) -> bool:
        """Whether that is against what must hold."""
        return self.answer in AGAINST[RELATIONS[self.relation].expected]

    @property
    def ranks(self) -> tuple[float, float] | None:
        """R@10 of both; None where the evidence was not ranked."""
        found = [p["scores"].get("recall@10") for p in (self.plain, self.twisted)]
        return None if None in found else (float(found[0]), float(found[1]))


AGAINST: Mapping[Expected, frozenset[AnswerChange]] = {
    "same": frozenset({"lost", "gained"}),
    "no worse": frozenset({"lost"}),
    "no better": frozenset({"gained"}),
}
"""What must not happen to an answer."""


def check_relations(given: Iterable[str]) -> tuple[str, ...]:
    """The relations of these names, each once; all of them for none.

    Raises:
        ConfigError: there is no such relation.
    """
    for name in (names := tuple(dict.fromkeys(given))):
        if name not in RELATIONS:
            near = nearest(name, RELATIONS)
            hint = f" (did you mean {near!r}?)" if near else ""
            known = ", ".join(RELATIONS)
            raise ConfigError(f"no relation is called {name!r}{hint}; relations: {known}")
    return names or tuple(RELATIONS)


@dataclass(frozen=True, slots=True)
class TwistPlan:
    """The cases that are played for some plain cases and relations.

    Attributes:
        specs: every case, each once.
        places: by plain case and relation, the case that answers it. The plain one has the
            relation "".
    """

    specs: tuple[CaseSpec, ...]
    places: Mapping[tuple[CaseSpec, str], CaseSpec] = field(repr=False)


def plan_twists(plain: Iterable[CaseSpec], names: Sequence[str]) -> TwistPlan:
    """The cases to play; a relation that changes nothing in a scenario has none.

    All relations that only change the question share one case with the plain questions.
    """
    asked = [name for name in names if RELATIONS[name].ask is not None]
    told = [name for name in names if RELATIONS[name].ask is None]
    changed: dict[tuple[object, str], bool] = {}
    places: dict[tuple[CaseSpec, str], CaseSpec] = {}
    for case in plain:
        base = _with_twist(case, "+" + "+".join(asked)) if asked else case
        places[case, ""] = base
        places |= {(case, name): base for name in asked}
        for name in told:
            spec = replace(_with_twist(case, name), budget=case.budget * RELATIONS[name].budget)
            ref = case.scenario
            if (ref, name) not in changed:
                different = RELATIONS[name].budget > 1 or changes(ref.load(), spec.scenario.load())
                changed[ref, name] = different
            if changed[ref, name]:
                places[case, name] = spec
    return TwistPlan(tuple(dict.fromkeys(places.values())), places)


def case_of(plan: TwistPlan, pair: TwistedQuestion) -> CaseSpec:
    """The plain case that a pair comes from."""
    return next(
        case
        for case, name in plan.places
        if name == pair.relation
        and (str(case.strategy), str(case.scenario)) == (pair.strategy, pair.scenario)
    )


def _with_twist(case: CaseSpec, twist: str) -> CaseSpec:
    return replace(case, scenario=replace(case.scenario, twist=twist))


def twisted_questions(
    plan: TwistPlan, outcomes: Mapping[CaseSpec, CaseOutcome]
) -> Iterator[TwistedQuestion]:
    """Every question that was scored plain and twisted, in the order of the plan."""
    records = {spec: probe_lines(outcome) for spec, outcome in outcomes.items()}
    for (case, name), spec in plan.places.items():
        if not name:
            continue
        before = records.get(plan.places[case, ""], {})
        after = records.get(spec, {})
        for probe, line in before.items():
            if SEPARATOR in probe:
                continue
            other = f"{probe}{SEPARATOR}{name}" if RELATIONS[name].ask else probe
            if other in after and not line["error"] and not after[other]["error"]:
                yield TwistedQuestion(
                    strategy=str(case.strategy),
                    scenario=str(case.scenario),
                    relation=name,
                    plain=line,
                    twisted=after[other],
                )


def probe_lines(outcome: CaseOutcome) -> dict[str, ProbeLine]:
    """The records of a case's questions, by their ids."""
    lines = map(json.loads, outcome.probe_lines.splitlines())
    return {line["probe"]: line for line in lines}
