"""Generated cases: the same for a seed, of every kind that matters, and kept as they are."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from memsim.testing.case_coverage import FEATURES, Coverage
from memsim.testing.case_search import candidates, draw_cases, makes_sense, simplest
from memsim.testing.check_cases import AnyCase, Case
from memsim.testing.checks import PROFILES, case_of, generated
from memsim.testing.counterexamples import KINDS, decode, encode, literal
from memsim.testing.invariant_catalogue import On

COMMIT = PROFILES["commit"]
EVERY: tuple[On, ...] = ("strategy", "ledger", "shelf", "file", "run")
conversing = generated("strategy", COMMIT)


@pytest.mark.parametrize("seed", [1, 7])
def test_every_kind_of_case_comes_up_often_enough(seed: int) -> None:
    """At fifty cases, the least that is ever tried, no feature is below its floor."""
    coverage = Coverage()
    for on in EVERY:
        for number in range(COMMIT.examples):
            coverage.add(case_of(on, COMMIT.steps, seed, number))

    assert sum(map(len, FEATURES.values())) == len(coverage.counted())
    assert [] == [f"{c.name}: {c.share}" for c in coverage.counted() if not c.enough]


def test_a_feature_below_its_floor_is_told() -> None:
    """The same simple case again and again has tried nothing."""
    coverage = Coverage()
    for _ in range(10):
        coverage.add(Case())

    assert "several principals" in {c.name for c in coverage.counted() if not c.enough}


@pytest.mark.parametrize("on", EVERY)
def test_a_case_depends_on_its_seed_and_number_alone(on: On) -> None:
    """Whatever was drawn before."""
    source = generated(on, COMMIT)
    expected = [draw_cases(source, 7, number) for number in range(6)]

    assert expected == [draw_cases(source, 7, number) for number in reversed(range(6))][::-1]
    assert expected != [draw_cases(source, 8, number) for number in range(6)]


@pytest.mark.parametrize("on", EVERY)
def test_a_case_comes_back_from_json_and_from_source(on: On) -> None:
    """Invisible characters, times and all."""
    names = {"datetime": datetime, "timedelta": timedelta, **KINDS}
    for number in range(10):
        case = draw_cases(generated(on, COMMIT), 3, number)

        assert case == decode(json.dumps(encode(case)))
        assert case == eval(literal(case), names)  # noqa: S307 - our own source


def test_conversations_make_sense() -> None:
    """Every text can be encoded, ids are unique, and results answer calls that wait for them."""
    for number in range(30):
        case = draw_cases(conversing, 5, number)
        assert isinstance(case, Case)
        ids = [m.id for m in case.messages]

        assert len(ids) == len(set(ids))
        assert makes_sense(case)
        for message in case.messages:
            message.text.encode("utf-8")


def _has_a_result(case: AnyCase) -> bool:
    return isinstance(case, Case) and any(m.role == "tool" for m in case.messages)


def test_what_fails_is_made_simple() -> None:
    """Only what makes it fail is left, and what is left makes sense."""
    case = next(
        case
        for number in range(20)
        if isinstance(case := draw_cases(conversing, 1, number), Case)
        and sum(m.role == "tool" for m in case.messages) > 3
    )

    least = simplest(case, _has_a_result, 500)

    assert isinstance(least, Case)
    assert ["assistant", "tool"] == [m.role for m in least.messages]
    assert all(makes_sense(c) for c in candidates(least) if isinstance(c, Case))
