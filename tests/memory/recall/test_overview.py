"""Questions for an overview are told from others, and answered from all conversations."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memsim.memory.entry import ROLE, Entry
from memsim.memory.index import Hit
from memsim.memory.options import RecallPolicy
from memsim.memory.recall.instructions import is_standing
from memsim.memory.recall.overview import ConversationPlaces, asks_overview, asks_summary, matter
from memsim.memory.recall.ranking import recall
from memsim.memory.recall.timeline import MessageFacts, Timeline
from memsim.message import EPOCH

POLICY = RecallPolicy(fusion="weights", vector=0.0)
OVERVIEWS = (
    "Can you list the order in which I brought up different aspects of my garden?",
    "Which plants did I mention, in order?",
    "Give me a summary of my move.",
    "Summarise how the move went.",
    "How many plants did I ask about across my gardening questions?",
    "What did we discuss throughout our conversations about the roof?",
    "How has my plan for the roof changed?",
)
OTHERS = (
    "What did I do in order to save water?",
    "Where did I order the seeds?",
    "How tall is the fence across the street?",
    "When does the train leave?",
)


def test_an_overview_is_told_by_the_form_of_a_question(subtests: pytest.Subtests) -> None:
    """Whatever its matter is."""
    for question in (*OVERVIEWS, *OTHERS):
        with subtests.test(question):
            assert (question in OVERVIEWS) == asks_overview(question)
    assert [asks_summary(q) for q in OVERVIEWS[:4]] == [False, False, True, True]


def test_the_form_is_not_searched_for() -> None:
    """Where nothing else is asked, all of it is."""
    assert matter(OVERVIEWS[0]) == "garden?"
    assert matter("Summary?") == "Summary?"


def places(*sessions: str) -> ConversationPlaces:
    """Ids such as `a0`: a conversation and a place in it; `a0r` is the reply to `a0`."""
    replies = {s.removesuffix("r"): s for s in sessions if s.endswith("r")}
    return ConversationPlaces(lambda i: (i[0], int(i[1:].rstrip("r"))), replies.get)


def facts(name: str, order: int) -> MessageFacts:
    """What is known of such a message; those of conversations from `n` on are short.

    Replies of conversations from `t` on are shorter than what they reply to.
    """
    role = "assistant" if name.endswith("r") else "user"
    tokens = 200 if name[0] < "n" else 10
    return MessageFacts(
        order=order, tokens=3 if name[0] > "s" and role != "user" else tokens, role=role
    )


def order_of(question: str, scores: dict[str, float], policy: RecallPolicy = POLICY) -> list[str]:
    """The messages in the order of recall."""
    known = {name: facts(name, n) for n, name in enumerate(scores)}
    lexical = sorted((Hit(i, s) for i, s in scores.items()), key=lambda hit: -hit.score)
    found = recall(
        question, lexical=lexical, about=known.get, places=places(*scores), policy=policy
    )
    assert sorted((hit.score for hit in found), reverse=True) == [hit.score for hit in found]
    return [hit.id for hit in found]


def test_an_overview_is_quoted_from_all_conversations() -> None:
    """One that holds the best message, and all of the next ones, does not crowd out the others."""
    scores = {"a0": 9.0, "a1": 8.9, "a2": 8.8, "a3": 8.7, "b0": 7.0, "c0": 6.5, "d0": 0.0}

    assert {"a0", "b0", "c0"} == set(order_of(OVERVIEWS[0], scores)[:3])


def test_what_was_replaced_since_belongs_to_an_overview() -> None:
    """Another question gets only what is in force."""
    known = {
        "a0": MessageFacts(order=0, tokens=10, successor="a1"),
        "a1": MessageFacts(order=1, tokens=10),
    }
    lexical = [Hit("a0", 2.0), Hit("a1", 1.0)]
    overview = recall(
        OVERVIEWS[0], lexical=lexical, about=known.get, places=places(*known), policy=POLICY
    )
    other = recall("Which garden?", lexical=lexical, about=known.get, policy=POLICY)

    assert ["a0", "a1"] == [hit.id for hit in overview]
    assert ["a1"] == [hit.id for hit in other]


def test_the_beginning_of_a_conversation_counts_more() -> None:
    """By as much as `opening` says."""
    scores = {"a90": 9.0, "a0": 6.0, "a40": 0.0}

    assert ["a0", "a90"] == order_of(OVERVIEWS[0], scores)[:2]
    assert ["a90", "a0"] == order_of(OVERVIEWS[0], scores, RecallPolicy(opening=0.1))[:2]


def test_a_reply_follows_what_it_answers_where_a_summary_is_asked_for() -> None:
    """Where only what somebody brought up is asked for, it counts less."""
    scores = {"a0": 5.0, "a0r": 9.0, "b0": 4.0, "b0r": 0.1, "c0": 0.0}

    assert ["a0", "a0r"] == order_of("Summarise my move.", scores)[:2]
    assert {"a0", "b0"} == set(order_of(OVERVIEWS[0], scores)[:2])


def test_a_timeline_knows_places_and_replies() -> None:
    """Also after a message between them has been erased."""

    def entry(name: str, role: str) -> Entry:
        return Entry(
            key=name,
            text=f"ana: {name}",
            owner="ana",
            layer="episodic",
            session="s",
            created=EPOCH + timedelta(minutes=int(name[1:])),
            sources=(name,),
            attributes=((ROLE, role),),
        )

    timeline = Timeline()
    said = [
        entry(name, role)
        for name, role in (("m0", "user"), ("m1", "assistant"), ("m2", "user"), ("m3", "user"))
    ]
    for n, one in enumerate(said):
        timeline.add(one, tokens=8, turn=n // 2)
    first, answer, other, last = (one.id for one in said)

    assert [("s", 0), ("s", 3)] == [timeline.place(first), timeline.place(last)]
    assert [answer, None, None] == [timeline.reply(i) for i in (first, answer, other)]
    timeline.remove([answer])
    assert ("s", 1) == timeline.place(other)
    assert [None, None] == [timeline.reply(first), timeline.place(answer)]


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("Always name the version when I ask about software.", True),
        ("From now on, answer in French.", True),
        ("I prefer trains to flights.", True),
        ("I'd rather pay in cash.", True),
        ("Make sure to show the sources whenever I ask for figures.", True),
        ("The train always leaves at nine.", False),
        ("I never saw it.", False),
    ],
)
def test_standing_instructions_and_preferences(text: str, standing: bool) -> None:
    """They count more, by as much as the policy says."""
    assert standing == is_standing(text)
    known = {
        "plain": MessageFacts(order=0, tokens=10),
        "told": MessageFacts(order=1, tokens=10, standing=is_standing(text)),
        "other": MessageFacts(order=2, tokens=10),
    }
    lexical = [Hit("plain", 2.0), Hit("told", 1.9), Hit("other", 0.0)]
    found = recall("q", lexical=lexical, about=known.get, policy=RecallPolicy(fusion="weights"))

    assert ("told" if standing else "plain") == found[0].id


def test_a_summary_may_be_told_by_one_conversation() -> None:
    """Its messages count alike, where a list is spread over conversations."""
    scores = {"a0": 9.0, "a1": 8.9, "a2": 8.8, "b0": 5.0, "c0": 4.0, "d0": 0.0}

    assert ["a0", "a1", "a2"] == order_of("Summarise my move.", scores)[:3]
    assert "b0" in order_of(OVERVIEWS[0], scores)[:3]


def test_short_messages_come_after_the_replies_of_a_summary() -> None:
    """The replies restate them; without its reply a short message keeps its place."""
    scores = {"n0": 5.0, "n0r": 9.0, "o0": 4.0, "p0": 3.0, "p0r": 0.1, "q0": 0.0}

    assert ["n0r", "o0", "p0r"] == order_of("Summarise my move.", scores)[:3]


def test_a_reply_that_is_shorter_than_its_message_does_not_restate_it() -> None:
    """An "I see." says nothing of what was said, so the message keeps its place before it."""
    scores = {"t0": 5.0, "t0r": 0.1, "u0": 4.0, "u0r": 0.1, "q0": 0.0}
    found = order_of("Summarise my move.", scores)

    assert ["t0", "t0r", "u0"] == found[:3]
