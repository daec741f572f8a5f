"""Each relation: a steady memory holds it, and one that is broken on purpose does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.errors import ConfigError
from memsim.scenario import Scenario, ScenarioBuilder
from memsim.scenario.relations import RELATIONS, changes, twisted
from memsim.suite.single import run
from memsim.suite.twist_play import TwistedQuestion
from memsim.testing import Violation, assert_steady, twist
from tests.scenario.ranker_mutants import MUTANTS, Make, Ranker

BUDGET = 1200
NOT_SEEN_BY_GOLD = [name for name, r in RELATIONS.items() if r.expected != "no better"]
PAGE = Path(__file__).parents[2] / "docs/twist.md"


def conversation(name: str = "two", people: tuple[str, str] = ("Ana", "Ben")) -> Scenario:
    """Two people in three sessions, and a question about each of eight facts."""
    ana, ben = people
    return (
        ScenarioBuilder(name, principals=[ana, ben], start="2026-03-02T09:00:00Z")
        .session("s9", principal=ana)
        .user("My locker code is 1111.", facts={"code": "1111"})
        .user("My locker code is 2222.", facts={"code": "2222"})
        .user("My locker code is 3333.", facts={"code": "3333"})
        .user("My locker code is 4444.", facts={"code": "4444"})
        .user("My locker code is 5555.", facts={"code": "5555"})
        .session("s3", principal=ana)
        .user(
            "We have talked for long enough about the weather. My bicycle has the frame number"
            " FR-2204.",
            facts={"frame": "FR-2204"},
        )
        .user(
            "I sold the old piano, and I have more room than ever in the hall, which is a joy."
            " My parking permit is PK-7731.",
            facts={"permit": "PK-7731"},
        )
        .user("I moved into a flat in Tallinn.", facts={"home": "Tallinn"})
        .session("s5", principal=ben)
        .user("My library card is LC-9902.", facts={"card": "LC-9902"})
        .user("My sister lives in Riga.", facts={"sister": "Riga"})
        .probe("code", ask="What is my locker code?", expect="5555", match="context")
        .probe(
            "frame",
            ask="What is the frame number of my bicycle?",
            expect="FR-2204",
            match="context",
        )
        .probe("permit", ask="What is my parking permit?", expect="PK-7731", match="context")
        .probe("home", ask="I moved into a flat: in which town?", expect="Tallinn", match="context")
        .probe("card", ask="What is my library card?", expect="LC-9902", match="context")
        .probe(
            "sister",
            ask="In which town is my sister?",
            expect="Riga",
            match="context",
        )
        .build()
    )


def played(make: Make, name: str) -> list[TwistedQuestion]:
    """The questions of the conversation under one relation."""
    plain = conversation()
    if name != "others":
        return [*twist(plain, make, [name], budget=BUDGET)]
    other = conversation("others", ("Cleo", "Dan"))
    before, after = (
        {p["probe"]: p for p in run(told, make, budget=BUDGET).probes}
        for told in (plain, twisted(plain, name, other))
    )
    return [
        TwistedQuestion(
            strategy="", scenario="two", relation=name, plain=before[probe], twisted=after[probe]
        )
        for probe in before
    ]


@pytest.mark.parametrize("name", RELATIONS)
def test_a_steady_memory_holds_it_and_a_broken_one_does_not(name: str) -> None:
    """And gold recall on the plain conversation tells them not apart."""
    steady, broken = played(Ranker, name), played(MUTANTS[name], name)

    assert [] == [pair for pair in steady if pair.flipped]
    assert [pair.relation for pair in broken if pair.flipped], "nothing flipped"
    right = [[p.plain["outcome"] for p in pairs] for pairs in (steady, broken)]
    if name in NOT_SEEN_BY_GOLD:
        assert right[0] == right[1] == ["PASS"] * len(steady)


def test_every_relation_has_its_mutant() -> None:
    """And the page names both."""
    page = PAGE.read_text(encoding="utf-8")

    assert [*RELATIONS] == [*MUTANTS]
    assert [] == [m.__name__ for m in MUTANTS.values() if f"`{m.__name__}`" not in page]


@pytest.mark.parametrize("name", [name for name in RELATIONS if RELATIONS[name].change])
def test_a_twist_of_the_history_changes_it(name: str) -> None:
    """Each of them has something to change in this conversation."""
    assert changes(conversation(), twisted(conversation(), name))


def test_a_test_fails_with_what_flipped() -> None:
    """The questions and the answers are told, and a share may be allowed."""
    with pytest.raises(Violation, match=r"marks: 6 of 6 answers flipped\n  What is my locker code"):
        assert_steady(conversation(), MUTANTS["marks"], ["marks"], budget=BUDGET)
    assert_steady(conversation(), MUTANTS["marks"], ["marks"], most=1.0, budget=BUDGET)
    assert_steady(conversation(), MUTANTS["marks"], ["polite"], budget=BUDGET)


def test_a_slip_in_a_relation_has_a_hint() -> None:
    """As on the command line."""
    with pytest.raises(ConfigError, match="did you mean 'marks'"):
        twist(conversation(), Ranker, ["mark"])
