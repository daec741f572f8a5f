"""The whole memory: what is lost by a failure, what is forgotten, what a restart changes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memsim.context import Context, Section
from memsim.errors import AccessError, BudgetUnsatisfiable, ModelError, StateError, StoreError
from memsim.memory.entry import Conversation
from memsim.memory.ingest_queue import UNREAD
from memsim.memory.options import MemoryOptions, RecallPolicy
from memsim.memory.permissions import ReadGrant
from memsim.memory.retention import RetentionPolicy
from memsim.message import Message, Text, ToolResult, ToolUse
from tests.memory.remembering import Remembering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.memory.entry import Entry
    from memsim.models import Vectors

CODE = "The code of my locker is 7741-B."
ONCE = MemoryOptions(vectors=False, window=1, once=True, policy=RecallPolicy(floor=0))
ORDER = "My order goes to pier nine."


def held(it: Remembering, layer: str = "episodic", who: str | None = None) -> list[str]:
    """The texts of a layer's entries."""
    return [e.text for e in it.memory.entries(who) if e.layer == layer]


# -- pinned


def test_what_is_pinned_stands_in_every_context_byte_for_byte() -> None:
    """Whatever is said and however often it is compacted, pinned bytes do not change."""
    it = Remembering(options=MemoryOptions(vectors=False, summary=True), budget=300)
    rule = "Never mail anybody  without asking.\n\tReally. </summary> é"
    it.memory.core.pin("ana", "rule", rule, now=it.clock.now(), kind="rule", role="system")

    for number in range(30):
        it.say(f"Something long and rather unimportant, number {number}.")
        context = it.asked("What now?")
        assert [rule] == [m.text for s in context.sections if s.layer == "core" for m in s.messages]
    assert [] == [m for m in it.asked("x", who="ben").sections if m.layer == "core"]
    assert any(r.task == "summarise" for r in it.model.asked)
    assert all(rule not in m.text for r in it.model.asked for m in r.messages)


def test_pins_that_do_not_fit_are_told_by_name() -> None:
    """A budget that what is pinned exceeds is never exceeded in silence."""
    it = Remembering()
    it.memory.core.pin("ana", "rule", "x" * 800, now=it.clock.now())

    with pytest.raises(BudgetUnsatisfiable, match="pins"):
        it.asked("What now?", budget=100)


# -- failures


def test_a_store_that_fails_loses_no_message() -> None:
    """What could not be recorded is recorded at the next call, once, in its order."""
    it = Remembering()
    it.store.failing = True
    for text in ("first", "second"):
        it.memory.observe(it.message(text))
        with pytest.raises(StoreError):
            it.memory.end_turn()
    assert [] == held(it)
    it.store.failing = False

    it.memory.end_turn()
    it.memory.end_turn()

    assert ["ana: first", "ana: second"] == held(it)
    assert ["first", "second"] == held(it, "semantic")


def test_a_model_that_fails_to_extract_loses_no_fact() -> None:
    """Messages are recorded all the same, and their facts are extracted at the next call."""
    it = Remembering()
    it.model.failing = {"extract"}
    it.memory.observe(it.message(CODE))

    with pytest.raises(ModelError):
        it.memory.end_turn()
    assert [f"ana: {CODE}"] == held(it)
    assert [] == held(it, "semantic")
    restarted = it.again()
    for memory in (it, restarted):
        memory.model.failing = set()
        memory.memory.end_turn()
        assert [CODE] == held(memory, "semantic")


def test_a_store_that_fails_between_record_and_facts_loses_no_fact() -> None:
    """The first write of a turn succeeds, the second does not."""
    it = Remembering()
    it.say("My desk is 4A.")
    it.store.failing, it.store.after = True, 1
    it.memory.observe(it.message("My desk is 5B."))

    with pytest.raises(StoreError):
        it.memory.end_turn()
    it.store.failing = False
    it.memory.end_turn()

    assert ["ana: My desk is 4A.", "ana: My desk is 5B."] == held(it)
    assert ["My desk is 5B."] == [e.text for e in it.memory.semantic.in_force("ana")]


def test_a_model_that_fails_keeps_nobody_else_from_being_served() -> None:
    """One conversation's failure to conclude leaves the others' messages and facts recorded."""
    it = Remembering()
    it.say("Hello there.", session="one")
    it.model.failing = {"summarise"}
    it.memory.observe(it.message("Hello again.", session="two"))
    it.memory.observe(it.message(CODE, who="ben"))

    with pytest.raises(ModelError):
        it.memory.end_turn()
    assert f"ben: {CODE}" in held(it)
    assert CODE in held(it, "semantic")
    assert [] == it.memory.episodic.episodes("ana")
    it.model.failing = set()
    it.memory.end_turn()

    assert ["Hello there."] == [e.summary for e in it.memory.episodic.episodes("ana")]


def test_sources_of_other_lines_than_were_written_keep_nobody_from_being_served() -> None:
    """Which message a line came from is then unknown: it may be any of those that were read."""
    it = Remembering()
    complete = it.model.complete
    it.model.complete = lambda request: replace(complete(request), line_sources=((), ()))  # type: ignore[method-assign]

    [said] = it.say("My desk is 4A.")

    facts = [e for e in it.memory.entries("ana") if e.layer == "semantic"]
    assert [("My desk is 4A.", (said,))] == [(e.text, e.sources) for e in facts]


