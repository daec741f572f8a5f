"""Twists of a scenario: what each changes, and that nothing else does."""

from __future__ import annotations

import pickle

import pytest

from memsim.scenario import Scenario, ScenarioBuilder
from memsim.scenario.relations import RELATIONS, STRANGER, twisted
from memsim.scenario.relations.question_twists import with_typo
from memsim.scenario.script import Ask, RestartEvent, Turn


@pytest.fixture
def scenario() -> Scenario:
    """Three turns and two questions at the end."""
    return (
        ScenarioBuilder("desk")
        .user("My order is A-17.", facts={"order": "A-17"})
        .user("My city is Bergen.", facts={"city": "Bergen"})
        .user("Thanks.")
        .probe("order", ask="What is my order number?", expect="A-17")
        .probe("city", ask="Which city?", expect="Bergen")
        .build()
    )


def asked(scenario: Scenario) -> list[str]:
    """The questions as they are put."""
    return [event.probe.ask for event in scenario.events(7) if isinstance(event, Ask)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("thanks", "Which city? Thanks a lot, have a nice day!"),
        ("polite", "Sorry to bother you again, but could you please tell me: Which city?"),
        ("quick", "Quick question. Which city?"),
        ("lower_case", "which city"),
        ("typo", "Wihch city?"),
    ],
)
def test_a_question_is_put_in_other_words(scenario: Scenario, name: str, said: str) -> None:
    """Where it is asked and where it is listed alike; the rest of the script stays."""
    twist = twisted(scenario, name)
    turns = [event for event in scenario.events(7) if isinstance(event, Turn)]

    assert said == asked(twist)[-1] == twist.probes[-1].ask
    assert turns == [event for event in twist.events(7) if isinstance(event, Turn)]


@pytest.mark.parametrize(
    ("ask", "said"), [("Where?", "Wehre?"), ("Who is it?", "Who is it?"), ("", ""), ("17?", "17?")]
)
def test_one_word_has_one_slip(ask: str, said: str) -> None:
    """The longest; words of three letters or fewer are left as they are."""
    assert said == with_typo(ask)


def test_questions_change_their_order(scenario: Scenario) -> None:
    """From the last to the first."""
    assert asked(scenario)[::-1] == asked(twisted(scenario, "order"))


def test_the_process_restarts_once(scenario: Scenario) -> None:
    """After the second of three turns."""
    kinds = [type(event) for event in twisted(scenario, "restart").events(7)]

    assert [2] == [place for place, kind in enumerate(kinds) if kind is RestartEvent]


def test_somebody_else_talks_behind_it_all(scenario: Scenario) -> None:
    """In a session of their own; the questions come after it, by whom they came before."""
    twist = twisted(scenario, "strangers")
    events = [*twist.events(7)]
    turns = [event for event in events if isinstance(event, Turn)]
    asks = [event for event in events if isinstance(event, Ask)]

    assert STRANGER in twist.principals
    assert ["user"] * 3 + [STRANGER] * (len(turns) - 3) == [turn.principal for turn in turns]
    assert [*range(1, len(turns) + 1)] == [turn.number for turn in turns]
    assert [("user", turns[-1].number)] * 2 == [(a.probe.principal, a.turn) for a in asks]
    assert all(ask.time > turns[-1].time for ask in asks)


@pytest.mark.parametrize("name", RELATIONS)
def test_a_twist_has_a_name_of_its_own(scenario: Scenario, name: str) -> None:
    """And is the same each time."""
    twist = twisted(scenario, name)

    assert f"desk~{name}" == twist.name
    assert scenario.fingerprint != twist.fingerprint == twisted(scenario, name).fingerprint
    assert [*twist.events(7)] == [*twist.events(7)]
    assert pickle.loads(pickle.dumps(twist)).name == twist.name  # noqa: S301 - our own
