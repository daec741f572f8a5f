"""The small parts: whose memory it is, what a request to erase means, and state as JSON."""

from __future__ import annotations

import json
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.errors import StateError
from memsim.memory.codec import pack, unpack
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Archive, Window
from memsim.memory.index.bm25 import Bm25
from memsim.memory.scope import MemoryScopes
from memsim.message import (
    Block,
    Message,
    Role,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    load_tokenizer,
    said,
)

counter = TokenCounter(load_tokenizer("chars/4"))
words = st.text(max_size=8)
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, words),
    st.builds(ToolUse, id=words, name=words, arguments=words),
    st.builds(ToolResult, id=words, text=words, is_error=st.booleans()),
)
roles: st.SearchStrategy[Role] = st.sampled_from(("system", "user", "assistant", "tool"))
messages = st.builds(
    Message,
    id=words,
    role=roles,
    blocks=st.lists(blocks, max_size=3).map(tuple),
    principal=words,
    session=words,
    turn=st.integers(0, 99),
    time=st.datetimes(timezones=st.just(UTC)),
    quotes=st.lists(words, max_size=2).map(tuple),
    derived_from=st.lists(words, max_size=2).map(tuple),
    composed=st.booleans(),
)


@given(st.lists(messages, max_size=4))
def test_messages_come_back_as_they_were(saved: list[Message]) -> None:
    """Every field survives JSON, lone surrogates and microseconds included."""
    again = unpack(json.loads(json.dumps(pack(saved))))

    assert saved == again


@pytest.mark.parametrize(
    "damaged", [None, 3, "x", "", {}, [3], [{}], [{"id": "m"}], {"a": 1}, [[1, 2]]]
)
def test_a_damaged_state_is_an_error_of_its_own(damaged: object) -> None:
    """What cannot be read back is told as that, whatever is wrong with it."""
    with pytest.raises(StateError):
        unpack(damaged)
    if damaged != {}:
        with pytest.raises(StateError):
            MemoryScopes("shared", lambda: Window(counter)).load(damaged)


def scoped(scope: str) -> MemoryScopes[Window]:
    """Windows of two principals."""
    windows = MemoryScopes(scope, lambda: Window(counter))
    for number, who in enumerate(("ana", "bo", "ana")):
        windows.of(who).add(said("user", "hello", id=f"m{number}", principal=who))
    return windows


def ids(window: Window) -> list[str]:
    """What is in it."""
    return [m.id for m in window]


def test_a_shared_memory_is_everybodys() -> None:
    """All write to one part, and see it."""
    windows = scoped("shared")

    assert ["m0", "m1", "m2"] == ids(windows.seen_by("bo"))
    assert [3] == [len(window) for window in windows.visible("nobody")]


def test_a_memory_by_principal_is_each_ones_own() -> None:
    """A principal sees what was theirs, a viewer no other's part, and nobody all of it."""
    windows = scoped("principal")

    assert ["m0", "m2"] == ids(windows.seen_by("ana"))
    assert [["m1"]] == [ids(window) for window in windows.visible("bo")]
    assert [] == list(windows.visible("cy"))
    assert 2 == len(list(windows.visible(None)))


@pytest.mark.parametrize("scope", ["shared", "principal"])
def test_reading_leaves_no_trace(scope: str) -> None:
    """Who asks without ever having spoken is not remembered for it."""
    windows = scoped(scope)
    expected = json.dumps(windows.save())
    windows.seen_by("cy")

    assert expected == json.dumps(windows.save())
    again = MemoryScopes(scope, lambda: Window(counter))
    again.load(windows.save())
    assert expected == json.dumps(again.save())


def test_an_unknown_scope_is_refused() -> None:
    """There are two, and the message names them."""
    with pytest.raises(ValueError, match="'shared' or 'principal'"):
        MemoryScopes("private", lambda: Window(counter))


OWN = {
    "m1": "My card ends in 4411.",
    "m2": "Please forget my card number.",
    "m3": "The kayak is red.",
}


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("anything", ("m3", "m1"), ("m1", "m3")),
        ("anything", ("m9",), ()),
        ("Forget the card, please.", (), ("m2",)),
        ("Please forget my card number.", (), ("m1",)),
        ("Where is the canoe?", (), ()),
    ],
)
def test_a_request_means_what_it_names_or_speaks_of(
    text: str, sources: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """Named messages that are one's own, else the best match that is not the request itself."""
    assert expected == requested_message(text, sources, OWN)


def test_an_archive_indexes_who_said_it() -> None:
    """A question that names a person finds what the person said."""
    archive = Archive(counter, Bm25())
    archive.add(said("user", "I paint.", id="m1", principal="Melanie"))
    archive.add(said("user", "I paint.", id="m2", principal="Caroline"))

    assert "m2" == archive.rankers[0].search("What does Caroline do?", 1)[0].id
    assert ["m2"] == [m.id for m in archive.remove(["m2", "unknown"])]
    assert [] == archive.rankers[0].search("Caroline", 1)
    again = Archive(counter, Bm25())
    again.load(archive.save())
    assert ["m1"] == [m.id for m in again.log]
    assert archive.rankers[0].ranking("paint") == again.rankers[0].ranking("paint")