def test_a_conversation_that_is_taken_up_again_is_concluded_with_what_was_before() -> None:
    """Though its beginning has left the window since."""
    it = Remembering(options=MemoryOptions(vectors=False, window=1))
    it.say("Alpha.", session="one")
    it.say("Hm.", session="two")
    it.say("Beta.", "Gamma.", "Delta.", "Epsilon.", session="one")
    it.say("Hm.", session="two")

    (episode,) = [e for e in it.memory.episodic.episodes("ana") if "Beta." in e.summary]

    assert "Alpha." in episode.summary
    assert "ana-1" in episode.sources
    it.memory.forget("ana", ["ana-1"])
    assert "Alpha" not in it.texts()


def test_an_episode_keeps_what_was_settled_and_spoken_of_though_it_has_left_the_window() -> None:
    """What is said twice is kept where it was said last; what a tool says settles nothing."""
    it = Remembering(options=MemoryOptions(vectors=False, window=1))
    it.say("So we decided to fly to Oslo on LH-17.", "Shall we go with Bergen?", session="one")
    it.say("Hm.", session="two")
    it.say("For Åse we agreed on 9 May. We decided to meet in Oslo.", "Fine.", session="one")
    it.say("Hm.", session="two")

    (episode,) = [e for e in it.memory.episodic.episodes("ana") if "ana-1" in e.sources]

    assert episode.key_decisions == (
        "So we decided to fly to Oslo on LH-17.",
        "For Åse we agreed on 9 May.",
        "We decided to meet in Oslo.",
    )
    assert episode.entities == ("LH-17", "Bergen", "Åse", "May", "Oslo")
    it.memory.forget("ana", ["ana-1"])
    assert [] == [e for e in it.memory.episodic.episodes("ana") if "LH-17" in e.entities]


def test_an_episode_is_of_all_that_was_said_and_each_message_is_read_once() -> None:
    """However much of it has left the window; what was said since joins what stands there."""
    it = Remembering(options=MemoryOptions(vectors=False, window=1))
    call = replace(
        it.message("We decided to fly.", role="assistant"),
        blocks=(Text("We decided to fly."), ToolUse(id="c", name="book", arguments='{"to": "B2"}')),
    )
    it.memory.observe(call)
    ids = [call.id, *it.say(*(f"Nr. {n}" for n in range(19)))]
    it.say("Hm.", session="two")
    ids += it.say(*(f"Nr. {n}" for n in range(19, 30)))
    it.say("Hm.", session="two")

    [episode] = [e for e in it.memory.episodic.episodes("ana") if call.id in e.sources]
    assert ids == [*episode.sources]
    assert {f"Nr. {n}" for n in range(30)} <= {*episode.summary.splitlines()}
    assert (("We decided to fly.",), (), ("book",)) == (
        episode.key_decisions,
        episode.entities,
        episode.tools_called,
    )
    assert ids == [i for asked in it.summarised() for i in asked if i in ids]


def test_a_long_conversation_is_concluded_in_parts_turn_by_turn() -> None:
    """No turn waits for all of it, and a restart goes on where it was."""
    it = Remembering()
    ids = it.say(*(f"{n} " + "word " * 1000 for n in range(10)), session="one")
    it.say("Hm.", session="two")
    it = it.again()
    it.say("Hm.", "Hm.", "Hm.", session="two")

    [episode] = it.memory.episodic.episodes("ana")
    assert ids == [*episode.sources]
    assert [3, 3, 1] == [len(asked) for asked in it.summarised()]


@pytest.mark.parametrize(
    "says", ["I'm sorry, I can't help with that.", "\0\1\ufffd", "word " * 3000]
)
def test_what_is_no_summary_becomes_no_episode_and_replaces_none(says: str) -> None:
    """What was settled is read without the model; where there is no episode, none is begun."""
    it = Remembering()
    it.say("Alpha.", session="one")
    it.say("Hm.", session="two")
    it.model.says = says
    [added] = it.say("We decided on Beta.", session="one")
    it.say("Hm.", session="three")

    [episode] = it.memory.episodic.episodes("ana")
    assert ("Alpha.", ("We decided on Beta.",)) == (episode.summary, episode.key_decisions)
    assert added in episode.sources
    assert ["compaction-refused"] * 2 == [h.kind for h in it.happened if h.kind != "superseded"]


def test_a_conversation_is_over_when_nothing_was_said_in_it_for_a_day() -> None:
    """Nobody need leave it for another; and it is concluded once."""
    it = Remembering()
    it.say("Alpha.", "Beta.")
    it.clock.advance(timedelta(hours=23))
    it.memory.elapse(it.clock.now())
    assert [] == it.memory.episodic.episodes("ana")

    it = it.again()
    for _ in range(2):
        it.clock.advance(timedelta(hours=1))
        it.memory.elapse(it.clock.now())

    assert ["Alpha.\nBeta."] == [e.summary for e in it.memory.episodic.episodes("ana")]
    assert 1 == len(it.summarised())


def test_an_episode_that_was_forgotten_is_made_anew_without_what_was_forgotten() -> None:
    """When the conversation is next over, and after a restart as without one."""
    it = Remembering()
    gone, *kept = it.say("Alpha.", "Beta.", "Gamma.", session="one")
    it.say("Hm.", session="two")
    it.memory.forget("ana", [gone])
    assert [] == it.memory.episodic.episodes("ana")

    for memory in (it.again(), it):
        added = memory.say("Delta.", session="one")
        memory.say("Hm.", session="two")
        [episode] = [e for e in memory.memory.episodic.episodes("ana") if "Delta." in e.summary]
        assert [*kept, *added] == [*episode.sources]


