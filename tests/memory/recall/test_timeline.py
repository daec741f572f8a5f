"""Which messages stand beside each other, whoever else says what."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.entry import Entry
from memsim.memory.index import entry_numbers, id_places
from memsim.memory.recall.outline_columns import MessageOutline, MessageOutlines, microseconds
from memsim.memory.recall.timeline import DESCRIBED, Timeline
from memsim.message import EPOCH


def entry(name: str, owner: str = "ana", session: str = "s1", at: int = 0) -> Entry:
    """A message's entry."""
    return Entry(
        key=name,
        text=f"{owner}: {name}",
        owner=owner,
        layer="episodic",
        session=session,
        created=EPOCH + timedelta(minutes=at),
        sources=(name,),
    )


def told(*entries: Entry) -> Timeline:
    """A timeline of these."""
    timeline = Timeline()
    for one in entries:
        timeline.add(one, tokens=8, turn=1)
    return timeline


def test_what_stands_beside_a_message_is_of_its_conversation() -> None:
    """And what is in between goes with it."""
    one, other, two, three = (
        entry("m1"),
        entry("x", session="s2"),
        entry("m2"),
        entry("m3"),
    )
    timeline = told(one, other, two, three)
    assert {two.id, three.id} == {i for i, _ in timeline.beside(one.id)}

    timeline.remove([two.id])

    assert {three.id} == {i for i, _ in timeline.beside(one.id)}
    assert (two.id not in timeline, 3) == (True, len(timeline))
    assert [one.id, three.id] == timeline.of("s1")
    assert [one.id, other.id, three.id] == timeline.order()


def test_messages_of_one_id_have_owners() -> None:
    """What supersedes the one leaves the other as it is."""
    mine, next_, theirs = entry("m1"), entry("m2"), entry("m1", "ben", "s2")
    timeline = told(mine, next_, theirs)

    timeline.succeed("ana", "m1", "m2")

    told_of_mine, told_of_theirs = timeline.about(mine.id), timeline.about(theirs.id)
    assert told_of_mine is not None
    assert told_of_theirs is not None
    assert (next_.id, None) == (told_of_mine.successor, told_of_theirs.successor)
    timeline.succeed("ana", "m1", None)
    assert timeline.about(mine.id) is not None
    assert [None] == [a.successor for a in [timeline.about(mine.id)] if a]


def test_what_changed_a_part_of_a_message_is_known_by_its_entry() -> None:
    """Until it is taken back; what is not known changes nothing."""
    mine, next_ = entry("m1"), entry("m2")
    timeline = told(mine, next_)

    timeline.amend("ana", "m1", ("m2", "unknown"))
    assert [(next_.id,)] == [a.amended for a in [timeline.about(mine.id)] if a]
    timeline.amend("ana", "m1", ())
    assert [()] == [a.amended for a in [timeline.about(mine.id)] if a]


def test_what_was_made_of_a_conversation_is_of_it_until_it_is_gone() -> None:
    """Facts and summaries are opened together with the messages."""
    timeline = told(entry("m1"))
    made = Entry(key="fact", text="fact", owner="ana", layer="semantic", session="s1")
    timeline.made(made)
    timeline.made(made)

    assert [entry("m1").id, made.id] == timeline.of("s1")
    timeline.remove([made.id, entry("m1").id, "unknown"])
    assert ([], 0) == (timeline.of("s1"), len(timeline))


def test_what_is_known_already_stays_where_it_is() -> None:
    """A message that is told twice stands there once."""
    timeline = told(entry("m1"), entry("m2"), entry("m1"))

    assert [entry("m1").id, entry("m2").id] == timeline.order()
    assert ("m1", None) == (timeline.source(entry("m1").id), timeline.source("unknown"))
    timeline.clear()
    assert 0 == len(timeline)


def test_what_is_told_of_a_message_is_the_same_after_many_others() -> None:
    """Few are kept as they were told; the others are told anew, and hear of what changed."""
    timeline = told(*(entry(f"m{n}", at=n) for n in range(DESCRIBED + 2)))
    first, *others = timeline.order()
    before = timeline.about(first)
    timeline.succeed("ana", "m0", "m1")
    changed = timeline.about(first)
    for other in others:
        timeline.about(other)

    assert before is not None
    assert changed is not None
    assert (None, others[0]) == (before.successor, changed.successor)
    assert changed == timeline.about(first)
    assert timeline.about(first) is not changed


