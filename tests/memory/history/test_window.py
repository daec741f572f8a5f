"""The window: whole groups, exact tokens, nothing lost unnoticed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memsim.context import Context, ContextBuilder
from memsim.errors import StateError
from memsim.memory.history import message_columns
from memsim.memory.history.window import Window
from memsim.memory.index import id_places
from memsim.message import (
    EPOCH,
    Block,
    Message,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    composed,
    load_tokenizer,
    paired,
    said,
)

counter = TokenCounter(load_tokenizer("chars/4"))
build = ContextBuilder(counter)


def call(name: str, *calls: str, day: int = 0) -> Message:
    """An assistant's message that makes calls."""
    uses: list[Block] = [ToolUse(id=c, name="look", arguments="{}") for c in calls]
    blocks = (Text("wait"), *uses)
    return Message(id=name, role="assistant", blocks=blocks, time=EPOCH + timedelta(days=day))


def result(name: str, *calls: str, day: int = 0) -> Message:
    """A tool's answers to calls."""
    blocks = tuple(ToolResult(id=c, text=f"seen {c}") for c in calls)
    return Message(id=name, role="tool", blocks=blocks, time=EPOCH + timedelta(days=day))


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    """Conversations over days, with tool calls and results, sometimes with words between."""
    said_so_far: list[Message] = []
    day = 0
    for turn in range(draw(st.integers(0, 12))):
        day += draw(st.sampled_from((0, 0, 0, 1)))
        at = EPOCH + timedelta(days=day)
        text = draw(st.sampled_from(("", "ok", "a few words here", "long " * 20)))
        said_so_far.append(said("user", text, id=f"u{turn}", time=at))
        if draw(st.booleans()):
            calls = [f"{turn}.{n}" for n in range(draw(st.integers(1, 3)))]
            said_so_far.append(call(f"c{turn}", *calls, day=day))
            for each in calls:
                if draw(st.integers(0, 9)) == 0:
                    said_so_far.append(said("user", "wait", id=f"w{turn}{each}", time=at))
                said_so_far.append(result(f"r{each}", each, day=day))
        said_so_far.append(said("assistant", "done", id=f"a{turn}", time=at))
    return said_so_far


def filled(talk: list[Message], **limits: int) -> tuple[Window, list[Message]]:
    """A window of these messages, and what left it."""
    window = Window(counter, **limits)
    return window, [gone for message in talk for gone in window.add(message)]


@given(talks(), st.integers(1, 12))
def test_the_latest_messages_stay_and_groups_stay_whole(talk: list[Message], limit: int) -> None:
    """What left and what stayed are the whole, in order; at most the limit, or one group, stays."""
    window, gone = filled(talk, messages=limit)
    kept = list(window)

    assert talk == gone + kept
    assert tuple(kept) == paired(tuple(kept))
    if len(kept) > limit:
        event("a group larger than the window")
        assert tuple(kept) == window.group(kept[-1].id)
    assert len(kept) == len(window)


@given(talks(), st.integers(1, 120))
def test_a_window_of_tokens_keeps_as_much_as_fits(talk: list[Message], limit: int) -> None:
    """The oldest group that left would not have fitted any more."""
    window, gone = filled(talk, tokens=limit)
    kept = list(window)

    assert talk == gone + kept
    assert tuple(kept) == paired(tuple(kept))
    assert build.tokens(kept) == window.tokens
    assert bool(talk) == bool(kept)
    assert window.tokens <= limit or tuple(kept) == window.group(kept[-1].id)


@given(talks(), st.integers(-5, 300), st.one_of(st.none(), st.integers(1, 12)))
def test_a_section_is_the_most_that_fits(
    talk: list[Message], budget: int, last: int | None
) -> None:
    """Its tokens are exact, never over the budget, and one more group would be too much."""
    window, _ = filled(talk)
    section = window.section(budget, last=last)
    held = len(section.messages)

    assert section == build.section("window", talk[len(talk) - held :])
    assert section.tokens <= max(budget, 0)
    assert section.messages == paired(section.messages)
    older = talk[: len(talk) - held]
    if older and (last is None or held + len(window.group(older[-1].id)) <= last):
        more = window.group(older[-1].id)
        assert build.tokens((*more, *section.messages)) > budget
        event("cut by the budget")


def numbered(talk: list[Message]) -> list[Message]:
    """The same talk with most ids as a script numbers them."""
    return [
        m if m.id.startswith("w") else replace(m, id=f"m{place}", turn=place)
        for place, m in enumerate(talk, 1)
    ]


