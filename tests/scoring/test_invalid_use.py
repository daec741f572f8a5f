"""Right use of memory less use of what is no longer valid, and what was not to be remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from memsim.context import Context
from memsim.errors import ScenarioError
from memsim.message import Message, TokenCounter, load_tokenizer
from memsim.models.embedders import WordLlamaEmbedder
from memsim.models.offline.model import OfflineModel
from memsim.replay import replay
from memsim.scenario import ScenarioBuilder, load_scenario
from memsim.scenario.script import Scenario
from memsim.scoring.metric import CaseRecords, Line
from memsim.scoring.metrics import invalid_use
from memsim.scoring.probes import score_probes
from memsim.scoring.trace_records import record
from memsim.strategy import Environment, Query, Strategy, Surface


class Transcript(Strategy):
    """Shows what was said, in all sessions or in the present one, and stores it if told to."""

    def __init__(self, env: Environment, stores: bool = False, shows: bool = False) -> None:
        super().__init__(env)
        self._stores, self._shows = stores, shows
        self._said: list[Message] = []

    def observe(self, message: Message) -> None:
        self._said.append(message)

    def context(self, query: Query) -> Context:
        shown = [m for m in self._said if self._shows or m.session == query.session]
        return Context(sections=(self.env.build.section("window", tuple(shown)),))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for message in self._said:
            tier = "notes" if self._stores else "window"
            yield Surface(tier=tier, sources=(message.id,), text=message.text)


def played(scenario: Scenario, make: Callable[..., Strategy]) -> dict[str, Line]:
    """The record of each probe, by its name."""
    tokenizer = load_tokenizer("chars/4")
    trace = replay(
        scenario,
        make,
        model=OfflineModel(tokenizer),
        embed=WordLlamaEmbedder,
        counter=TokenCounter(tokenizer),
        budget=4096,
        seed=7,
        folder=lambda: Path("unused"),
    )
    assert not trace.error
    pairs = zip(trace.probes, score_probes(trace), strict=True)
    return {seen.probe.id: dict(record(seen, score, "case")) for seen, score in pairs}


def script(*, new_session: bool) -> Scenario:
    """A code that is not to be remembered, and a question about it."""
    told = ScenarioBuilder("told").no_store("The door code is 7731.", facts={"code": "7731"})
    if new_session:
        told.session("s2").user("Hello again.")
    return told.probe("code", ask="What is the door code?", expect="unknown").build()


@pytest.mark.parametrize(
    ("new_session", "stores", "shows", "places"),
    [
        (True, False, False, None),
        (True, False, True, ["context", "answer"]),
        (True, True, False, ["notes"]),
        (True, True, True, ["notes", "context", "answer"]),
        (False, False, True, None),
        (False, True, False, ["notes"]),
    ],
)
def test_what_was_not_to_be_remembered_is_retained_if_stored_or_used(
    *, new_session: bool, stores: bool, shows: bool, places: list[str] | None
) -> None:
    """In its own session it may be used; it may never be stored."""
    told = script(new_session=new_session)
    line = played(told, partial(Transcript, stores=stores, shows=shows))["code"]
    if places is None:
        assert line["outcome"] != "RETAINED"
        assert "retained" not in line
    else:
        assert line["outcome"] == "RETAINED"
        assert line["retained"] == [["code", place] for place in places]
        assert line["scores"]["retained"] == 1


def test_a_value_that_is_later_said_openly_may_be_remembered() -> None:
    """The last word counts."""
    told = ScenarioBuilder("told").no_store("My code is 7731.", facts={"code": "7731"})
    told.user("You may remember it after all: my code is 7731.", facts={"open": "7731"})
    told.session("s2").user("Hello again.")
    told.probe("code", ask="What is my code?", expect="7731", facts="open")
    line = played(told.build(), partial(Transcript, stores=True, shows=True))["code"]
    assert line["outcome"] == "PASS"


def test_the_step_is_written_in_yaml_as_in_python(tmp_path: Path) -> None:
    """Both say the request first, and both mark the fact."""
    path = tmp_path / "told.yaml"
    path.write_text(
        "memsim: 1\nname: told\nturns:\n"
        "  - no_store: {say: The door code is 7731., facts: {code: '7731'}}\n",
        encoding="utf-8",
    )
    written = ScenarioBuilder("told").no_store("The door code is 7731.", facts={"code": "7731"})
    for scenario in (load_scenario(path), written.build()):
        (turn,) = scenario.events(7)
        assert turn.heard[0].text == "Please do not remember this: The door code is 7731."  # type: ignore[union-attr]
        assert [fact.no_store for fact in turn.facts] == [True]  # type: ignore[union-attr]
    path.write_text("memsim: 1\nname: told\nturns:\n  - no_store: {say: Hello.}\n", "utf-8")
    with pytest.raises(ScenarioError, match="facts"):
        load_scenario(path)


def line_of(valid: float | None, invalid: float | None) -> Line:
    """A record with the scores of a probe."""
    return {"scores": {"valid_use": valid, "invalid_use": invalid, "retained": None}}


def test_the_score_is_right_use_less_invalid_use() -> None:
    """Probes for which nothing became invalid do not count, and no score is below 0."""
    lines = [line_of(1, 0), line_of(1, 0), line_of(0, 1), line_of(0, 0), line_of(None, None)]
    found = invalid_use.measure(CaseRecords(lines))
    assert found["forgetting_aware"].value == pytest.approx((2 - 1) / 4)
    assert found["forgetting_aware"].n == 4
    assert found["invalid_use"].value == pytest.approx(1 / 4)
    assert found["retained"].value is None
    assert invalid_use.measure(CaseRecords([line_of(0, 1)]))["forgetting_aware"].value == 0
    assert invalid_use.measure(CaseRecords([line_of(None, None)]))["forgetting_aware"].value is None


def test_an_old_value_is_invalid_use_and_the_present_one_is_right() -> None:
    """A memory of the first session alone answers with the old value."""
    told = ScenarioBuilder("moved").user("I live in Bergen.", facts={"city": "Bergen"})
    told.session("s2").user("I live in Oslo now.", facts={"city": "Oslo"})
    told.probe("city", ask="Where do I live?", expect="Oslo")

    class FirstSession(Transcript):
        """Shows what was said first."""

        def context(self, query: Query) -> Context:
            first = tuple(m for m in self._said if m.session == "s1")
            return Context(sections=(self.env.build.section("window", first),))

    old = played(told.build(), FirstSession)["city"]["scores"]
    new = played(told.build(), Transcript)["city"]["scores"]
    assert (old["valid_use"], old["invalid_use"]) == (0, 1)
    assert (new["valid_use"], new["invalid_use"]) == (1, 0)
