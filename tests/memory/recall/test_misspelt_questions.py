"""A slip in a question costs `layered` nothing, and tells nothing of what others said."""

from __future__ import annotations

from memsim.scenario import Scenario, ScenarioBuilder
from memsim.suite.single import run
from memsim.testing import assert_steady


def desk() -> Scenario:
    """Facts of two people, far apart, and a question of each about its own."""
    return (
        ScenarioBuilder("desk", principals=["ana", "ben"], budget="1k")
        .session("s1", principal="ana")
        .user("The umbrella with the tortoise handle is A-17.", facts={"umbrella": "A-17"})
        .filler(30)
        .session("s2", principal="ben")
        .user("The bicycle with the wicker basket is B-22.", facts={"bicycle": "B-22"})
        .filler(30)
        .probe("umbrella", ask="Which code has the umbrella?", expect="A-17", as_="ana")
        .probe("bicycle", ask="Which code has the bicycle?", expect="B-22", as_="ben")
        .build()
    )


def test_a_slip_and_a_frame_cost_nothing() -> None:
    """Neither by evidence nor by answer."""
    assert_steady(desk(), "layered", ["typo", "frame", "polite", "thanks", "lower_case"])


def test_a_word_that_others_said_corrects_nothing() -> None:
    """Ana's context for a misspelt word of Ben's is that for a word of nobody's."""
    scenario = (
        ScenarioBuilder("two", principals=["ana", "ben"], budget="1k")
        .session("s1", principal="ana")
        .user("My umbrella is A-17.", facts={"umbrella": {"value": "A-17", "private": True}})
        .session("s2", principal="ben")
        .user("My bicycle is B-22.", facts={"bicycle": {"value": "B-22", "private": True}})
        .probe("slip", ask="Which code has the bicylce?", expect="unknown", as_="ana")
        .probe("none", ask="Which code has the bixyzce?", expect="unknown", as_="ana")
        .build()
    )
    slip, none = run(scenario, "layered").probes

    assert slip["evidence"] == none["evidence"]
    assert slip["outcome"] == none["outcome"]
    assert slip["scores"] == none["scores"]