def test_what_is_left_of_a_concluded_conversation_has_an_episode_again() -> None:
    """With the next turn after a request to forget; where time took a message, a day later."""
    policy = RetentionPolicy(retention={"conversation": 3})
    it = Remembering(options=MemoryOptions(vectors=False, hygiene=policy))
    early, gone = it.say("Alpha.", "Beta.", session="one")
    it.clock.advance(timedelta(days=2))
    kept = it.say("Gamma.", "Delta.", session="one")
    it.say("Hm.", session="two")
    assert ["Alpha.\nBeta.\nGamma.\nDelta."] == _episodes(it)

    it.memory.forget("ana", [gone])
    it.memory.end_turn("ana")
    assert ["Alpha.\nGamma.\nDelta."] == _episodes(it)

    it.clock.advance(timedelta(days=1))
    it.memory.elapse(it.clock.now())
    assert early not in it.saved()
    assert [] == _episodes(it)
    it.clock.advance(timedelta(days=1))
    it.memory.elapse(it.clock.now())
    assert ["Gamma.\nDelta."] == _episodes(it)
    assert kept == [*it.memory.episodic.episodes("ana")[0].sources]


def _episodes(it: Remembering) -> list[str]:
    found = it.memory.episodic.episodes("ana")
    return [episode.summary for episode in found if episode.summary != "Hm."]


def test_an_episode_is_dated_as_what_was_said_and_not_as_when_it_was_concluded() -> None:
    """A conversation is over when the next one begins, which may be weeks later."""
    it = Remembering()
    it.say("I fly to Oslo tomorrow.", session="one")
    said = it.clock.now()
    it.clock.advance(timedelta(days=40))
    it.say("Hm.", session="two")

    [dated] = [
        e.created
        for e in it.memory.vault.each(it.memory.vault.where("ana", layers=("episodic",)))
        if e.category == "daily"
    ]

    assert said == dated


@pytest.mark.parametrize("budget", [400, 1000, 4096])
def test_what_was_said_last_is_shown_by_its_beginning_and_end_where_it_is_long(budget: int) -> None:
    """A call keeps its result then; the share of the window is kept to."""
    it = Remembering(options=MemoryOptions(vectors=False, recall=False))
    text = f"It begins here. {'And so on. ' * 3000}The word is Heliotrope."
    call = Message(
        id="c",
        role="assistant",
        principal="ana",
        session="ana's",
        blocks=(ToolUse(id="u", name="read", arguments="{}"),),
    )
    result = replace(call, id="r", role="tool", blocks=(ToolResult(id="u", text=text),))
    it.say("Please go on.")
    it.memory.observe(call)
    it.memory.observe(result)

    (window,) = it.asked("And now?", budget=budget).sections

    assert [("u",), ()] == [m.calls for m in window.messages]
    assert window.messages[1].text.startswith("It begins here.")
    assert window.messages[1].text.endswith("The word is Heliotrope.")
    assert (("r",), False) == (window.messages[1].excerpts, "r" in window.verbatim)
    assert window.tokens <= budget * it.options.window_share


def test_notes_that_are_too_long_are_shown_by_their_beginning_and_end() -> None:
    """And so they are looked at, and last."""
    it = Remembering(options=MemoryOptions(vectors=False, mode="both"))
    it.say("Hello.")
    it.call("scratchpad_write", text=f"It begins here. {'And so on. ' * 300}It ends here.")

    (notes,) = [s for s in it.asked("And now?", budget=1000).sections if s.layer == "working"]

    assert "It begins here." in notes.messages[0].text
    assert notes.messages[0].text.endswith("It ends here.")
    assert notes.tokens <= 125


def test_what_is_brought_up_once_stands_on_the_ledger_until_it_is_dropped() -> None:
    """Of each conversation; looking without delivering changes nothing."""
    it = Remembering(options=MemoryOptions(vectors=False, window=1, once=True))
    (source, *_) = it.say(CODE, "Hm.", "So.")

    def told(session: str = "ana's", *, deliver: bool = True) -> bool:
        context = it.asked("What is the code of my locker?", session=session)
        if deliver:
            it.memory.delivered(context, principal="ana", session=session)
        return "7741-B" in context.text()

    assert [True, True, False] == [told(deliver=False), told(), told()]
    assert told("another")
    it.memory.dropped([source, "nothing"], principal="ana", session="ana's")
    assert [True, False] == [told(), told()]


def test_what_nobody_said_is_brought_up_once_as_well() -> None:
    """An episode, and what was noted, until it is another; what an episode is of was not quoted."""
    it = Remembering(options=ONCE)
    said = it.say("To Hvar we go by ferry.", "Hm.", session="trip")
    it.clock.advance(timedelta(days=2))
    it.memory.elapse(it.clock.now())
    (episode,) = (e for e in it.memory.entries("ana") if e.category == "daily")

    def told() -> tuple[str, ...]:
        context = it.asked("the ferry to Hvar")
        it.memory.delivered(context, principal="ana", session="ana's")
        return tuple(i for s in context.sections for i in s.items)

    first = told()
    assert {*said, episode.version} == {*first}
    assert () == told()
    it.memory.dropped(first, principal="ana", session="ana's")
    assert first == told()
    for seat in ("14C", "15D"):
        it.clock.advance(timedelta(minutes=1))
        noted = it.memory.remember("ana", "seat", f"On the ferry to Hvar it is {seat}.")
        assert {noted.version} == {*told()}
        assert () == told()
    it.memory.forget_key("ana", "seat")
    left = it.memory.ledger.injected(Conversation("ana", "ana's"), it.clock.now())
    assert noted.version not in left


def test_an_episode_comes_after_the_messages_that_it_is_of() -> None:
    """However many of the question's words it holds."""
    it = Remembering(options=MemoryOptions(vectors=False))
    it.say("To Hvar we go by ferry.", "The ferry to Hvar leaves at nine.", session="trip")
    it.say("Hm.", session="other")
    it.clock.advance(timedelta(days=2))
    it.memory.elapse(it.clock.now())
    episodes = {e.version for e in it.memory.entries("ana") if e.category == "daily"}

    (recalled,) = (s for s in it.asked("the ferry to Hvar").sections if s.layer == "recalled")

    assert episodes
    assert episodes.isdisjoint(recalled.items)
    assert {"ana-1", "ana-2"} <= {*recalled.items}


