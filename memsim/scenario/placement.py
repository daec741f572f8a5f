"""Place probes: when each is asked, by whom and about which facts."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from memsim.errors import ErrorCollector, ScenarioError
from memsim.fast_dataclass import fast_init
from memsim.scenario.document import nearest_name, quote
from memsim.scenario.record_kinds import Named
from memsim.scenario.script import IN_CONTEXT, UNKNOWN, Fact, Probe
from memsim.scenario.script_plan import After, Plan, ProbeNote
from memsim.scenario.survey import Moment, PlantedFact, Survey
from memsim.scenario.words import Words, says, words

MAX_PROBES = 2_000
MAX_FACTS = 20
"""Facts that a probe can be about without naming them."""

MAX_WORDS = 12
"""Words of a value that is looked for in the question of a derived answer."""

TELLING = 3
"""Characters of a value that a question names on purpose."""

_MESSAGE = re.compile(r"m[1-9][0-9]{0,8}")


@fast_init
@dataclass(frozen=True, slots=True)
class PlacedProbe:
    """A probe and its point."""

    probe: Probe
    moment: Moment
    marked: bool
    final: bool


def place_probes(plan: Plan, survey: Survey) -> tuple[PlacedProbe, ...]:
    """The script's probes, in the order in which they are asked.

    Raises:
        ScenarioError: one cannot be asked or answered as it is written. Without a path.
    """
    if len(plan.probes) > MAX_PROBES:
        raise ScenarioError(
            f"has more than {MAX_PROBES:,} probes", line=plan.probes[MAX_PROBES].line
        )
    errors = ErrorCollector()
    made = [errors.read(partial(_Placing, plan, survey, note)) for note in plan.probes]
    placings = sorted((p for p in made if p is not None), key=lambda p: p.moment.tick)
    holders = _Holders(survey)
    placed = [errors.read(partial(placing.place, holders)) for placing in placings]
    errors.end()
    steps = {name: number for number, name in enumerate(survey.marked)}
    return tuple(
        sorted(
            placed,
            key=lambda p: (p.moment.turn, p.final, p.marked, steps.get(p.probe.id, 0)),
        )
    )


class _Holders:
    """Which facts have a value, as the script goes on; the points asked for may not go back."""

    def __init__(self, survey: Survey) -> None:
        self._coming = deque(survey.order)
        self._values: dict[str, Words] = {}
        self._holders: dict[Words, dict[str, None]] = {}

    def of(self, value: Words, tick: int) -> dict[str, None]:
        while self._coming and self._coming[0].tick <= tick:
            self._take(self._coming.popleft().fact)
        return self._holders.get(value, {})

    def _take(self, fact: Fact) -> None:
        old = self._values.get(fact.id)
        if old is not None:
            del self._holders[old][fact.id]
        value = self._values[fact.id] = words(fact.value)
        self._holders.setdefault(value, {})[fact.id] = None


class _Placing:
    """One probe."""

    def __init__(self, plan: Plan, survey: Survey, note: Named[ProbeNote]) -> None:
        self._plan = plan
        self._survey = survey
        self._name = note.name
        self._note = note.value
        self._line = note.line
        self._unknown = note.value.expect == (UNKNOWN,)
        self.moment = self._due()

    def place(self, holders: _Holders) -> PlacedProbe:
        note = self._note
        self._check_answers()
        facts = self._facts(holders)
        if not self._unknown:
            self._check_alive(facts)
            self._check_stated()
        evidence = self._evidence(facts)
        probe = Probe(
            id=self._name,
            ask=note.ask,
            principal=self._asker(facts),
            expect=() if self._unknown else note.expect,
            forbid=note.forbid,
            unanswerable=self._unknown,
            ability=note.ability or ("abstain" if self._unknown else "recall"),
            match=note.match or ("choice" if note.choices else "tokens"),
            tolerance=note.tolerance,
            choices=note.choices,
            facts=facts,
            evidence=evidence,
            excluded=self._excluded(facts, evidence),
            judge=note.judge,
            labels={label.name: label.value for label in note.labels},
            line=self._line,
        )
        marked = self._name in self._survey.marked
        return PlacedProbe(probe, self.moment, marked, final=not marked and self._at_end)

    def _error(self, message: str, hint: str | None = None) -> ScenarioError:
        return ScenarioError(f"probe {self._name} {message}", line=self._line, hint=hint)

    # -- when it is asked

    @property
    def _at_end(self) -> bool:
        after = self._note.after
        return after is None or (after.turn is None and after.fact is None)

    def _due(self) -> Moment:
        survey, after = self._survey, self._note.after
        if self._name in survey.marked:
            return survey.marked[self._name]
        if after is None or self._at_end:
            return survey.end
        turn = after.turn if after.turn is not None else self._fact_turn(after)
        turn += after.turns
        if turn > survey.end.turn:
            raise ScenarioError(
                f"probe {self._name} would come after turn {turn:,}, and there are "
                f"{survey.end.turn:,}",
                line=after.line,
            )
        return survey.at_turn(turn)

    def _fact_turn(self, after: After) -> int:
        name = after.fact or ""
        versions = self._survey.planted.get(name)
        if not versions:
            raise ScenarioError(
                f"after names the unknown fact {quote(name)}",
                line=after.line,
                hint=nearest_name(name, [*self._survey.planted, "end"]),
            )
        # Of several versions the one that the probe expects is meant; else the last.
        expected = {words(answer) for answer in self._note.expect}
        meant = [v for v in versions if words(v.fact.value) in expected]
        return (meant or versions)[-1].fact.turn

    # -- what is expected

    def _check_answers(self) -> None:
        note = self._note
        if UNKNOWN in note.expect and not self._unknown:
            raise self._error(f"expects {UNKNOWN!r} and an answer as well")
        expected = {words(answer) for answer in note.expect}
        for value in note.forbid:
            if words(value) in expected:
                raise self._error(f"both expects and forbids {quote(value)}")
        if note.tolerance and note.match not in {"number", "date"}:
            raise self._error("has a tolerance, which only match: number and match: date use")
        if note.match == IN_CONTEXT and self._unknown:
            raise self._error(f"has match: {IN_CONTEXT}, which looks for a value, and expects none")
        self._check_choices()

    def _check_choices(self) -> None:
        note = self._note
        if note.match == "choice" and not note.choices:
            raise self._error("has match: choice and no choices")
        if note.choices and note.match not in {None, "choice"}:
            raise self._error(f"has choices and match: {note.match}")
        for answer in note.expect if note.choices and not self._unknown else ():
            if answer not in note.choices:
                raise self._error(
                    f"expects {quote(answer)}, which is none of its choices",
                    nearest_name(answer, note.choices),
                )

    def _check_stated(self) -> None:
        if self._note.derived:
            return
        missing = [answer for answer in self._note.expect if not self._is_said(answer)]
        needed = 1 if self._note.match == "all" else len(self._note.expect)
        if len(missing) < needed:
            return
        later = self._survey.mentions.get(missing[0])
        if later:
            raise self._error(
                f"is asked after turn {self.moment.turn}, before {quote(missing[0])} "
                f"is said in turn {later[0].turn}"
            )
        raise self._error(
            f"expects {quote(missing[0])}, which no message says; "
            "if it follows from what is said, write derived: true"
        )

    def _is_said(self, answer: str) -> bool:
        mentions = self._survey.mentions.get(answer, [])
        return bool(mentions) and mentions[0].turn <= self.moment.turn

    # -- what it is about

    def _facts(self, holders: _Holders) -> tuple[str, ...]:
        note, planted = self._note, self._survey.planted
        for name in note.facts:
            if name not in planted:
                raise self._error(
                    f"names the unknown fact {quote(name)}", nearest_name(name, planted)
                )
        if note.facts or note.evidence:
            return note.facts
        if self._name in planted:
            return (self._name,)
        names: dict[str, None] = {}
        for answer in self._note.expect:
            names |= holders.of(words(answer), self.moment.tick)
            if len(names) > MAX_FACTS:
                raise self._error(f"could be about more than {MAX_FACTS} facts; name them")
        return tuple(names)

    def _check_alive(self, facts: Iterable[str]) -> None:
        for name in facts:
            now = self._survey.current(name, self.moment)
            if now is None:
                first = self._survey.planted[name][0]
                raise self._error(
                    f"is asked after turn {self.moment.turn}, before {quote(name)} is stated "
                    f"in turn {first.fact.turn}"
                )
            if self._survey.erased(now, self.moment):
                raise self._error(f"expects {quote(name)}, which was to be forgotten by then")
            if name == self._name and not (self._note.facts or self._note.derived):
                self._check_current(now.fact.value)

    def _check_current(self, value: str) -> None:
        expect = self._note.expect
        if value not in expect and not any(says(value, a) or says(a, value) for a in expect):
            raise self._error(
                f"expects {quote(self._note.expect[0])}, and {self._name} is {quote(value)} by "
                "then; name the facts it is about, or write derived: true"
            )

    def _evidence(self, facts: tuple[str, ...]) -> tuple[str, ...]:
        for message in self._note.evidence:
            self._check_message(message)
        if facts or self._note.evidence or self._unknown:
            return self._note.evidence
        older = {
            version.fact.source: None
            for answer in self._note.expect
            for version in self._survey.by_value.get(words(answer), ())[:MAX_FACTS]
            if version.tick <= self.moment.tick
        }
        if older:
            return tuple(older)
        said = {
            mention.message
            for answer in self._note.expect
            for mention in self._survey.mentions.get(answer, ())[:2]
            if mention.turn <= self.moment.turn
        }
        if len(said) == 1:
            return tuple(said)
        return self._asked_about() if self._note.derived else ()

    def _asked_about(self) -> tuple[str, ...]:
        """The messages that state what the question of a derived answer names, in their order."""
        asker = self._note.asker or self.moment.principal
        asked = words(self._note.ask)
        spans = (asked[n : n + size] for n in range(len(asked)) for size in range(1, MAX_WORDS + 1))
        named = (version for span in dict.fromkeys(spans) for version in self._named_by(span))
        found = [v for v in named if not v.fact.private or v.fact.principal == asker]
        return tuple(dict.fromkeys(v.fact.source for v in sorted(found, key=lambda v: v.tick)))

    def _named_by(self, span: Words) -> Iterable[PlantedFact]:
        return (
            version
            for version in self._survey.by_value.get(span, ())[:MAX_FACTS]
            if version.tick <= self.moment.tick
            and len(version.fact.value) >= TELLING
            and not self._survey.erased(version, self.moment)
        )

    def _check_message(self, message: str) -> None:
        last = self._survey.messages_by(self.moment)
        if not (_MESSAGE.fullmatch(message) and int(message[1:]) <= last):
            raise self._error(
                f"names {quote(message)} as evidence; messages are m1 to m{last} by then"
            )

    def _excluded(self, facts: tuple[str, ...], evidence: tuple[str, ...]) -> str:
        if facts or evidence or self._unknown:
            return ""
        if self._note.derived:
            return "the answer is derived, names no facts, and its question says no fact's value"
        return "several messages say the answer and no fact is named"

    def _asker(self, facts: tuple[str, ...]) -> str:
        asker, people = self._note.asker, self._plan.principals
        if asker is not None and asker not in people:
            raise self._error(
                f"is asked by {quote(asker)}; there are {', '.join(people)}",
                nearest_name(asker, people),
            )
        known = (self._survey.current(name, self.moment) for name in facts)
        owners = {now.fact.principal for now in known if now}
        return asker or (owners.pop() if len(owners) == 1 else self.moment.principal)
