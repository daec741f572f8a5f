"""What is said to be as it once was is in force again, in the words of the earlier message."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memsim.memory.layers.semantic import FactStatement
from tests.memory.layers.test_semantic import Facts, changes, successors

SHED = "ana: Our ladder is in the Westley shed."
BARN = "ana: Our ladder is in the Korman barn."
LOFT = "ana: Our ladder is in the Silwood loft."
OTHER = "ana: My bus is the 12."


def stale(facts: Facts) -> set[str]:
    """The messages that are marked as replaced in part."""
    return {source for (_, source), ends in facts.listener.stale.items() if ends}


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("ana: The ladder is back where it hung at first.", SHED),
        ("ana: We have gone back to the original place for our ladder.", SHED),
        ("ana: Never mind, the ladder hangs where it was before.", BARN),
        ("ana: We put the ladder back as it was.", BARN),
        ("ana: Never mind, leave the ladder in the Westley shed as it was.", SHED),
        ("ana: Please undo that.", BARN),
    ],
)
def test_a_message_brings_the_earlier_statement_back(said: str, holds: str) -> None:
    """To the first, or to the one before; a value that is said again decides."""
    facts = Facts()
    facts.state(SHED, BARN, LOFT, OTHER)
    undone = facts.state(said)

    assert {OTHER, holds} == {*facts.hold()}
    assert [LOFT] == [entry.text for entry in undone]
    assert successors(facts) == successors(Facts(facts.store))
    assert changes(facts) == changes(Facts(facts.store))


def test_its_message_is_recalled_with_the_one_that_brought_it_back() -> None:
    """The earlier one is no longer marked as replaced, and what came between leads to it."""
    facts = Facts()
    facts.state(SHED, BARN, LOFT, "ana: The ladder is back where it hung at first.")

    for known in (facts, Facts(facts.store)):
        gave_way = successors(known)
        assert {("ana", "m2"), ("ana", "m3")} == gave_way.keys()
        assert "m1" == gave_way["ana", "m3"]
        assert {("ana", "m1"): ("m4",), ("ana", "m4"): ("m1",)} == changes(known)
        assert set() == stale(known)


def test_what_changes_again_leaves_both_behind() -> None:
    """The message that brought something back gives way as well."""
    facts = Facts()
    facts.state(SHED, BARN, "ana: The ladder is back where it hung at first.", LOFT)

    assert [LOFT] == facts.hold()
    for known in (facts, Facts(facts.store)):
        assert {"m4"} == {successors(known)["ana", m] for m in ("m1", "m3")}
        assert {} == changes(known)


def test_what_holds_already_is_brought_back_by_nothing() -> None:
    """Who says it twice changes nothing; who undoes a return goes on from there."""
    facts = Facts()
    back = "ana: The ladder is back where it hung at first."
    facts.state(SHED, BARN, back, back)
    (fact,) = facts.layer.in_force("ana")
    assert (SHED, ("m3", "m1")) == (fact.text, fact.sources)

    facts.state("ana: Undo that.")
    (fact,) = facts.layer.in_force("ana")
    assert (BARN, ("m5", "m2")) == (fact.text, fact.sources)


def test_facts_that_no_link_joins_are_replaced_by_what_comes_back() -> None:
    """Those about the same thing with another value; talk of it does not come back."""
    facts = Facts()
    drawer = "ana: Sven's spare key lies in the Adlon drawer."
    facts.state(
        "ana: Suppose Sven's spare key lay in the Zuse drawer.",
        drawer,
        "ana: I carried Sven's spare key over to the Brandt drawer.",
        "ana: I carried Mira's spare key over to the Cusa drawer.",
        "ana: Ben joked that Sven's spare key lies in the Dohm drawer.",
        "ana: Sven's spare key is again where it lay at the very first.",
    )

    held = {*facts.hold()}
    assert drawer in held
    assert not any("Brandt" in text or "Dohm" in text for text in held)
    assert any("Cusa" in text for text in held)


@pytest.mark.parametrize(
    "said",
    [
        "ana: The kettle is back where it was before.",
        "ana: Rosa's ladder is back where it hung at first.",
        "ana: Rosa has her ladder back where it was before.",
        "ana: Our step ladder is back where it was before.",
        "ana: I am back to where I was before.",
        "ben: The ladder is back where it hung at first.",
    ],
)
def test_another_thing_and_another_persons_come_back_by_themselves(said: str) -> None:
    """Nothing else changes, where nothing earlier is known of what is named."""
    facts = Facts()
    facts.state(SHED, BARN)
    facts.state(said, owner=said.partition(":")[0])

    assert BARN in facts.hold()
    assert SHED not in facts.hold()


@pytest.mark.parametrize("gone", ["m1", "m3"])
def test_what_is_forgotten_does_not_come_back(gone: str) -> None:
    """Neither with the message that states it, nor with the one that brought it back."""
    facts = Facts()
    facts.state(SHED, BARN, "ana: The ladder is back where it hung at first.")
    entries = [e for e in facts.vault.each(facts.vault.where("ana")) if gone in e.sources]
    facts.vault.erase([entry.id for entry in entries])
    facts.layer.forgotten(entries)
    facts.layer.free("ana", [gone])

    assert [] == facts.hold()
    assert {} == changes(facts) == changes(Facts(facts.store))
    assert successors(facts) == successors(Facts(facts.store))


def test_undo_is_of_the_same_conversation() -> None:
    """Who names nothing means what was changed there last."""
    facts = Facts()
    facts.state(SHED, BARN)
    facts.now += timedelta(hours=1)
    undo = FactStatement(text="ana: Undo that.", sources=("m9",), time=facts.now)
    facts.layer.record("ana", "another", [undo])

    assert [BARN] == facts.hold()


def test_a_return_that_is_told_late_undoes_nothing_that_came_after() -> None:
    """It speaks of what was so by then."""
    facts = Facts()
    facts.state(SHED, BARN)
    facts.say(
        "ana: The ladder is back where it hung at first.", at=facts.now - timedelta(minutes=9)
    )

    assert BARN in facts.hold()


def test_most_of_the_words_have_to_be_of_the_thing() -> None:
    """What belongs to a thing is another thing."""
    facts = Facts()
    facts.state("ana: Our wagon is in the Westley shed.", "ana: Our wagon is in the Korman barn.")
    facts.state("ana: My rope is by the Elm gate.", "ana: My tarp is by the Elm gate.")
    facts.state("ana: Rope and tarp of the wagon are back where they were before.")

    assert "ana: Our wagon is in the Korman barn." in facts.hold()


def test_who_goes_back_to_what_came_back_has_the_first_message_again() -> None:
    """The message that brought it back before is not the one that states it."""
    facts = Facts()
    facts.state(SHED, BARN, "ana: The ladder is back where it hung at first.", LOFT)
    facts.state("ana: The ladder is back where it was before.")

    (fact,) = facts.layer.in_force("ana")
    assert (SHED, ("m5", "m1")) == (fact.text, fact.sources)


def test_what_comes_back_stays_with_its_subject() -> None:
    """Whatever else about the same thing it replaces."""
    facts = Facts()
    moved = [f"ana: I carried the ladder over to the {name} yard." for name in ("Adlon", "Zuse")]
    facts.state(SHED, BARN, *moved, "ana: The ladder is back where it hung at first.")

    (fact,) = facts.layer.in_force("ana")
    assert (SHED, "ana our ladder") == (fact.text, fact.subject)


def test_talk_about_a_thing_is_no_version_of_it() -> None:
    """It states no other value: it neither comes back nor is replaced."""
    talk = ["ana: I oiled the whole ladder.", "ana: I painted the whole ladder."]
    facts = Facts()
    facts.state(*talk, "ana: The ladder is back where it was before.")
    assert {*talk} <= {*facts.hold()}

    facts = Facts()
    facts.state(SHED, BARN, *talk, "ana: The ladder is back where it was before.")
    assert {SHED, *talk} == {*facts.hold()}


def test_the_same_value_in_other_words_is_not_what_was_before() -> None:
    """What goes back goes to another value."""
    facts = Facts()
    kept = "ana: I keep the ladder in the Westley shed."
    carried = "ana: I carried the ladder over to the Adlon yard."
    facts.state(kept, carried, "ana: I left the ladder in the Adlon yard.")
    facts.state("ana: The ladder is back where it was before.")

    assert [kept] == facts.hold()


def test_the_sentence_before_says_what_goes_back() -> None:
    """Where a sentence names nothing itself."""
    facts = Facts()
    facts.state(SHED, BARN, "ana: My bus is the 12.", "ana: My bus is the 38.")
    facts.now += timedelta(hours=1)
    facts.say("ana: I oiled our ladder.", "ana: It is back as it was before.", at=facts.now)

    assert {SHED, "ana: I oiled our ladder.", "ana: My bus is the 38."} == {*facts.hold()}


def test_what_else_the_earlier_message_states_may_be_replaced() -> None:
    """It is then marked, although a part of it came back."""
    facts = Facts()
    facts.say(SHED, "ana: My bus is the 12.", at=facts.now, source="m0")
    facts.state(BARN, "ana: The ladder is back where it hung at first.")
    assert set() == stale(facts)

    facts.state("ana: My bus is the 38.")
    assert {"m0"} == stale(facts) == stale(Facts(facts.store))


@pytest.mark.parametrize("reworded", [True, False])
def test_words_that_are_in_no_message_stay_so(reworded: bool) -> None:
    """What a model wrote in words of its own is quoted itself when it comes back."""
    facts = Facts()
    first = FactStatement(text=SHED, sources=("m0",), time=facts.now, reworded=reworded)
    facts.layer.record("ana", "s1", [first])
    facts.state(BARN, "ana: The ladder is back where it hung at first.")

    (fact,) = facts.layer.in_force("ana")
    assert SHED == fact.text
    assert (None if reworded else "m0") == facts.listener.stated[fact.id]


def test_an_id_that_is_given_again_is_of_another_message() -> None:
    """Nothing is recalled together with it, where the message that had it is gone."""
    facts = Facts()
    facts.state(SHED, BARN, "ana: The ladder is back where it hung at first.")
    facts.layer.free("ana", ["m3"])
    facts.say("ana: The garden looks lovely.", at=facts.now, source="m1")

    assert {} == {about: new for about, new in changes(facts).items() if about == ("ana", "m1")}
