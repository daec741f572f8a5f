"""Original messages: held in blocks, and found by id as in a dictionary."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.message import EPOCH, Message, Text, ToolResult, ToolUse, fields_of, said
from memsim.replay import original_messages
from memsim.replay.original_messages import MessageSessions, OriginalMessages

IDS = st.one_of(
    st.integers(0, 40).map("m{}".format), st.sampled_from(["m01", "m", "", "D3:7", "m\u0663", "x"])
)
SAID = st.lists(st.tuples(IDS, st.sampled_from(["s1", "s2"])), max_size=60)


def messages(pairs: list[tuple[str, str]]) -> list[Message]:
    """Messages with these ids and sessions, each with a text of its own."""
    return [
        said("user", f"text {place}", id=name, session=session)
        for place, (name, session) in enumerate(pairs)
    ]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few messages are compressed already."""
    monkeypatch.setattr(original_messages, "BLOCK", 3)
    monkeypatch.setattr(original_messages, "PLAIN", 2)
    monkeypatch.setattr(original_messages, "_OPENED", 2)


@given(SAID, IDS)
def test_messages_are_found_as_in_a_dictionary(pairs: list[tuple[str, str]], other: str) -> None:
    """Whatever the ids are, in whatever order, and however often one comes again."""
    expected: dict[str, Message] = {}
    found = OriginalMessages()
    for message in messages(pairs):
        expected[message.id] = message
        found.add(message)

    assert list(expected.items()) == list(found.items())
    assert len(expected) == len(found)
    assert expected.get(other) == found.get(other)
    assert (other in expected) == (other in found)


def test_a_packed_message_is_as_it_was() -> None:
    """With tools, sources, and a time of its own, and however often it is read."""
    call = ToolUse(id="c1", name="look", arguments="{}")
    blocks = (Text("I look."), call, Text("\ud83d"), ToolResult(id="c1", text="no", is_error=True))
    when = EPOCH + timedelta(microseconds=1)
    long_ago = Message(
        id="x",
        role="assistant",
        blocks=blocks,
        principal="Ana",
        session="s2",
        turn=7,
        time=when,
        composed=True,
        quotes=("m1",),
        derived_from=("m2",),
        excerpts=("m2",),
    )
    found = OriginalMessages()
    found.add(long_ago)
    for message in messages([(f"m{n}", "s1") for n in range(2, 20)]):
        found.add(message)

    for _ in range(2):
        assert fields_of(found["x"]) == fields_of(long_ago)
        assert found["x"].text == long_ago.text
    assert found["x"] is not long_ago


@given(st.lists(st.tuples(IDS, st.integers(0, 5)), max_size=60))
def test_messages_are_found_by_their_turns(told: list[tuple[str, int]]) -> None:
    """In order, and one that was said again in its last turn, whenever it is asked."""
    found = OriginalMessages()
    expected: dict[str, Message] = {}
    for name, turn in told:
        message = said("user", f"in turn {turn}", id=name, turn=turn)
        expected[name] = message
        found.add(message)

        assert found.turns() == sorted({m.turn for m in expected.values()})
    for turn in range(6):
        assert found.in_turn(turn) == [m for m in expected.values() if m.turn == turn]


@given(SAID, IDS)
def test_sessions_are_found_as_in_a_dictionary(pairs: list[tuple[str, str]], other: str) -> None:
    """The session of the latest message with an id."""
    expected: dict[str, str] = {}
    found = MessageSessions()
    for message in messages(pairs):
        expected[message.id] = message.session
        found.add(message)

    assert list(expected.items()) == list(found.items())
    assert len(expected) == len(found)
    assert expected.get(other) == found.get(other)
    assert (other in expected) == (other in found)