def test_what_was_replaced_stands_no_more_until_it_is_in_force_again() -> None:
    """Of two standing messages, the one that took the other's place applies alone."""
    first, second = (
        replace(entry(name), text=f"ana: I prefer {what}.", attributes=(("role", "user"),))
        for name, what in (("m1", "trains"), ("m2", "slow trains"))
    )
    timeline = told(first, second)
    assert {first.id, second.id} == {*timeline.applying("ana", "Which trains?")}

    timeline.succeed("ana", "m1", "m2")
    assert [second.id] == [*timeline.applying("ana", "Which trains?")]

    timeline.succeed("ana", "m1", None)
    timeline.remove([second.id])
    assert [first.id] == [*timeline.applying("ana", "Which trains?")]


MANY, LEAN = 3_000, 300
"""Messages, and bytes that each may take: with a dictionary for each thing it would be 1,000."""


def test_many_messages_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of each stands in columns."""
    monkeypatch.setattr(entry_numbers, "LATEST", 300)
    monkeypatch.setattr(id_places, "PLAIN", 300)
    said = [entry(f"m{n}", at=n) for n in range(1, MANY + 1)]
    tracemalloc.start()
    try:
        timeline = told(*said)
        for one in said:
            timeline.state(one.id[::-1], "ana", one.key)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < LEAN * MANY


SAID = st.builds(
    MessageOutline,
    owner=st.sampled_from(["ana", "ben"]),
    source=st.sampled_from(["m1", "m2", "m3", "m4", "m5"]),
    session=st.sampled_from(["s1", "s2"]),
    created=st.integers(0, 2).map(lambda n: EPOCH + timedelta(seconds=n)),
    role=st.sampled_from(["user", "assistant"]),
    turn=st.integers(0, 2),
    tokens=st.integers(1, 200),
    question=st.booleans(),
    asked=st.sampled_from(["", "cat dog"]),
    standing=st.booleans(),
    matter=st.sampled_from([None, "", "train"]),
    repeated=st.sampled_from([None, b"12345678"]),
)


def in_columns(said: list[MessageOutline]) -> MessageOutlines:
    """Outlines as a file has them."""
    rows: list[list[Any]] = [
        [*one[:3], microseconds(one.created), *one[4:-1], one.repeated and one.repeated.hex()]
        for one in said
    ]
    columns: list[Any] = [[one[n] for one in rows] for n in range(len(MessageOutlines._fields))]
    return MessageOutlines(*columns)


def known_of(timeline: Timeline, names: list[str]) -> list[Any]:
    """All that a timeline tells."""
    sessions, owners, sources = ("s1", "s2"), ("ana", "ben"), ("m1", "m2", "m3", "m4", "m5")
    of_each = (timeline.about, timeline.beside, timeline.place, timeline.reply)
    more = (timeline.words, timeline.session, timeline.source)
    return [
        [[ask(name) for ask in (*of_each, *more)] for name in names],
        [timeline.of(session) for session in sessions],
        [[timeline.is_taken(session, source) for source in sources] for session in sessions],
        [[timeline.entries(owner, source) for source in sources] for owner in owners],
        [[*timeline.waiting(owner, session)] for owner in owners for session in sessions],
        [[*timeline.applying(owner, "Which trains?").items()] for owner in owners],
        timeline.order(),
    ]


@given(
    st.lists(SAID, max_size=12),
    st.lists(st.integers(0, 11), unique=True, max_size=4),
    st.lists(SAID, max_size=12),
    st.lists(st.integers(0, 23), unique=True, max_size=6),
)
def test_messages_that_come_together_are_taken_as_one_by_one(
    first: list[MessageOutline], gone: list[int], then: list[MessageOutline], after: list[int]
) -> None:
    """Also where others were there before, or are gone; and they go as they came."""
    one_by_one, together = Timeline(), Timeline()
    names = [f"{n:032x}" for n in range(len(first) + len(then))]
    parts = ((first, 0, gone), (then, len(first), after))
    for said, start, leave in parts:
        here, orders = names[start : start + len(said)], [*range(start, start + len(said))]
        for name, outline, order in zip(here, said, orders, strict=True):
            one_by_one.take(name, outline, order)
        together.take_all(here, in_columns(said), orders)
        assert known_of(one_by_one, names) == known_of(together, names)
        left = [names[n] for n in leave if n < start + len(said)]
        for timeline in (one_by_one, together):
            timeline.remove(left)

    assert known_of(one_by_one, names) == known_of(together, names)
