"""Known answers, and which judges fail on them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from memsim.discovery.project import find_project
from memsim.models.offline.judge import judge, read_verdict
from memsim.scenario.script import Probe
from memsim.scoring.answer_score import judge_answer
from memsim.scoring.calibration import (
    EACH,
    KINDS,
    SCENARIOS,
    KnownAnswer,
    known_answers,
    question_of,
    scenarios_tried,
    to_be_judged,
    try_judge,
)
from memsim.scoring.metrics.audits import AUDITED_WRONG
from memsim.suite.scenarios import find_scenarios

Opinion = Callable[[KnownAnswer], bool | None]
PROBES = (
    Probe(id="city", ask="Where do I live now?", expect=("Oslo",), forbid=("Bergen",)),
    Probe(id="order", ask="What is my order number?", expect=("A-17",)),
    Probe(id="pets", ask="How many cats do I have?", expect=("3 cats", "three")),
    Probe(id="trip", ask="When do we leave?", expect=("30 May 2023",), match="date"),
    Probe(id="both", ask="Who comes along?", expect=("Ada", "Bo"), match="all"),
    Probe(id="yes", ask="Did I sell the car?", expect=("Yes",)),
)


def sound(known: KnownAnswer) -> bool | None:
    """A judge by rule."""
    return read_verdict(judge(question_of(known.probe, known.given)))


def yes_man(_known: KnownAnswer) -> bool:
    """Everything is right."""
    return True


def no_man(_known: KnownAnswer) -> bool:
    """Nothing is."""
    return False


def vague_lover(known: KnownAnswer) -> bool | None:
    """Whatever is not definitely wrong is right."""
    return known.kind == "vague" or sound(known)


def careless(known: KnownAnswer) -> bool | None:
    """Whatever is definite is right."""
    return known.kind == "specific" or sound(known)


def babbler(_known: KnownAnswer) -> None:
    """Says nothing that can be read."""


def votes_of(known: Sequence[KnownAnswer], opinion: Opinion) -> list[list[bool | None]]:
    """Three times the same opinion on each."""
    return [[opinion(k)] * 3 for k in known]


def test_a_sound_judge_passes() -> None:
    """Six of each kind, all told."""
    known = known_answers("home", PROBES, seed=7)
    trial = try_judge(known, votes_of(known, sound))

    assert "" == trial.unfit
    assert [(EACH, EACH, 0)] * 3 == [(t.n, t.correct, t.unread) for t in trial.kinds.values()]
    assert 0.0 == trial.flips


@pytest.mark.parametrize(
    ("opinion", "said"),
    [
        (
            yes_man,
            "it refused 0 of 6 wrong answers, refused 0 of 6 vague answers: the floor is 80%",
        ),
        (no_man, "it knew 0 of 6 right answers: the floor is 80%"),
        (vague_lover, "it refused 0 of 6 vague answers: the floor is 80%"),
        (careless, "it refused 0 of 6 wrong answers: the floor is 80%"),
        (babbler, "it knew 0 of 6 right answers (6 unread), refused 0 of 6 wrong answers (6"),
    ],
)
def test_a_judge_that_fails_on_one_kind_is_unfit(opinion: Opinion, said: str) -> None:
    """However well it does on the others."""
    known = known_answers("home", PROBES, seed=7)

    assert try_judge(known, votes_of(known, opinion)).unfit.startswith(said)


def test_a_coin_is_unfit_and_flips() -> None:
    """In 100 of 100 tries with two scenarios."""
    known = (*known_answers("home", PROBES, 7), *known_answers("away", PROBES, 7))
    for seed in range(100):
        chance = random.Random(seed)
        trial = try_judge(known, [[chance.random() < 0.5 for _ in range(3)] for _ in known])
        assert trial.unfit
        assert trial.flips is not None
        assert trial.flips > 0.5


def test_one_slip_of_six_is_forgiven_and_two_are_not() -> None:
    """The floor is four fifths, of each kind by itself."""
    known = known_answers("home", PROBES, seed=7)

    def slipping(slips: int) -> str:
        left = dict.fromkeys(KINDS, slips)

        def opinion(k: KnownAnswer) -> bool:
            left[k.kind] -= 1
            return k.right if left[k.kind] < 0 else not k.right

        return try_judge(known, votes_of(known, opinion)).unfit

    assert "" == slipping(1)
    assert "it knew 4 of 6 right" in slipping(2)


def test_the_same_seed_draws_the_same_answers_whatever_else_is_run() -> None:
    """And another seed draws others."""
    drawn = known_answers("home", PROBES, seed=7)

    assert drawn == known_answers("home", PROBES, seed=7)
    assert drawn != known_answers("home", PROBES, seed=8)
    assert {k.given for k in drawn} != {k.given for k in known_answers("away", PROBES, seed=7)}


def test_wrong_answers_are_near_misses_where_there_are_any() -> None:
    """An outdated value, another number, and else what answers another question."""
    drawn = known_answers("home", PROBES, seed=7)
    wrong = {k.probe.id: k.given for k in drawn if k.kind == "specific"}

    assert "Bergen" in wrong["city"]
    assert "A-19" in wrong["order"]
    assert "28 May 2023" in wrong["trip"]
    assert "5 cats" in wrong["pets"]


def test_one_probe_alone_can_try_a_judge() -> None:
    """With different words each time."""
    drawn = known_answers("home", PROBES[1:2], seed=7)

    assert [EACH] * 3 == [len({k.given for k in drawn if k.kind == kind}) for kind in KINDS]


def test_answers_that_an_audit_found_wrong_try_nobody() -> None:
    """And where nothing is known, nobody is fit."""
    doubted = replace(PROBES[0], labels={"gold": AUDITED_WRONG})

    assert () == known_answers("home", [doubted], seed=7)
    assert "there is no known answer of the kind 'right'" in try_judge((), ()).unfit


def test_of_many_scenarios_the_same_few_try_a_judge() -> None:
    """A part of a run asks nothing that the whole did not ask."""
    names = [f"s{n}" for n in range(40)]
    some = scenarios_tried(names, seed=7)

    assert SCENARIOS == len(some)
    assert some == scenarios_tried(some, seed=7)
    assert set(scenarios_tried(names[:30], 7)) >= set(some) & set(names[:30])


def test_known_answers_of_the_built_in_scenarios_are_what_they_are_said_to_be() -> None:
    """By the rules that score: a right one passes, a wrong one does not, and none abstains."""
    names = ["support_desk", "chinese_cues", "changing_preferences"]
    for ref in find_scenarios(names, find_project()):
        scenario = ref.load()
        wanted = to_be_judged(scenario.probes)
        drawn = known_answers(scenario.name, [p for p in scenario.probes if p.id in wanted], 7)
        trial = try_judge(drawn, votes_of(drawn, sound))

        assert "" == trial.unfit, scenario.name
        assert all(EACH == told.n for told in trial.kinds.values()), scenario.name
        for known in (k for k in drawn if not k.right):
            score = judge_answer(known.probe, known.given)
            assert (False, False) == (score.right, score.abstained), known.given
