"""Sentences in other words: found by most of their words, and by what they have alone."""

from __future__ import annotations

from dataclasses import replace

from memsim.message import EPOCH
from memsim.scenario.script import Fact
from memsim.scoring.statement_search import StatementSearch


def fact(name: str, value: str, **more: object) -> Fact:
    """A statement that message `m-NAME` told."""
    plain = Fact(
        id=name,
        value=value,
        source=f"m-{name}",
        principal="ana",
        turn=1,
        time=EPOCH,
        session="s",
        statement=True,
    )
    return replace(plain, **more)  # type: ignore[arg-type]


FERRY = fact("ferry", "Ana accepted a job as captain of the ferry in Oslo.")
CAT = fact("cat", "Ana adopted a grey cat from the animal shelter.")
COOK = fact("cook", "Ana accepted a job as cook of the ferry in Oslo.", contradicts="ferry")
PLAIN = replace(fact("city", "Oslo"), statement=False)


def test_a_statement_is_found_in_other_words() -> None:
    """Others and plain values are not."""
    search = StatementSearch([PLAIN, FERRY, CAT])

    assert {1} == search.found("She took the job in Oslo: Ana is now captain of the ferry.")
    assert {1, 2} == search.found("Ana: captain, job on the Oslo ferry. Has a cat, grey, shelter.")
    assert set() == search.found("Ana lives in Oslo.")
    assert set() == StatementSearch([PLAIN]).found("Oslo")


def test_two_sentences_that_follow_each_other_may_state_it() -> None:
    """Words that lie further apart do not come together to a statement."""
    search = StatementSearch([FERRY, CAT])
    between = "It rained. It snowed."

    assert {1} == search.found("Ana adopted a cat.\nIt is grey, and from the shelter.")
    assert set() == search.found(
        f"Ana adopted someone. {between} Grey animal. {between} A shelter."
    )


def test_of_rivals_the_one_is_stated_whose_own_words_stand_there() -> None:
    """They share most of their words."""
    much = "Ana took a job on the Oslo ferry with long nights, good pay and a cabin of her own"
    captain = fact("captain", f"{much}, as captain.")
    mate = fact("mate", f"{much}, as mate.", replaces="captain")
    cook = fact("cook", f"{much}, as cook.", contradicts="captain")
    search = StatementSearch([captain, CAT, mate, cook])

    assert {0} == search.found(f"Captain: {much}.")
    assert {2} == search.found(f"Mate: {much}.")
    assert {3} == search.found(f"Cook: {much}.")
    assert {0, 2} == search.found(f"From captain to mate: {much}.")
    assert set() == search.found(f"{much}.")


def test_a_message_states_what_it_told() -> None:
    """But nothing that it told as not so."""
    search = StatementSearch([FERRY, CAT, replace(COOK, source="m-cat")])

    assert {1} == search.told_by(["m-cat", "m-other"])