def test_an_episode_does_not_use_up_what_it_is_of() -> None:
    """Where only the episode was quoted, messages may still be; nothing is left of what goes."""
    it = Remembering(options=ONCE)
    said = it.say("To Hvar we go by ferry.", "Hm.", session="trip")
    it.clock.advance(timedelta(days=2))
    it.memory.elapse(it.clock.now())
    (episode,) = (e for e in it.memory.entries("ana") if e.category == "daily")
    quoted = Section(layer="recalled", messages=(), tokens=0, items=(episode.version,))

    it.memory.delivered(Context(sections=(quoted,)), principal="ana", session="ana's")

    asked = it.asked("ferry to Hvar")
    assert (*said,) == asked.sections[0].items == asked.sections[0].verbatim
    it.memory.forget("ana", said)
    assert [] == it.memory.ledger.injected(Conversation("ana", "ana's"), it.clock.now())


@pytest.mark.parametrize("deduplicate", [False, True])
def test_the_same_words_stand_in_a_context_once(*, deduplicate: bool) -> None:
    """As one said them on one day, be it in the window or among what is brought up."""
    options = MemoryOptions(vectors=False, window=3, window_share=0.5, deduplicate=deduplicate)
    it = Remembering(options=options)

    def times(question: str, layer: str = "") -> int:
        sections = (s for s in it.asked(question).sections if layer in {"", s.layer})
        return sum(m.text.count(ORDER) for s in sections for m in s.messages)

    it.say(*[ORDER] * 3)
    in_window = times("Where does my order go?", "window")
    assert in_window == times("Where does my order go?")
    it.say("Hm.", "So.")
    assert 1 == times("Where does my order go?")
    it.say("Well.")
    assert (0, 1) == (times("Where does my order go?", "window"), times("Where does my order go?"))
    it.clock.advance(timedelta(days=1))
    it.say(ORDER, "Well.")
    assert 2 == times("Where does my order go?")


def test_a_new_message_is_brought_up_though_one_of_its_id_was_and_is_forgotten() -> None:
    """The ledger knows items by their messages' ids, and the one that was sent is gone."""
    it = Remembering(options=MemoryOptions(vectors=False, window=1, once=True))
    for text in ("My order is A-17.", "My order is C-99."):
        it.memory.observe(it.message(text, id="m1", session="one"))
        it.say("Hm.", session="one")
        asked = it.asked("order?", session="two")
        assert text in asked.text()
        it.memory.delivered(asked, principal="ana", session="two")
        assert text not in it.asked("order?", session="two").text()
        it.memory.forget("ana", ["m1"])


def test_facts_are_read_from_all_that_is_brought_in_at_once() -> None:
    """However much of it there is, and however much others say."""
    it = Remembering()
    for n in range(UNREAD + 8):
        it.memory.observe(it.message(f"My desk is number {n}."))
        it.memory.observe(it.message(f"hello {n}", who="ben"))
    it.memory.end_turn()

    facts = {e.text for e in it.memory.entries("ana") if e.layer == "semantic"}
    assert {f"My desk is number {n}." for n in range(UNREAD + 8)} == facts


def test_a_model_that_keeps_failing_is_not_asked_for_ever_more() -> None:
    """Of what it failed at, the latest is tried again; the rest is given up."""
    it = Remembering()
    it.model.failing = {"extract"}
    for n in range(UNREAD + 8):
        it.memory.observe(it.message(f"My desk is number {n}."))
    for _ in range(2):
        with pytest.raises(ModelError):
            it.memory.end_turn()

    *_, last = [r for r in it.model.asked if r.task == "extract"]
    assert UNREAD == len(last.messages)
    assert last.messages[-1].text == f"My desk is number {UNREAD + 7}."


def test_a_fact_holds_from_when_it_was_said_and_not_from_when_it_was_read() -> None:
    """What was said a month apart may be recorded in one turn, and the older part last."""
    it = Remembering()
    older = it.message("My desk is 4A.")
    it.clock.advance(timedelta(days=30))
    newer = it.message("My desk is 5B.")
    for message in (newer, older):
        it.memory.observe(message)
    it.memory.end_turn()

    [fact] = it.memory.semantic.in_force("ana")
    assert ("My desk is 5B.", newer.time) == (fact.text, fact.created)
    assert [(older.time, newer.time), (newer.time, None)] == [
        (e.created, e.superseded) for e in it.memory.semantic.history("ana", fact.subject)
    ]


def test_one_principals_messages_do_not_keep_another_from_having_facts() -> None:
    """A model that fails at the one is asked about the other."""
    it = Remembering()
    it.model.poison = "poison"
    it.memory.observe(it.message("This is poison."))
    it.memory.observe(it.message(CODE, who="ben"))

    with pytest.raises(ModelError):
        it.memory.end_turn()

    assert [CODE] == held(it, "semantic")


def test_what_still_waits_is_forgotten_too() -> None:
    """What is to be recorded, or read for facts, once the model is back does not bring it back."""
    it = Remembering()
    it.model.failing = {"extract"}
    message = it.message(CODE)
    it.memory.observe(message)
    with pytest.raises(ModelError):
        it.memory.end_turn()

    it.memory.forget("ana", [message.id])
    it.model.failing = set()
    it.memory.end_turn()

    assert "7741-B" not in it.texts()