@given(talks(), st.one_of(st.none(), st.integers(1, 12)), st.data())
def test_a_window_in_columns_is_the_same_window(
    talk: list[Message], limit: int | None, data: st.DataObject
) -> None:
    """How messages are held is seen by nobody: not by who asks, drops, removes or saves."""
    talk = numbered(talk)
    limits = {} if limit is None else {"messages": limit}
    plain, gone = filled(talk, **limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_columns, "BLOCK", 2)
        patch.setattr(message_columns, "PLAIN", 1)
        patch.setattr(message_columns, "_MADE", 2)
        patch.setattr(id_places, "PLAIN", 2)
        packed, packed_gone = filled(talk, **limits)
        wanted = data.draw(st.lists(st.sampled_from([m.id for m in talk]))) if talk else []

        assert gone == packed_gone
        for _ in range(2):
            assert list(plain) == list(packed)
            assert plain.save() == packed.save()
            assert plain.section(40) == packed.section(40)
            assert plain.section(1000) == packed.section(1000)
            assert plain.older(40) == packed.older(40)
            for message in talk:
                name = message.id
                assert (name in plain) == (name in packed)
                assert plain.beside(name) == packed.beside(name)
                if name in plain:
                    assert plain.get(name) == packed.get(name)
                    assert packed.get(name) is packed.get(name)
                    assert plain.group(name) == packed.group(name)
                    assert plain.place(name) == packed.place(name)
            assert plain.remove(wanted) == packed.remove(wanted)


@given(talks(), st.integers(1, 12), st.data())
def test_a_window_that_was_cut_is_a_window_of_what_is_left(
    talk: list[Message], limit: int, data: st.DataObject
) -> None:
    """Dropping, removing and saving leave what a fresh window of the same messages would hold."""
    window, _ = filled(talk, messages=limit)
    wanted = data.draw(st.lists(st.sampled_from([m.id for m in talk]))) if talk else []
    kept_before = list(window)
    removed = window.remove(wanted)
    left = [m for m in kept_before if m not in removed]
    again = Window(counter, messages=limit)
    again.load(window.save())

    assert {i for i in wanted if any(m.id == i for m in kept_before)} <= {m.id for m in removed}
    assert left == list(window) == list(again)
    assert tuple(left) == paired(tuple(left))
    assert (
        again.section(40)
        == window.section(40)
        == build.section("window", window.section(40).messages)
    )


def test_a_call_is_removed_with_its_results_and_no_more() -> None:
    """Partners go together; a message between them stays."""
    talk = [call("c", "1", "2"), said("user", "wait", id="u"), result("r1", "1"), result("r2", "2")]
    window, _ = filled(talk)

    assert ("c", "r1", "r2") == tuple(m.id for m in window.remove(["r1"]))
    assert ["u"] == [m.id for m in window]


def test_older_groups_are_the_ones_beyond_a_number_of_tokens() -> None:
    """They are whole, the rest fits, and the newest group is never among them."""
    talk = [said("user", "long " * 20, id="u"), call("c", "1"), result("r", "1")]
    window, _ = filled(talk)

    assert ["u"] == [m.id for m in window.older(40)]
    assert ["u"] == [m.id for m in window.older(0)]
    assert () == window.older(1000)
    assert ("u",) == tuple(m.id for m in window.drop(1))
    assert ["c", "r"] == [m.id for m in window]


def test_the_oldest_are_taken_by_whole_groups() -> None:
    """A group that only begins among them is none of them."""
    talk = [
        said("user", "Hi.", id="a"),
        call("b", "c1"),
        result("c", "c1"),
        said("user", "x", id="d"),
    ]
    window, _ = filled(talk, messages=10)

    found = [[m.id for m in window.oldest(count)] for count in range(5)]

    assert [[], ["a"], ["a"], ["a", "b", "c"], ["a", "b", "c", "d"]] == found


def test_composed_messages_carry_no_date() -> None:
    """As in any section, only what was really said opens a day."""
    talk = [composed("system", "a summary", id="s"), said("user", "hello", id="u")]
    window, _ = filled(talk)

    assert build.section("window", talk) == window.section(1000)


def test_messages_are_found_by_id() -> None:
    """Where a message stands, what is beside it, and that it has left."""
    window, _ = filled([said("user", str(n), id=f"m{n}") for n in range(6)], messages=4)

    assert "m1" not in window
    assert window.place("m2") < window.place("m3")
    assert ("m3",) == window.beside("m2")
    assert ("m3", "m5") == window.beside("m4")
    assert () == window.beside("m0")
    assert "4" == window.get("m4").text
    with pytest.raises(KeyError):
        window.get("m0")


def test_a_long_conversation_is_not_kept() -> None:
    """The window holds its messages and a few dropped ones, however many there were."""
    window, gone = filled([said("user", str(n), id=f"m{n}") for n in range(5000)], messages=10)

    assert 4990 == len(gone)
    assert len(window._messages) < 200
    assert len(window._groups) == 10
    assert build.section("window", list(window)) == window.section(10_000)


def test_a_context_of_a_section_pairs_nothing_away() -> None:
    """A provider gets every message that the section counted."""
    window, _ = filled([call("c", "1"), result("r", "1"), said("user", "so?", id="u")])
    context = Context(sections=(window.section(1000),))

    assert 3 == len(context.messages())


def test_a_saved_window_that_holds_a_message_twice_is_refused() -> None:
    """Its ids name one message each; the window is left as it was."""
    window = Window(counter)
    window.add(said("user", "hello", id="m1"))
    saved = window.save()
    assert isinstance(saved, list)

    fresh = Window(counter)
    with pytest.raises(StateError, match="the message 'm1' stands twice in a window"):
        fresh.load([*saved, *saved])

    assert 0 == len(fresh)
