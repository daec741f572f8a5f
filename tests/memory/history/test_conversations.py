"""The conversations as they go, and the late results that belong to none."""

from __future__ import annotations

import json

import pytest

from memsim.errors import StateError
from memsim.memory.history.conversations import FIRST, Conversations, SessionHistory
from memsim.message import EPOCH as NOW
from memsim.message import Message, ToolResult, ToolUse, said
from tests.memory.remembering import COUNTER


def conversations(keep: int | None = 200) -> Conversations:
    """None yet."""
    return Conversations(lambda _: SessionHistory(COUNTER, messages=4, keep=keep, limit=50))


def test_who_speaks_elsewhere_has_left() -> None:
    """Each principal is in the one conversation that they spoke in last."""
    ours = conversations()
    assert FIRST == ours.latest("ana")
    assert ours.add(said("user", "a", id="m1", principal="ana", session="one"), NOW) is None
    assert ours.add(said("user", "b", id="m2", principal="ben", session="one"), NOW) is None
    assert "one" == ours.add(said("user", "c", id="m3", principal="ana", session="two"), NOW)
    assert ("two", "one") == (ours.latest("ana"), ours.latest("ben"))
    assert ["one", "two"] == [name for name, _ in ours]


@pytest.mark.parametrize("keep", [None, 200])
def test_taking_out_spares_what_is_anothers(keep: int | None) -> None:
    """Ids of others are passed over, in the window as in the summary."""
    ours = conversations(keep)
    ours.add(said("user", "a", id="m1", principal="ana"), NOW)
    ours.add(said("user", "b", id="m2", principal="ben"), NOW)

    assert 1 == ours.remove({"m1", "m2"}, "ana")

    session = ours.get("s1")
    assert session is not None
    assert ["m2"] == [m.id for m in session.window]


def test_a_result_is_left_out_whose_call_was_made_elsewhere() -> None:
    """No provider takes a result without its call."""
    ours = conversations()

    def call(name: str, session: str) -> Message:
        use = ToolUse(id="c1", name="look_up", arguments="{}")
        return Message(id=name, role="assistant", blocks=(use,), session=session)

    def result(name: str, session: str) -> Message:
        return Message(
            id=name, role="tool", blocks=(ToolResult(id="c1", text="x"),), session=session
        )

    for message in (call("m1", "one"), result("m2", "two"), result("m3", "one")):
        ours.add(message, NOW)

    assert [("one", ["m1", "m3"]), ("two", [])] == [
        (name, [m.id for m in session.window]) for name, session in ours
    ]


def test_conversations_come_back_or_stay_as_they_are() -> None:
    """A damaged state is refused whole."""
    ours, again = conversations(), conversations()
    ours.add(said("user", "a", id="m1", principal="ana", session="one"), NOW)
    state = json.loads(json.dumps(ours.save()))

    again.load(state)
    assert ours.save() == again.save()
    for damaged in (None, {}, {**state, "latest": 3}, {**state, "sessions": {"one": {}}}):
        with pytest.raises(StateError):
            again.load(damaged)
        assert ours.save() == again.save()


def test_a_conversation_is_read_when_it_is_asked_for() -> None:
    """Until then it is saved as it was, and all are told of in the same order."""
    before = conversations()
    for number, name in enumerate(["three", "one", "two"]):
        message = said("user", name, id=f"m{number}", principal="ana", session=name)
        before.add(message, NOW)
    saved = json.loads(json.dumps(before.save()))
    made: list[str] = []

    def make(name: str) -> SessionHistory:
        made.append(name)
        return SessionHistory(COUNTER, messages=4, keep=200, limit=50)

    after = Conversations(make)
    after.load_late(saved)
    session = after.get("two")

    assert session is not None
    assert ["m2"] == [m.id for m in session.window]
    assert (["two"], saved) == (made, after.save())
    assert "two" == after.latest("ana")
    assert ["one", "three", "two"] == [name for name, _ in after] == after.names()
    assert 1 == after.remove({"m0"}, "ana")
    assert after.get("four") is None