def test_what_cannot_be_kept_is_refused_before_anything_changes() -> None:
    """A message that no store can hold does not stand in the way of the next."""
    it = Remembering()
    before = it.saved()

    for wrong in (
        it.message("\ud800"),
        it.message("hello", session="\ud800"),
        it.message("hello", who="\ud800"),
    ):
        with pytest.raises(ValueError, match="encode"):
            it.memory.observe(wrong)
    assert before == it.saved()

    it.say("hello")
    assert ["ana: hello"] == held(it)


def test_a_message_that_is_told_twice_is_kept_once() -> None:
    """Another message under its id is refused."""
    it = Remembering()
    message = it.message("hello", id="m1")
    for _ in range(2):
        it.memory.observe(message)
        it.memory.end_turn()

    assert ["ana: hello"] == held(it)
    with pytest.raises(ValueError, match="'m1'"):
        it.memory.observe(it.message("other", id="m1"))
    assert it.saved() == it.again().saved()


@pytest.mark.parametrize("k", [0, -1])
def test_a_search_for_no_entry_at_all_is_refused(k: int) -> None:
    """A number below one asks for nothing, and never for all but the worst."""
    it = Remembering()
    it.say(CODE, "The locker is in the hall.")

    with pytest.raises(ValueError, match=f"^k is {k}: "):
        it.memory.search("locker", principal="ana", k=k)
    assert 1 == len(it.memory.search("locker", principal="ana", k=1))


# -- identity


@pytest.mark.parametrize(("acl", "nobody"), [(True, ""), (False, ""), (True, " ")])
def test_nobody_has_no_memory(acl: bool, nobody: str) -> None:
    """An empty or blank principal is refused everywhere, before anything is done."""
    it = Remembering(options=MemoryOptions(vectors=False, acl=acl, mode="both"))
    it.say(CODE)
    before, memory = it.saved(), it.memory
    grant = ReadGrant(owner="ana", reader=nobody)

    for use in (
        lambda: memory.observe(it.message("hello", who=nobody, session="s")),
        lambda: it.asked("code", who=nobody, session="s"),
        lambda: memory.search("code", principal=nobody),
        lambda: memory.remember(nobody, "key", "text"),
        lambda: memory.current_messages(nobody),
        lambda: memory.note(nobody, "text"),
        lambda: memory.tools(nobody),
        lambda: memory.share("ana", nobody, ["ana-1"]),
        lambda: memory.share(nobody, "ana", ["ana-1"]),
        lambda: memory.unshare(nobody, "ana", ["ana-1"]),
        lambda: memory.grant(grant),
        lambda: memory.closest_message(nobody, "code"),
        lambda: memory.forget(nobody, ["ana-1"]),
        lambda: memory.entries(nobody),
    ):
        with pytest.raises(AccessError):
            use()
    assert not memory.may_see(nobody, "ana's")
    assert before == it.saved()


def test_messages_of_one_id_are_told_apart_by_who_said_them() -> None:
    """What another says, or has forgotten, under my message's id changes nothing of mine."""
    alone, together = Remembering(), Remembering()
    for it in (alone, together):
        it.memory.observe(it.message("My desk is 4A.", id="m1"))
        it.memory.end_turn("ana")
        for text, name in (("My desk is 6C.", "m1"), ("My desk is 7D.", "m2")):
            message = it.message(text, who="ben", id=name)
            if it is together:
                it.memory.observe(message)
                it.memory.end_turn("ben")
        if it is together:
            it.memory.forget("ben", ["m1"])

    assert repr(alone.asked("Which desk is mine?")) == repr(together.asked("Which desk is mine?"))


# -- forgetting


def test_forgetting_reaches_every_tier() -> None:
    """The message, its facts, summaries, stored entries, notes, window, and who names it."""
    it = Remembering(
        budget=400,
        options=MemoryOptions(vectors=False, summary=True, mode="both", window_share=0.2),
    )
    (secret,) = it.say(CODE)
    it.say(*(f"Nothing of note happened on day {n}." for n in "abcdefgh"))
    assert any(
        "The code of" in line.text for _, s in it.memory.conversations for line in s.summary_lines()
    )
    it.memory.observe(it.message("Hm.", session="later"))
    it.call("scratchpad_write", text="locker 7741-B")
    it.memory.end_turn()
    message = it.message(CODE, session="later")
    it.memory.observe(message)
    it.call("memory_store", key="locker", value="7741-B it is")
    it.memory.end_turn()
    it.memory.observe(it.message("Please forget the 7741-B.", session="later"))
    it.say(CODE, who="ben")

    gone = [secret, message.id]
    it.memory.forget("ana", [*gone, *it.memory.requests("ana", gone)])

    state = json.loads(it.saved())
    left = {(e.owner, e.text) for e in it.memory.entries(None) if "7741" in e.text}
    assert {("ben", f"ben: {CODE}"), ("ben", CODE)} == left
    state["entries"] = []
    state["conversations"]["sessions"].pop("ben's")
    assert "7741-B" not in json.dumps(state)
    assert "The code of" not in json.dumps(state)


def test_who_was_let_read_a_forgotten_message_reads_no_other_of_its_id() -> None:
    """Nor where it was hygiene that erased it."""
    policy = RetentionPolicy(retention={"conversation": 1})
    it = Remembering(options=MemoryOptions(vectors=False, facts=False, hygiene=policy))
    for forgotten, text in ((True, "My desk is 4A."), (False, "My cat is Vinterberg.")):
        it.memory.observe(it.message(text, id="m1", session=f"about {text}"))
        it.memory.end_turn("ana")
        assert not it.memory.search(text, principal="ben")
        it.memory.share("ana", "ben", ["m1"])
        assert it.memory.search(text, principal="ben")
        if forgotten:
            it.memory.forget("ana", ["m1"])
    it.clock.advance(timedelta(days=2))
    it.memory.elapse(it.clock.now())
    it.memory.observe(it.message("My salary is 4711.", id="m1", session="another"))
    it.memory.end_turn("ana")

    assert not it.memory.search("My salary is 4711.", principal="ben")


