"""Checking: what is wrong is found by its own invariant, and nothing unmeasured is green."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memsim.context import Context
from memsim.message import EPOCH, Message, said
from memsim.models import Request
from memsim.strategy import Environment, Event, Location, Query, Strategy, Surface
from memsim.testing import PROFILES, Case, CheckReport, Violation, assert_holds, check, verify
from memsim.testing.case_coverage import FeatureCount
from memsim.testing.check_cases import CaseTurn
from memsim.testing.checks import CheckPlan, CheckResult, case_of, failed, perform
from memsim.testing.counterexamples import Counterexamples
from memsim.testing.invariants import invariant
from memsim.testing.subjects import subject_of
from memsim.testing.worlds import Trial
from tests.testing.bent import BENT

QUICK = replace(PROFILES["commit"], examples=20)
FILE = Path(__file__).parent / "bent.py"


def of(kind: Callable[..., Strategy]) -> str:
    """The ref of a class of that file."""
    return f"{FILE}@{kind.__name__}"


def result(checked: CheckReport, name: str) -> CheckResult:
    """What came of one invariant."""
    return next(r for r in checked.results if r.invariant == name)


@pytest.mark.parametrize("name", BENT)
def test_what_breaks_an_invariant_is_found_by_it(name: str, tmp_path: Path) -> None:
    """And the counterexample breaks it again, by itself, from what was kept of it."""
    ref = of(BENT[name])
    found = result(check(ref, k=name, profile=QUICK), name)

    assert "violated" == found.verdict
    assert found.case is not None
    kept = Counterexamples(tmp_path)
    assert kept.keep(found) is not None
    case = kept.of(ref, [name])[name]
    assert found.case == case
    with pytest.raises(Violation):
        verify(name, ref, case)


def test_a_plain_window_breaks_nothing_of_this() -> None:
    """What the bent ones are bent from holds all that can be measured on it."""
    checked = check(f"{FILE}@Plain", k="structure or budget or text or run", profile=QUICK)

    assert [] == [(r.invariant, r.why) for r in checked.results if r.verdict == "violated"]


class Ruled(Strategy):
    """Keeps every rule, and fits the rest with the builder that memsim gives it."""

    keeps_system = True

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.rules: list[Message] = []
        self.talk: list[Message] = []

    def observe(self, message: Message) -> None:
        (self.rules if message.role == "system" else self.talk).append(message)

    def context(self, query: Query) -> Context:
        build = self.env.build
        rules, talk = (
            [m for m in said if m.principal == query.principal] for said in (self.rules, self.talk)
        )
        whole = build.context(build.section("system", rules), build.section("window", talk))
        return build.fit(whole, query.budget)[0]


class Private(Ruled):
    """Shows everybody their own, and finds messages as memsim does by default."""

    isolates = True
    tail = 2

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for message in self.talk:
            if viewer in {None, message.principal}:
                yield Surface(tier="window", sources=(message.id,), text=message.text)


def test_whoever_keeps_people_apart_with_what_memsim_gives_is_accused_of_nothing() -> None:
    """Others' messages are found as little as none, and others' refusals are seen by nobody."""
    checked = check(f"{__file__}@Private", k="foreign_handle or non_interference", profile=QUICK)

    assert ["holds", "holds"] == [r.verdict for r in checked.results]


def test_whoever_fits_contexts_with_the_builder_is_within_every_budget() -> None:
    """Rules that do not fit are refused by the builder, and nobody is accused of it."""
    checked = check(f"{__file__}@Ruled", k="within_budget or system_preservation", profile=QUICK)

    assert ["holds", "holds"] == [r.verdict for r in checked.results]


class Pruned(Private):
    """Drops all but the latest messages, and asks no model to do so."""

    def delivered(self, context: Context) -> None:
        gone, self.talk = self.talk[:-4], self.talk[-4:]
        if gone:
            ids = tuple(m.id for m in gone)
            self.env.log(Event(kind="compaction", sources=ids, detail="dropped"))


class Believing(Pruned):
    """Asks a model for a summary, and drops the messages whatever it says."""

    def delivered(self, context: Context) -> None:
        if len(self.talk) > 4:
            self.env.model.complete(Request(task="summarise", messages=tuple(self.talk)))
        super().delivered(context)


def test_whoever_drops_messages_without_a_model_is_not_blamed_for_its_failures() -> None:
    """Only what goes because a model was asked went by its failure."""
    name = "failure_keeps_state"
    told = [
        result(check(f"{__file__}@{k}", k=name, profile=QUICK), name).verdict
        for k in ("Pruned", "Believing")
    ]

    assert told[0] != "violated"
    assert told[1] == "violated"


class Nicknamed(Private):
    """Takes names that begin alike, in any case, for one."""

    def context(self, query: Query) -> Context:
        names = {m.principal for m in self.talk}
        name = next((n for n in sorted(names) if n[:2] == query.principal.lower()[:2]), "")
        return super().context(replace(query, principal=name))


class Gullible(Private):
    """Takes everybody for whom they say they are, from then on."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        for name in {m.principal for m in self.talk}:
            if f"I am {name}." in message.text:
                self.names = {**getattr(self, "names", {}), message.principal: name}

    def context(self, query: Query) -> Context:
        name = getattr(self, "names", {}).get(query.principal, query.principal)
        return super().context(replace(query, principal=name))


