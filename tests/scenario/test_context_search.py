"""`match: context`: what was sent is searched for the evidence and the value."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim import Context, Query, Strategy
from memsim.errors import ScenarioError
from memsim.message import composed
from memsim.scenario import Scenario
from memsim.suite.single import run

Load = Callable[[str], Scenario]

SCRIPT = """\
turns:
  - user: My parrot is called Rico.
  - user: The weather is fine.
  - user: Rico is a common name in films.
probes:
  name: {ask: My parrot is called …., expect: Rico, after: 2, evidence: [m1], match: context}
"""


@pytest.mark.parametrize(
    ("strategy", "outcome"),
    [("full_context", "PASS"), ("oracle", "PASS"), ("no_memory", "MISS")],
)
def test_the_evidence_is_looked_for(load: Load, strategy: str, outcome: str) -> None:
    """Nobody answers, and what was sent decides."""
    (probe,) = run(load(SCRIPT), strategy).probes

    assert (outcome, None) == (probe["outcome"], probe["answer"])
    assert float(outcome == "PASS") == probe["scores"]["recall"]


class Summary(Strategy):
    """Sends one text that it says it made from the first message."""

    text = ""

    def context(self, query: Query) -> Context:
        made = composed("system", self.text, id="s", derived_from=("m1",), time=query.time)
        return self.env.build.context(self.env.build.section("summary", (made,)))


class Useful(Summary):
    """Keeps the value."""

    text = "The parrot of the user is Rico."


class Vague(Summary):
    """Loses the value."""

    text = "The user has a parrot."


@pytest.mark.parametrize(("strategy", "outcome"), [(Useful, "PASS"), (Vague, "MISS")])
def test_a_text_made_from_the_evidence_must_say_the_value(
    load: Load, strategy: type[Strategy], outcome: str
) -> None:
    """A summary of a message that leaves the value out serves nobody."""
    (probe,) = run(load(SCRIPT), strategy).probes

    assert outcome == probe["outcome"]


def test_the_value_alone_is_no_evidence(load: Load) -> None:
    """Another message may say the same word of something else."""
    script = SCRIPT.replace("after: 2", "after: 3")
    window = "sliding_window:messages=2"

    (probe,) = run(load(script), window).probes

    assert "MISS" == probe["outcome"]
    assert 1.0 == probe["scores"]["answer_in_context"]


def test_an_unknown_answer_cannot_be_looked_for(load: Load) -> None:
    """There is no value to search."""
    with pytest.raises(ScenarioError, match="match: context, which looks for a value"):
        load(SCRIPT.replace("expect: Rico", "expect: unknown"))