def test_hygiene_reaches_whoever_has_something_there() -> None:
    """Who has never said a word as well, and of what is not due nothing is read twice."""
    it = Remembering(options=MemoryOptions(vectors=False, hygiene=RetentionPolicy()))
    it.memory.remember("carl", "lunch", "Soup at noon.", category="daily")
    it.clock.advance(timedelta(days=6))
    it.store.reads = 0
    it.memory.elapse(it.clock.now())
    assert 2 + 1 == it.store.reads
    assert it.memory.long_term.get("carl", "lunch") is not None

    it.clock.advance(timedelta(days=400))
    it.memory.elapse(it.clock.now())

    assert [] == [*it.memory.entries(None)]


@pytest.mark.parametrize("derived", [True, False])
def test_a_conversation_comes_to_something_before_its_messages_are_erased(derived: bool) -> None:
    """Its summary outlasts them, unless what is derived goes with them."""
    it = Remembering(options=MemoryOptions(vectors=False, hygiene=RetentionPolicy(derived=derived)))
    it.say(CODE)
    it.clock.advance(timedelta(days=5))
    it.memory.elapse(it.clock.now())

    kept = [entry for entry in it.memory.entries(None) if entry.layer == "episodic"]
    assert [] == [entry for entry in kept if entry.category == "conversation"]
    assert [] == [source for entry in kept for source in entry.sources]
    assert ([] if derived else ["The code of"]) == [entry.text for entry in kept]


def test_what_fails_when_time_passes_holds_up_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither another step nor another's; of one's own, what goes does not wait for what stays."""
    it = Remembering(options=MemoryOptions(vectors=False, hygiene=RetentionPolicy(), window=9))
    for who in ("ana", "ben"):
        it.say(CODE, who=who)
        it.memory.remember(who, "lunch", "Soup at noon.", category="daily")
    it.memory.working.put(Conversation("ana", "ana's"), {"topic": "soup"}, it.clock.now())
    it.clock.advance(timedelta(days=2))
    it.say("Hello there.", who="carl")
    it.clock.advance(timedelta(days=6))
    it.memory.observe(it.message("This cannot be written.", who="dora"))
    write = it.store.write

    def picky(entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        for entry in entries:
            if entry.owner == "dora" or (entry.owner == "ana" and entry.archived):
                raise StoreError(f"{entry.owner}'s cannot be written")
        write(entries, vectors)

    monkeypatch.setattr(it.store, "write", picky)
    with pytest.raises(StoreError, match="dora's"):
        it.memory.elapse(it.clock.now())
    kept = {(e.owner, e.layer, e.archived) for e in it.memory.entries(None)}
    assert {("ana", "long_term", False), ("ben", "long_term", True)} == kept
    assert [] == it.memory.working.store.conversations()
    assert {"dora"} == {who for who, _ in it.memory._backlog.open}
    monkeypatch.undo()
    it.memory.elapse(it.clock.now())

    kept = {(e.owner, e.layer, e.archived) for e in it.memory.entries(None)}
    assert {("ana", "long_term", True), ("ben", "long_term", True)} < kept
    assert ("dora", "episodic", False) in kept


def test_what_an_agent_keeps_outlives_the_message_that_it_was_kept_in() -> None:
    """An entry lasts as long as its category says, a note as it is used.

    What the memory noted by itself goes with the message. Another message of its id is another's.
    """
    options = MemoryOptions(vectors=False, mode="both", hygiene=RetentionPolicy(), entities=True)
    it = Remembering(options=options)
    message = it.message(CODE)
    it.memory.observe(message)
    it.call("memory_store", key="locker", value="7741-B it is", category="daily")
    it.memory.end_turn()
    it.clock.advance(timedelta(days=4))
    it.say("Anna Berg is in Oslo.", session="later")
    assert "Berg" in it.asked("Hm?", session="later").text()
    it.call("scratchpad_write", text="locker 7741-B")
    it.memory.elapse(it.clock.now())
    assert [] == it.memory.working.entities(Conversation("ana", "later"), it.clock.now())

    kept = {(e.layer, e.text) for e in it.memory.entries("ana") if "7741" in e.text}
    assert {("long_term", "7741-B it is")} == kept
    assert "7741" in it.call("scratchpad_read")
    it.memory.observe(it.message("It is late.", id=message.id))
    for one in (it.again(), it):
        assert "long_term" not in one.memory.forget("ana", [message.id]).by_tier
        assert "7741-B it is" in one.saved()
    it.memory.forget_key("ana", "locker")
    # Digests may have the digits.
    assert "7741-B" not in it.saved()


def test_forgetting_touches_nobody_elses() -> None:
    """Naming another's message in a shared conversation takes nothing of theirs away."""
    it = Remembering()
    it.say("Hello.", session="both")
    others = it.say(CODE, who="ben", session="both")
    before = it.saved()

    erased = it.memory.forget("ana", others)

    assert () == erased.entries
    assert before == it.saved()
    assert CODE in it.asked("code", who="ben", session="both").text()


def test_a_request_in_words_means_a_message() -> None:
    """Not the summary of a conversation, and not itself."""
    it = Remembering()
    (meant,) = it.say(CODE, session="one")
    it.say("Forget the code of my locker.", session="two")

    assert (meant,) == it.memory.closest_message("ana", "Forget the code of my locker.")
    assert () == it.memory.closest_message("ben", "Forget the code of my locker.")
    short, _ = it.say("Violin lesson on Monday at the old harbour.", "And more.", session="three")
    it.say("Hm.", session="four")
    assert any("Violin" in e.summary for e in it.memory.episodic.episodes("ana"))
    assert (short,) == it.memory.closest_message("ana", "violin")