@pytest.mark.parametrize(
    ("name", "kind"), [("fail_closed", "Nicknamed"), ("principal_source", "Gullible")]
)
def test_whoever_is_taken_for_somebody_else_is_found(name: str, kind: str) -> None:
    """By a name that is like theirs, or by what was said before; the honest one is not accused."""
    told = [
        result(check(f"{__file__}@{k}", k=name, profile=QUICK), name) for k in (kind, "Private")
    ]

    assert ["violated", "holds"] == [r.verdict for r in told]


class Located(Private):
    """Looks for a message in what it would show."""

    def locate(self, source: str, query: Query) -> Location | None:
        there = source in self.context(query).verbatim
        return Location(tier="window") if there else None


@pytest.mark.parametrize("name", ["foreign_handle", "silence_costs_nothing"])
def test_a_message_is_looked_for_with_room_for_an_answer(name: str) -> None:
    """In a case whose budget holds no rule, a strategy that refuses is accused of nothing."""
    turns = tuple(
        CaseTurn(number=n, who=who, session=f"{who}-1", time=EPOCH, heard=(rule,))
        for n, who in ((1, "ana"), (2, "ben"))
        for rule in (
            said("system", "r" * 80, id=f"m{n}", principal=who, session=f"{who}-1", turn=n),
        )
    )

    assert verify(name, f"{__file__}@Located", Case(events=turns, budget=6)) > 0


def test_a_promised_tail_gives_way_to_rules() -> None:
    """Rules that stay may take more than half of a budget; then the tail has what is left."""
    rule = said("system", "r" * 200, id="m1", principal="ana", session="ana-1", turn=1)
    own = [
        said("user", "u" * 80, id=f"m{n}", principal="ana", session="ana-1", turn=1) for n in (2, 3)
    ]
    turn = CaseTurn(number=1, who="ana", session="ana-1", time=EPOCH, heard=(rule, *own))
    case = Case(events=(turn,), budget=104)

    assert verify("retained_tail", f"{__file__}@Private", case) < verify(
        "retained_tail", f"{__file__}@Private", replace(case, budget=150)
    )


def test_what_cannot_be_measured_says_why_and_is_not_green() -> None:
    """A box that tells nothing of itself, a part that is none of a strategy, and no case at all."""
    checked = check(f"{FILE}@Plain", k="i12 or i35 or i52 or i45 or i6", profile=QUICK)
    verdicts = {r.invariant: r.verdict for r in checked.results}

    uncomposed = {"authority_non_elevation", "speakers_are_kept"}
    assert {"nothing"} == {verdicts[name] for name in uncomposed}
    others = {v for n, v in verdicts.items() if n not in uncomposed}
    assert {"not applicable"} == others
    assert all(r.why for r in checked.results)


def test_what_a_strategy_declares_is_neither_green_nor_red() -> None:
    """It is measured all the same, and its reason is shown."""
    checked = check("rolling_summary", k="authority and strategy", profile=QUICK)

    assert "declared" == result(checked, "authority_non_elevation").verdict
    assert "LangChain" in result(checked, "authority_non_elevation").why
    assert_holds(replace(checked, coverage=()))


def test_too_few_telling_cases_fail_a_check() -> None:
    """However green the rest is."""
    thin = FeatureCount(name="pins", floor=0.5, cases=50, seen=3)
    checked = CheckReport(subject="mine", coverage=(thin,))

    assert failed([checked])
    with pytest.raises(Violation, match="3 of 50 cases: pins"):
        assert_holds(checked)
    assert not failed([replace(checked, coverage=(replace(thin, seen=25),))])


def test_what_was_found_before_is_tried_first() -> None:
    """So it is found again where generated cases no longer would."""
    ref = of(BENT["order"])
    found = result(check(ref, k="order and strategy", profile=QUICK), "order")
    assert found.case is not None
    none = replace(PROFILES["commit"], examples=0)

    again = perform(
        CheckPlan(
            subject=ref, names=("order",), profile=none, counterexamples={"order": found.case}
        )
    )

    assert ("violated", True) == (again.results[0].verdict, again.results[0].replayed)


def test_the_same_seed_finds_the_same() -> None:
    """Cases, counts and counterexamples."""
    ref = of(BENT["pair_closure"])

    assert check(ref, k="structure", profile=QUICK, seed=3) == check(
        ref, k="structure", profile=QUICK, seed=3
    )


def test_parts_of_the_memory_hold_what_they_promise() -> None:
    """Steps, ledger, stores and files, quickly."""
    checked = check("memory", k="ledger or hygiene or offload or persistence", profile=QUICK)

    assert_holds(replace(checked, coverage=()))


def test_an_invariant_can_be_called_with_a_case_of_ones_own() -> None:
    """A function takes a trial; a case without a word has nothing to measure."""
    assert 0 == verify("order", "sliding_window", Case())
    assert "strategy" == invariant("order").on


def test_a_model_that_fails_later_fails_as_late_where_a_state_is_loaded() -> None:
    """What it writes depends on the turn, which goes on where it was when the state was saved."""
    case = case_of("strategy", QUICK.steps, 1, 3)
    assert isinstance(case, Case)
    trial = Trial(subject_of("sliding_window"), case)

    assert 0 < trial.main.model.turn == trial.loaded(trial.main.saved()).model.turn
    trial.close()
