"""A conversation is put together from calls that were sent its history again and again."""

from __future__ import annotations

from memsim.traces.call_history import TracedCall, conversations_of
from memsim.traces.records import TraceMessage


def told(*calls: tuple[str, str], compacted: bool = False) -> list[tuple[str, str]]:
    """Roles and texts of calls, each written as what was sent and what came back."""
    made = [
        TracedCall(
            conversation="c",
            inputs=tuple(map(message, sent.split())),
            outputs=tuple(map(message, answer.split())),
            compacted=compacted,
        )
        for sent, answer in calls
    ]
    [found] = conversations_of(made)
    return [(m.role[0], m.text) for m in found.messages]


def message(text: str) -> TraceMessage:
    """`u1` is the user's first message, `a1` the assistant's, `s1` an instruction."""
    roles = {"u": "user", "a": "assistant", "s": "system", "x": "user"}
    return TraceMessage(roles[text[0]], text)  # type: ignore[arg-type]


def said(text: str) -> list[tuple[str, str]]:
    """The same as roles and texts; `x` is what a compaction left."""
    return [("c" if each[0] == "x" else each[0], each) for each in text.split()]


def test_what_was_sent_before_comes_once() -> None:
    """Each call is sent all messages again."""
    assert said("s1 u1 a1 u2 a2") == told(("s1 u1", "a1"), ("s1 u1 a1 u2", "a2"))


def test_single_messages_are_new() -> None:
    """An agent that keeps its history on the server sends the latest message alone."""
    assert said("u1 a1 u2 a2") == told(("u1", "a1"), ("u2", "a2"))


def test_an_answer_that_is_told_in_other_words_is_known() -> None:
    """A trace may tell an answer with more parts than the next call is sent."""
    assert said("u1 a1 u2 a2") == told(("u1", "a1"), ("u1 a9 u2", "a2"))


def test_a_retry_is_known() -> None:
    """The same call again says nothing new but its answer."""
    assert said("u1 a1 a2") == told(("u1", "a1"), ("u1", "a2"))


def test_a_shorter_history_is_a_compaction() -> None:
    """A text stands for the first messages, and the last ones are known."""
    calls = ("u1", "a1"), ("u1 a1 u2", "a2"), ("x1 u2 a2 u3", "a3"), ("x1 u2 a2 u3 a3 u4", "a4")

    assert said("u1 a1 u2 a2 x1 u3 a3 u4 a4") == told(*calls)


def test_a_window_that_slides_leaves_no_text() -> None:
    """The agent sent the last messages only."""
    assert said("u1 a1 u2 a2 u3 a3") == told(("u1", "a1"), ("u1 a1 u2", "a2"), ("u2 a2 u3", "a3"))


def test_new_instructions_come_where_they_changed() -> None:
    """And the history is still known."""
    assert said("s1 u1 a1 s2 u2 a2") == told(("s1 u1", "a1"), ("s2 u1 a1 u2", "a2"))


def test_the_trace_may_say_that_it_compacted() -> None:
    """Then the first message stands for all before, though nothing is known of it."""
    assert said("x1 u2 a2") == told(("x1 u2", "a2"), compacted=True)


def test_a_call_beside_the_conversation_is_no_part_of_its_history() -> None:
    """An agent that asks for a title goes on where it was."""
    calls = ("u1", "a1"), ("x9", "a9"), ("u1 a1 u2", "a2"), ("u1 a1 u2 a2 u3", "a3")

    assert [*said("u1 a1"), ("u", "x9"), *said("a9 u2 a2 u3 a3")] == told(*calls)