# -- sharing


def test_what_is_shared_is_seen_until_it_is_taken_back() -> None:
    """Messages alone: facts, and what was stored under a key, never open."""
    it = Remembering(options=MemoryOptions(vectors=False, mode="both"))
    message = it.message(CODE)
    it.memory.observe(message)
    it.call("memory_store", key="locker", value=CODE)
    it.memory.end_turn()
    ours = it.memory

    assert [] == [*ours.entries("ben")]
    ours.share("ana", "ben", [message.id])
    assert [("episodic", message.id)] == [(e.layer, e.key) for e in ours.entries("ben")]
    assert "7741" in it.asked("code of the locker", who="ben").text()
    ours.unshare("ana", "ben", [message.id])

    assert [] == [*ours.entries("ben")]
    assert "7741" not in it.asked("code of the locker", who="ben").text()


def test_a_grant_by_category_opens_and_closes_from_the_next_read_on() -> None:
    """Only the category that is named."""
    it = Remembering()
    it.memory.remember("ana", "a", "apples", category="daily")
    it.memory.remember("ana", "b", "bananas", category="custom")
    grant = ReadGrant(owner="ana", reader="ben", category="daily")

    it.memory.grant(grant)
    assert ["apples"] == [f.entry.text for f in it.memory.search("apples bananas", principal="ben")]
    it.memory.revoke(grant)

    assert [] == it.memory.search("apples bananas", principal="ben")


def test_who_joins_a_conversation_may_read_all_of_it_and_nothing_else() -> None:
    """What was stored by key in it stays private, and so does what was made of it."""
    it = Remembering(options=MemoryOptions(vectors=False, mode="both"))
    it.say("The trip is on Friday.", session="trip")
    it.call("memory_store", key="gift", value="The trip gift is a kettle.")
    it.say(CODE, session="private")
    it.memory.observe(it.message("Hello.", who="ben", session="trip"))

    seen = {e.text for e in it.memory.entries("ben")}

    assert {"ana: The trip is on Friday."} == seen
    assert "Friday" in it.asked("When is the trip?", who="ben", session="trip").text()


def test_facts_are_their_owners_and_steer_recall_for_whom_they_are_granted_to() -> None:
    """Who heard what was superseded, and what superseded it, finds both and their order."""
    it = Remembering()
    it.say("Hi.", who="ben", session="both")
    it.say("My bus is the 12.", "My bus is the 7.", session="both")

    def found(who: str) -> set[str]:
        return {f.entry.text for f in it.memory.search("bus", principal=who)} - {"ben: Hi."}

    assert {"ana: My bus is the 7."} == found("ana")
    assert {"ana: My bus is the 12.", "ana: My bus is the 7."} == found("ben")
    assert ["Hi."] == held(it, "semantic", "ben")
    it.memory.grant(ReadGrant(owner="ana", reader="ben"))
    assert {"ana: My bus is the 7."} == found("ben")
    assert "My bus is the 7." in held(it, "semantic", "ben")


def test_what_changed_a_part_of_a_message_is_as_relevant() -> None:
    """For whom the facts may be seen, and until it is erased."""
    it = Remembering()
    it.say("Hi.", who="ben", session="both")
    it.say("Wake me at 6:40 with the sound of rain.", session="both")
    (change,) = it.say("Rise at 5:55 instead, wake me gently.", session="both")

    def relevance(who: str) -> dict[bool, float]:
        found = it.memory.search("What sound of rain at 6:40?", principal=who)
        return {"5:55" in f.entry.text: f.score for f in found if "ana: " in f.entry.text}

    mine, heard = relevance("ana"), relevance("ben")
    assert mine[True] == mine[False] == heard[False] > heard[True]
    it.memory.forget("ana", [change])
    assert {False: mine[False]}.keys() == relevance("ana").keys()


def test_a_conversation_that_could_not_be_opened_is_opened_at_the_next_call() -> None:
    """The message of who joined is not lost either."""
    it = Remembering()
    it.say("The trip is on Friday.", session="trip")
    it.store.failing = True
    with pytest.raises(StoreError):
        it.memory.observe(it.message("Hello.", who="ben", session="trip"))
    it.store.failing = False

    it.memory.end_turn()

    assert {"ana: The trip is on Friday.", "ben: Hello."} <= {
        e.text for e in it.memory.entries("ben")
    }


# -- state


def played() -> Remembering:
    """A memory in the middle of something."""
    it = Remembering(options=MemoryOptions(vectors=False, summary=True, mode="both"), budget=400)
    it.say(*(f"My desk is {n}{n}." for n in "ABCDEFGH"))
    it.say("My desk is AA.", session="two")
    it.say("Hello, ana.", who="ben", session="two")
    it.memory.share("ana", "cleo", ["ana-1"])
    it.memory.grant(ReadGrant(owner="ben", reader="ana"))
    it.call("scratchpad_write", text="one two")
    it.call("memory_store", key="k", value="v")
    it.memory.observe(it.message("I say this and", session="two"))
    return it


def test_a_saved_memory_is_loaded_to_the_byte() -> None:
    """In the middle of a turn, too; contexts, tools and what comes after are the same."""
    it = played()
    other = it.again()

    assert it.saved() == other.saved()
    for _ in range(2):
        for who in ("ana", "ben", "cleo"):
            for session in ("ana's", "two"):
                one, two = (m.asked("Which desk?", who=who, session=session) for m in (it, other))
                assert repr(one) == repr(two)
            assert it.call("memory_search", who, query="desk") == other.call(
                "memory_search", who, query="desk"
            )
        for memory in (it, other):
            memory.say("My desk is BB.", "And more.", session="two")
        assert it.saved() == other.saved()


