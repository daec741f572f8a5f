"""Messages: their text, their provenance, their tool calls."""

from __future__ import annotations

import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.message import (
    EPOCH,
    Message,
    Role,
    Text,
    ToolResult,
    ToolUse,
    block_text,
    composed,
    paired,
    said,
)

CALL = ToolUse(id="c1", name="search", arguments='{"q":"x"}')
RESULT = ToolResult(id="c1", text="found")


def calling(number: int, *ids: str) -> Message:
    """An assistant's message that calls tools."""
    blocks = tuple(ToolUse(id=key, name="search", arguments="{}") for key in ids)
    return Message(id=f"m{number}", role="assistant", blocks=blocks)


def answering(number: int, *ids: str) -> Message:
    """A tool's message that answers calls."""
    blocks = tuple(ToolResult(id=key, text="ok") for key in ids)
    return Message(id=f"m{number}", role="tool", blocks=blocks)


def test_a_message_reads_as_its_blocks() -> None:
    """A call reads as name and arguments, a result as what it says."""
    message = Message(id="m1", role="assistant", blocks=(Text("Let me see."), CALL, RESULT))

    assert message.text == 'Let me see.\nsearch({"q":"x"})\nfound'
    assert [block_text(b) for b in message.blocks] == message.text.split("\n")
    assert Message(id="m2", role="user", blocks=()).text == ""


def test_what_is_said_has_one_block_of_text() -> None:
    """And any other field of a message."""
    message = said("user", "Hi.", id="m1", principal="ane", session="s2", turn=3)

    assert message == Message(
        id="m1", role="user", blocks=(Text("Hi."),), principal="ane", session="s2", turn=3
    )
    assert (message.text, message.time, message.composed) == ("Hi.", EPOCH, False)


def test_an_original_stands_for_itself() -> None:
    """Its words are its own; what is composed has only those that it quotes."""
    original = said("user", "Hi.", id="m1")
    recalled = composed("system", "Hi.", id="r1", quotes=("m1",), derived_from=("m2",))

    assert original.verbatim == ("m1",)
    assert (recalled.verbatim, recalled.derived_from) == (("m1",), ("m2",))
    assert composed("system", "A summary.", id="s1").verbatim == ()
    assert (recalled.composed, recalled.principal) == (True, "memory")


def test_calls_and_results_are_told_by_id() -> None:
    """Of whatever else a message holds, too."""
    message = Message(id="m1", role="assistant", blocks=(Text("x"), CALL, RESULT))

    assert (message.calls, message.results) == (("c1",), ("c1",))
    assert (said("user", "x", id="m2").calls, said("user", "x", id="m2").results) == ((), ())


def test_a_message_cannot_be_changed() -> None:
    """It is what was said."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        said("user", "Hi.", id="m1").turn = 2  # type: ignore[misc]


def test_messages_cross_process_borders() -> None:
    """With their text, which is not compared and not shown."""
    message = Message(id="m1", role="assistant", blocks=(Text("x"), CALL, RESULT))
    again = pickle.loads(pickle.dumps(message))  # noqa: S301 - our own bytes

    assert (again, again.text) == (message, message.text)
    assert "text='x" not in repr(message).replace("Text(text='x'", "")
    assert dataclasses.replace(message, blocks=(Text("y"),)).text == "y"


def test_pairs_are_whole_or_gone() -> None:
    """A call that nobody answers and a result that nobody asked for are left out."""
    messages = (
        said("user", "a", id="m1"),
        calling(2, "c1"),
        answering(3, "c1"),
        calling(4, "lost"),
        answering(5, "unasked"),
        said("user", "b", id="m6"),
    )

    assert [m.id for m in paired(messages)] == ["m1", "m2", "m3", "m6"]
    assert paired(iter(messages)) == paired(messages)


def test_a_result_belongs_to_the_call_before_it() -> None:
    """Agents use ids again: a later call is not answered by an earlier result."""
    half = (calling(1, "c1", "c2"), answering(2, "c2"), calling(3, "c2"))
    whole = (calling(1, "c1"), answering(2, "c1"), calling(3, "c1"), answering(4, "c1"))

    assert ["m3"] == [m.id for m in paired(half)]
    assert whole == paired(whole)
    assert whole[:2] == paired((*whole[:2], answering(5, "c1")))


def test_the_last_message_may_still_be_answered() -> None:
    """Its results are to come."""
    assert paired((calling(1, "c1"),)) == (calling(1, "c1"),)
    assert paired((calling(1, "c1"), said("user", "x", id="m2")))[0].id == "m2"


def test_a_message_with_one_broken_pair_is_broken() -> None:
    """Providers refuse it as a whole."""
    messages = (calling(1, "c1", "c2"), answering(2, "c1"), said("user", "x", id="m3"))

    assert "m1" not in [m.id for m in paired(messages)]


def test_messages_without_tools_are_left_as_they_are() -> None:
    """The very same tuple."""
    messages = (said("user", "a", id="m1"), said("assistant", "b", id="m2"))

    assert paired(messages) is messages
    assert paired(()) == ()


ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=12))
def test_what_is_paired_stays_in_order(steps: list[tuple[bool, int]]) -> None:
    """Nothing is added or moved, and what is left are calls and results of each other."""
    messages = tuple(
        (calling if calls else answering)(n, f"c{which}") for n, (calls, which) in enumerate(steps)
    )

    kept = paired(messages)

    assert [m for m in messages if m in kept] == list(kept)
    pending = set(messages[-1].calls) if messages else set()
    called = {c for m in messages for c in m.calls}
    assert all(called.issuperset(m.results) for m in kept)
    assert all({r for m in messages for r in m.results} | pending >= set(m.calls) for m in kept)


@given(st.sampled_from(ROLES), st.text())
def test_text_is_kept_as_it_is(role: Role, text: str) -> None:
    """Zero-width, bidirectional and lone characters included."""
    assert said(role, text, id="m1").text == text
    assert composed(role, text, id="r1").text == text
