"""Messages in columns: the same messages in the same order, in little memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memsim.memory.history import message_columns
from memsim.memory.history.message_columns import MessageColumns
from memsim.message import EPOCH, Message, Text, ToolResult, composed, said

LEAN = 250
"""Bytes of a message with a text of 60 characters."""

IDS = st.one_of(
    st.integers(1, 10**20).map("m{}".format), st.sampled_from(["m01", "m", "", "D3:7", "m\u0663"])
)
TIMES = st.one_of(
    st.datetimes(timezones=st.just(UTC)),
    st.just(datetime(2026, 1, 5, tzinfo=timezone(timedelta(hours=2)))),
)
ORIGINALS = st.builds(
    Message,
    id=IDS,
    role=st.sampled_from(["user", "assistant", "system"]),
    blocks=st.one_of(
        st.text(st.characters(), max_size=9).map(lambda text: (Text(text),)),
        st.just(()),
        st.just((Text("a"), Text("b"))),
        st.just((ToolResult(id="c", text="found"),)),
    ),
    principal=st.sampled_from(["ana", "ben"]),
    session=st.sampled_from(["s1", "s2"]),
    turn=st.one_of(st.integers(0, 9), st.sampled_from([-1, 2**31])),
    time=TIMES,
)
MESSAGES = st.one_of(
    ORIGINALS,
    st.just(composed("system", "a summary", id="m7", quotes=("m1",), derived_from=("m2",))),
    st.just(replace(said("user", "a part", id="m8"), excerpts=("m1",))),
)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few messages are in columns already."""
    monkeypatch.setattr(message_columns, "BLOCK", 3)
    monkeypatch.setattr(message_columns, "PLAIN", 2)
    monkeypatch.setattr(message_columns, "_MADE", 2)


STEPS = st.one_of(MESSAGES, MESSAGES, MESSAGES, MESSAGES, st.integers(0, 5))
HALF = [said("user", "half \ud83d", id=f"m{n}") for n in range(1, 12)]
TWICE = datetime(2026, 10, 25, 1, 30, fold=1, tzinfo=UTC)


@given(st.lists(STEPS, max_size=40), st.data())
@example([*HALF, 4], None)
@example([replace(m, time=TWICE) for m in HALF], None)
def test_messages_are_read_as_from_a_list(
    steps: list[Message | int], data: st.DataObject | None
) -> None:
    """Whatever messages there are, and however many of the oldest were dropped."""
    expected: list[Message] = []
    found = MessageColumns()
    for step in steps:
        if isinstance(step, Message):
            expected.append(step)
            found.append(step)
        else:
            del expected[:step]
            found.drop(min(step, len(found)))
    start, end = sorted(
        (data.draw(st.integers(0, len(expected))), data.draw(st.integers(0, len(expected))))
        if data
        else (1, 7)
    )

    assert len(expected) == len(found)
    assert expected == [found[place] for place in range(len(found))]
    assert [m.time.fold for m in expected] == [m.time.fold for m in found.since(0)]
    assert expected[start:end] == found.between(start, end)
    assert expected[start:] == list(found.since(start))


def test_who_asks_again_is_given_the_same_message() -> None:
    """Contexts are compared by identity first."""
    found = MessageColumns()
    for number in range(1, 20):
        found.append(said("user", str(number), id=f"m{number}"))

    assert found[0] is found[0]
    assert found.between(0, 2)[1] is found[1]


def test_messages_are_walked_as_they_were() -> None:
    """What is added or dropped meanwhile is not seen."""
    found = MessageColumns()
    for number in range(1, 12):
        found.append(said("user", str(number), id=f"m{number}"))
    walk = found.since(1)
    before = [next(walk).id]
    found.drop(7)
    found.append(said("user", "12", id="m12"))

    assert [f"m{n}" for n in range(2, 12)] == before + [m.id for m in walk]
    assert [f"m{n}" for n in range(8, 13)] == [m.id for m in found.since(0)]


def test_a_message_in_columns_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million turns have two millions of them."""
    monkeypatch.setattr(message_columns, "BLOCK", 100)
    found = MessageColumns()

    def fill(numbers: range) -> int:
        before = tracemalloc.get_traced_memory()[0]
        for number in numbers:
            time = EPOCH + timedelta(minutes=number)
            text = f"{number:>60}"
            found.append(said("user", text, id=f"m{number}", turn=number, time=time))
        return tracemalloc.get_traced_memory()[0] - before

    fill(range(1, 1_001))
    tracemalloc.start()
    try:
        grown = fill(range(1_001, 5_001))
    finally:
        tracemalloc.stop()

    assert grown / 4_000 < LEAN