def test_what_was_said_at_one_instant_keeps_its_order() -> None:
    """Though no clock tells it, and stores list it by other rules."""
    it = Remembering()
    messages = [it.message(f"Remark {n}.") for n in range(12)]
    for message in messages:
        it.memory.observe(replace(message, time=it.clock.now()))
    it.memory.end_turn()
    other = it.again()

    order = [it.memory._timeline.source(i) for i in it.memory._timeline.order()]
    assert [m.id for m in messages] == order
    assert it.memory._timeline.order() == other.memory._timeline.order()


@pytest.mark.parametrize("by", [None, 7, "text", [7], {"key": 7}], ids=repr)
@pytest.mark.parametrize(
    "part",
    ["entries", "order", "backlog", "permissions", "conversations", "working", "ledger", "audit"],
)
def test_a_damaged_part_is_refused_and_nothing_changes(part: str, by: object) -> None:
    """Whichever part is damaged, those before it are as they were."""
    it = played()
    other = Remembering(options=it.options, budget=it.budget)
    other.say("Quite another memory.", who="dora")
    state: dict[str, Any] = json.loads(other.saved())
    state[part] = by
    before, context = it.saved(), repr(it.asked("Which desk?"))

    with pytest.raises(StateError):
        it.memory.load(state)

    assert before == it.saved()
    assert context == repr(it.asked("Which desk?"))


def test_a_store_that_fails_while_a_state_is_loaded_keeps_what_it_has() -> None:
    """The old memory goes only when the new one is there."""
    it = played()
    other = Remembering(options=it.options, budget=it.budget)
    other.say("Quite another memory.", who="dora")
    before = it.saved()
    it.store.failing = True

    with pytest.raises(StoreError):
        it.memory.load(json.loads(other.saved()))

    it.store.failing = False
    assert before == it.saved()


def test_asking_and_saving_change_nothing() -> None:
    """Contexts, searches, surfaces and states can be had at any moment."""
    it = played()
    before, writes = it.saved(), it.store.writes

    for who in ("ana", "ben", "nobody"):
        it.asked("Which desk?", who=who)
        it.memory.search("desk", principal=who)
        list(it.memory.entries(who))

    assert (before, writes) == (it.saved(), it.store.writes)


def test_working_memory_lasts_a_day_after_it_was_last_sent() -> None:
    """Being shown does not refresh it; being delivered does."""
    from datetime import timedelta

    it = Remembering(options=MemoryOptions(vectors=False, mode="both"))
    it.say("Hello.")
    it.call("scratchpad_write", text="call Dr. Bauer")
    it.clock.advance(timedelta(hours=23))
    context = it.asked("What now?")
    assert "Bauer" in context.text()
    it.memory.delivered(context, principal="ana")
    it.clock.advance(timedelta(hours=23))
    assert "Bauer" in it.asked("What now?").text()
    it.clock.advance(timedelta(hours=1))
    assert "Bauer" not in it.asked("What now?").text()
    it.memory.elapse(it.clock.now())
    assert {} == it.memory.working.peek(Conversation("ana", "ana's"), it.clock.now())
    assert "Bauer" not in it.texts()


def test_vectors_of_another_embedder_are_made_anew() -> None:
    """Entries are found by meaning whatever embedder wrote them."""
    import numpy as np

    from memsim.memory.memory import Memory
    from memsim.memory.parts import MemorySetup
    from tests.memory.remembering import COUNTER, embedder

    it = Remembering(options=MemoryOptions())
    it.say(CODE, "Lovely weather.")
    first = it.store.embedded

    class Other:
        name, dimension = "other", 4

        def embed(self, texts: Any) -> Any:  # noqa: ANN401 - as the protocol has it
            rows = np.array([[1.0, len(t), 0.0, 1.0] for t in texts], dtype=np.float32)
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    again = Memory(
        MemorySetup(store=it.store, model=it.model, counter=COUNTER, embed=Other, now=it.clock.now)
    )
    where = again.vault.where("ana", layers=("episodic",))

    assert 2 == len(again.vault.nearest("anything", where, 5))
    assert first is not None
    assert (embedder().name, "other") == (first.name, it.store.embedded and it.store.embedded.name)


def test_the_cost_of_a_message_does_not_grow_with_what_there_is() -> None:
    """Neither with messages, nor with conversations, nor with those that others join."""

    def cost(it: Remembering, begin: int) -> tuple[int, int]:
        writes, reads = it.store.writes, it.store.reads
        for n in range(begin, begin + 10):
            it.say("Hello there.", f"My desk is {n}.", session=f"s{n}")
            it.say("Hello you.", who="ben", session=f"s{n}")
        return it.store.writes - writes, it.store.reads - reads

    it = Remembering()
    cost(it, 0)
    second, _, _, fifth = (cost(it, n) for n in (10, 20, 30, 40))

    assert second == fifth


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_question_that_was_asked_before_hides_no_answer(when: str) -> None:
    """However often, and whether it was before the fact was told or since then."""
    it = Remembering(budget=400)
    asked = ["Where is my umbrella?", "I cannot tell."] * 4
    told = ["My umbrella is in the bucket by the back door."]
    it.say(*(asked + told if when == "before" else told + asked))
    it.say(*(f"Nothing of note happened on day {n}." for n in "abcdefgh"))

    assert "the bucket" in it.asked("Where is my umbrella?").text()
