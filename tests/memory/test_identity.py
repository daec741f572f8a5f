"""Who a message is: what is said once more, and what another message's id would overwrite."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memsim.errors import StoreError
from memsim.memory.options import MemoryOptions
from memsim.memory.retention import RetentionPolicy
from memsim.message import Message, Text, ToolResult, ToolUse
from tests.memory.remembering import Remembering

TALK = [f"Talk of the weather, and of sheep number {n} in the north." for n in range(20)]


def said_long_ago(*messages: Message, options: MemoryOptions, budget: int = 1024) -> Remembering:
    """A memory that was told messages, and so much else since that they have left the window."""
    it = Remembering(options=options, budget=budget)
    for message in messages:
        it.memory.observe(message)
    it.memory.end_turn()
    it.say(*TALK)
    return it


def refused(it: Remembering, *messages: Message) -> None:
    """None of these is taken, and nothing has changed."""
    before = it.saved()
    for message in messages:
        with pytest.raises(ValueError, match="another message"):
            it.memory.observe(message)
    assert before == it.saved()


def test_no_message_takes_the_place_of_one_of_another_conversation() -> None:
    """Else what is private would stand in an episode that others may read."""
    it = Remembering()
    trip = it.message("Let us plan the trip.", session="trip", id="m1")
    it.memory.observe(trip)
    private = it.message("I have diabetes.", session="private", id="m1")

    refused(it, private)
    it.memory.end_turn()
    refused(it, private)
    refused(it.again(), private)


@pytest.mark.parametrize("summary", [False, True])
def test_an_id_keeps_its_message_when_that_has_left_the_window(summary: bool) -> None:
    """Other words, another time, another role: each is another message, and refused."""
    options = MemoryOptions(vectors=False, window=1, summary=summary)
    first = Remembering().message("My order is A-17.", id="m1")
    it = said_long_ago(first, options=options, budget=300)

    others = (
        replace(first, blocks=(Text("My order is B-99."),)),
        replace(first, time=it.clock.now()),
        replace(first, role="assistant"),
    )
    refused(it, *others)
    refused(it.again(), *others)


@pytest.mark.parametrize("summary", [False, True])
def test_what_is_observed_again_long_after_changes_nothing(summary: bool) -> None:
    """Whatever became of it: summarised, put away, in passages, or left for another talk."""
    first = Remembering().message("My order is A-17.", id="m1")
    call = replace(
        first, id="c1", role="assistant", blocks=(ToolUse(id="1", name="log", arguments="{}"),)
    )
    log = "\n".join(f"Row {n}: the parcel {n * 7919} left the depot in time." for n in range(60))
    result = replace(first, id="r1", role="tool", blocks=(ToolResult(id="1", text=log),))
    options = MemoryOptions(
        vectors=False,
        window=1,
        summary=summary,
        hygiene=RetentionPolicy(
            retention={"conversation": 3}, erased=frozenset(), archive_after=None
        ),
    )
    it = said_long_ago(first, call, result, options=options, budget=300)
    it.clock.advance(timedelta(days=4))
    it.memory.elapse(it.clock.now())
    said = [e for e in it.memory.entries(None) if e.category == "conversation"]
    assert {True} == {e.archived for e in said if e.layer == "episodic"}
    it.say("Something new.", session="elsewhere")

    for memory in (it, it.again()):
        before = memory.saved()
        for message in (first, call, result):
            memory.memory.observe(message)
        assert before == memory.saved()
        memory.memory.end_turn()
        assert before == memory.saved()


def test_a_late_result_that_is_observed_twice_is_recorded_once() -> None:
    """It stands in no window, and is not lost; nor does another take its place."""
    it = Remembering()
    result = replace(
        it.message("", id="r1"), role="tool", blocks=(ToolResult(id="1", text="late"),)
    )
    for _ in range(2):
        it.memory.observe(result)
    assert ("r1",) == it.memory.current_messages("ana")

    refused(it, replace(result, blocks=(ToolResult(id="1", text="other"),)))


def test_two_who_speak_in_one_conversation_share_no_id() -> None:
    """A summary could not tell whose words are to be forgotten; apart from each other they may."""
    options = MemoryOptions(vectors=False, window=1, summary=True)
    it = Remembering(options=options, budget=300)
    it.memory.observe(it.message("My secret is ALPHA.", session="both", id="x1"))
    theirs = it.message("My secret is BRAVO.", who="ben", session="both", id="x1")

    refused(it, theirs)
    it.memory.end_turn()
    it.say(*TALK, session="both")
    refused(it, theirs)
    refused(it.again(), theirs)
    it.memory.observe(replace(theirs, session="ben's"))


def test_an_id_that_was_forgotten_may_be_used_again() -> None:
    """By anybody, in any conversation; also where its erasure got no further than the store."""
    it = Remembering()
    it.say("hello", session="both")
    it.memory.observe(first := it.message("My order is A-17.", session="both", id="m1"))
    it.memory.end_turn()

    it.memory.forget("ana", ["m1"])
    it.memory.observe(it.message("Mine is B-99.", who="ben", session="both", id="m1"))
    it.memory.observe(it.message("It is C-11.", session="other", id="m1"))
    it.memory.end_turn()
    assert {"ana: It is C-11.", "ben: Mine is B-99."} == {
        e.text for e in it.memory.entries(None) if e.key == "m1"
    }

    it.memory.conversations.remove(["m1"], "ana")
    it.memory.vault.erase([e.id for e in it.memory.entries("ana") if e.key == "m1"])
    it.memory.observe(replace(first, session="third"))
    it.memory.end_turn()
    assert ["third"] == [e.session for e in it.memory.entries("ana") if e.key == "m1"]


@pytest.mark.parametrize("wrong", ["r1\n0", "episode\ns1", "\n"])
def test_an_id_of_several_lines_is_refused(wrong: str) -> None:
    """It could be what a passage of a result is kept under, or an episode."""
    it = Remembering()
    before = it.saved()

    with pytest.raises(ValueError, match="several lines"):
        it.memory.observe(it.message("hello", id=wrong))
    assert before == it.saved()


def test_a_message_that_is_new_costs_no_look_at_the_store() -> None:
    """Nor does one that was said just now and is observed again, also while the store is down."""
    it = Remembering()
    it.say(*TALK)
    message = it.message("And now?", id="m1")
    reads = it.store.reads

    it.memory.observe(message)
    it.store.failing = True
    with pytest.raises(StoreError):
        it.memory.end_turn()
    it.memory.observe(message)
    it.store.failing = False
    assert reads == it.store.reads

    it.memory.end_turn()
    it.memory.end_turn()
    assert ["ana: And now?"] == [
        e.text for e in it.memory.entries(None) if e.layer == "episodic" and e.key == "m1"
    ]
