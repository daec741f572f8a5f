"""Makes probes of what was written: when each is asked, by whom and about what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memsim.errors import ScenarioError, nearest
from memsim.scenario.nodes import shown
from memsim.scenario.plan import Plan, ProbeNote
from memsim.scenario.script import UNKNOWN, Probe
from memsim.scenario.survey import Moment, Planted, Survey
from memsim.scenario.values import Named
from memsim.scenario.words import says, words


@dataclass(frozen=True, slots=True)
class Placed:
    """A probe and its point.

    Attributes:
        marked: an `ask` step puts it, rather than a turn or the end.
    """

    probe: Probe
    moment: Moment
    marked: bool
    final: bool


def place_probes(plan: Plan, survey: Survey) -> tuple[Placed, ...]:
    """The script's probes, in the order in which they are asked.

    Raises:
        ScenarioError: one cannot be asked or answered as it is written. Without a path.
    """
    placed = [_Placing(plan, survey, note).place() for note in plan.probes]
    return tuple(sorted(placed, key=lambda p: (p.moment.turn, p.final, p.marked, p.moment.tick)))


class _Placing:
    """One probe."""

    def __init__(self, plan: Plan, survey: Survey, note: Named[ProbeNote]) -> None:
        self._plan = plan
        self._survey = survey
        self._name = note.name
        self._note = note.value
        self._line = note.line
        self._unknown = note.value.expect == (UNKNOWN,)

    def place(self) -> Placed:
        note = self._note
        self._check_answers()
        moment = self._moment()
        by_then = {
            name: seen
            for name, versions in self._survey.planted.items()
            if (seen := [v for v in versions if v.tick <= moment.tick])
        }
        facts = self._facts(by_then)
        if not self._unknown:
            self._check_alive(facts, by_then, moment)
            self._check_stated(moment)
        evidence = self._evidence(facts, by_then, moment)
        probe = Probe(
            id=self._name,
            ask=note.ask,
            principal=self._asker(facts, by_then, moment),
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
            labels={label.name: label.value for label in note.labels},
            line=self._line,
        )
        marked = self._name in self._survey.marked
        return Placed(probe, moment, marked, final=not marked and self._at_end)

    def _error(self, message: str, hint: str | None = None) -> ScenarioError:
        return ScenarioError(f"probe {self._name} {message}", line=self._line, hint=hint)

    # -- what is expected

    def _check_answers(self) -> None:
        note = self._note
        if UNKNOWN in note.expect and not self._unknown:
            raise self._error(f"expects {UNKNOWN!r} and an answer as well")
        expected = {words(answer) for answer in note.expect}
        for value in note.forbid:
            if words(value) in expected:
                raise self._error(f"both expects and forbids {shown(value)}")
        if note.match == "choice" and not note.choices:
            raise self._error("has match: choice and no choices")
        if note.choices and note.match not in {None, "choice"}:
            raise self._error(f"has choices and match: {note.match}")
        for answer in note.expect if note.choices and not self._unknown else ():
            if answer not in note.choices:
                raise self._error(
                    f"expects {shown(answer)}, which is none of its choices",
                    nearest(answer, note.choices),
                )
        if note.tolerance and note.match not in {"number", "date"}:
            raise self._error("has a tolerance, which only match: number and match: date use")

    def _check_stated(self, moment: Moment) -> None:
        if self._note.derived:
            return
        missing = [a for a in self._note.expect if not self._said(a, moment.turn)]
        needed = 1 if self._note.match == "all" else len(self._note.expect)
        if len(missing) < needed:
            return
        answer = missing[0]
        later = self._survey.mentions.get(answer)
        if later:
            raise self._error(
                f"is asked after turn {moment.turn}, before {shown(answer)} "
                f"is said in turn {later[0].turn}"
            )
        raise self._error(
            f"expects {shown(answer)}, which no message says; "
            "if it follows from what is said, write derived: true"
        )

    def _said(self, answer: str, turn: int) -> bool:
        return any(m.turn <= turn for m in self._survey.mentions.get(answer, ()))

    # -- when it is asked

    @property
    def _at_end(self) -> bool:
        after = self._note.after
        return after is None or (after.turn is None and after.fact is None)

    def _moment(self) -> Moment:
        survey, after = self._survey, self._note.after
        if self._name in survey.marked:
            return survey.marked[self._name]
        if after is None or self._at_end:
            return survey.end
        turn = after.turn if after.turn is not None else self._fact_turn(after.fact or "")
        turn += after.turns
        if turn > survey.end.turn:
            raise ScenarioError(
                f"probe {self._name} would come after turn {turn:,}, and there are "
                f"{survey.end.turn:,}",
                line=after.line,
            )
        return survey.at_turn(turn)

    def _fact_turn(self, name: str) -> int:
        versions = self._survey.planted.get(name)
        if not versions:
            assert self._note.after is not None  # noqa: S101 - it named the fact
            raise ScenarioError(
                f"after names no fact: {shown(name)}",
                line=self._note.after.line,
                hint=nearest(name, [*self._survey.planted, "end"]),
            )
        expected = [v for v in versions if self._expects(v)]
        return (expected or versions)[-1].fact.turn

    def _expects(self, planted: Planted) -> bool:
        value = words(planted.fact.value)
        return any(words(answer) == value for answer in self._note.expect)

    # -- what it is about

    def _facts(self, by_then: dict[str, list[Planted]]) -> tuple[str, ...]:
        note, planted = self._note, self._survey.planted
        for name in note.facts:
            if name not in planted:
                raise self._error(f"is about {shown(name)}, no fact", nearest(name, planted))
        if note.facts or note.evidence:
            return note.facts
        if self._name in planted:
            return (self._name,)
        return tuple(name for name, seen in by_then.items() if self._expects(seen[-1]))

    def _check_alive(
        self, facts: Iterable[str], by_then: dict[str, list[Planted]], moment: Moment
    ) -> None:
        for name in facts:
            first = self._survey.planted[name][0]
            if name not in by_then:
                raise self._error(
                    f"is asked after turn {moment.turn}, before {shown(name)} is stated "
                    f"on line {first.line}"
                )
            last = by_then[name][-1].tick
            erased = self._survey.forgotten.get(name, ())
            if any(last < tick <= moment.tick for tick in erased):
                raise self._error(f"expects {shown(name)}, which was to be forgotten by then")
        if not (self._note.facts or self._note.derived) and self._name in by_then:
            self._check_current(by_then[self._name][-1])

    def _check_current(self, now: Planted) -> None:
        value = now.fact.value
        if not any(says(value, a) or says(a, value) for a in self._note.expect):
            raise self._error(
                f"expects {shown(self._note.expect[0])}, and {self._name} is {shown(value)} by "
                "then; name the facts it is about, or write derived: true"
            )

    def _evidence(
        self, facts: tuple[str, ...], by_then: dict[str, list[Planted]], moment: Moment
    ) -> tuple[str, ...]:
        for message in self._note.evidence:
            self._check_message(message, moment)
        if facts or self._note.evidence or self._unknown:
            return self._note.evidence
        older = [v.fact.source for seen in by_then.values() for v in seen if self._expects(v)]
        if older:
            return tuple(dict.fromkeys(older))
        mentions = self._survey.mentions
        said = {
            m.message
            for a in self._note.expect
            for m in mentions.get(a, ())
            if m.turn <= moment.turn
        }
        return tuple(said) if len(said) == 1 else ()

    def _check_message(self, message: str, moment: Moment) -> None:
        digits = message[1:]
        last = self._survey.messages_by(moment)
        good = message[:1] == "m" and digits.isascii() and digits.isdigit() and len(digits) < 9
        if not good or not 1 <= int(digits) <= last or digits[0] == "0":
            raise self._error(
                f"names {shown(message)} as evidence; messages are m1 to m{last} by then"
            )

    def _excluded(self, facts: tuple[str, ...], evidence: tuple[str, ...]) -> str:
        if facts or evidence or self._unknown:
            return ""
        if self._note.derived:
            return "the answer is derived and names no facts"
        return "several messages say the answer and no fact is named"

    def _asker(
        self, facts: tuple[str, ...], by_then: dict[str, list[Planted]], moment: Moment
    ) -> str:
        asker, people = self._note.asker, self._plan.principals
        if asker is not None and asker not in people:
            raise self._error(
                f"is asked by {shown(asker)}; there are {', '.join(people)}",
                nearest(asker, people),
            )
        owners = {by_then[name][-1].fact.principal for name in facts if name in by_then}
        return asker or (owners.pop() if len(owners) == 1 else moment.principal)
