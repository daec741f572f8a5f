"""What the model was sent is kept small, and reads back whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.context import Context, Section, SectionName
from memsim.message import EPOCH, Message, composed, said
from memsim.replay.context_recorder import ContextRecorder
from memsim.report.playback import Playback, PlaybackFrame
from memsim.scenario.script import Fact

if TYPE_CHECKING:
    from collections.abc import Sequence


def section(layer: SectionName, *messages: Message) -> Section:
    return Section(layer=layer, messages=messages, tokens=7 * len(messages))


def read(lines: Sequence[str]) -> tuple[list[PlaybackFrame], Playback]:
    playback = Playback(json.loads(line) for line in lines)
    return list(playback.frames()), playback


def shown(frame: PlaybackFrame, playback: Playback) -> list[tuple[str, list[tuple[str, str]]]]:
    """A frame's context as layers with the ids and texts of their messages."""
    return [
        (part.layer, [(playback.messages[n].id, playback.messages[n].text) for n in part.messages])
        for part in frame.sent or ()
    ]


def made_from(told: Playback) -> dict[str, list[tuple[str, ...]]]:
    """What each composed message was made from, version by version."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for message in told.messages:
        if message.composed:
            ids = (told.messages[x].id if isinstance(x, int) else x for x in message.derived)
            found.setdefault(message.id, []).append(tuple(ids))
    return found


def texts(context: Context) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(s.layer, [(m.id, m.text) for m in s.messages]) for s in context.sections]


@st.composite
def cases(draw: st.DrawFn) -> list[tuple[tuple[Message, ...], Context | None]]:
    """Turns: what was said, and a context of messages old, new, changed and made."""
    heard: list[Message] = []
    turns: list[tuple[tuple[Message, ...], Context | None]] = []
    for turn in range(draw(st.integers(1, 8))):
        words = draw(st.lists(st.sampled_from(["a", "b\nc", "", 'x"\\', "\u2028é"]), max_size=3))
        fresh = tuple(said("user", w, id=f"m{turn}.{n}") for n, w in enumerate(words))
        heard += fresh
        made = composed(
            "system",
            "\n".join(m.text for m in heard[: draw(st.integers(0, 4))]),
            id=draw(st.sampled_from(["s", f"s{turn}"])),
            derived_from=tuple(m.id for m in heard[draw(st.integers(0, 2)) :]),
        )
        start, end = sorted((draw(st.integers(0, len(heard))), draw(st.integers(0, len(heard)))))
        changed = [said("user", m.text + "!", id=m.id) for m in heard[:1]]
        picked = draw(st.lists(st.sampled_from([*heard, *changed, made]), max_size=5))
        sections = (section("window", *heard[start:end]), section("recalled", *picked))
        turns.append((fresh, draw(st.sampled_from([None, Context(sections=sections)]))))
    return turns


@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_context_reads_back(turns: list[tuple[tuple[Message, ...], Context | None]]) -> None:
    """Whatever a context has in common with the one before, the same messages come back."""
    lines: list[str] = []
    recorder = ContextRecorder(lines)
    for number, (fresh, context) in enumerate(turns):
        for message in fresh:
            recorder.hear(message)
        recorder.turn(number, context)
        recorder.probe("q", number, context)

    frames, playback = read(lines)

    for (fresh, context), turn, probe in zip(turns, frames[::2], frames[1::2], strict=True):
        assert [m.id for m in fresh] == [playback.messages[n].id for n in turn.said]
        assert (context is None) == (turn.sent is None)
        assert texts(context or Context()) == shown(turn, playback) == shown(probe, playback)


def test_what_a_text_was_made_from_reads_back() -> None:
    """Also where it shares a beginning with the one before, or none."""
    ways = [("a", "b"), ("a", "b", "c"), ("a", "c"), ("x",), ()]
    lines: list[str] = []
    recorder = ContextRecorder(lines)
    recorder.hear(said("user", "said", id="c"))
    for turn, way in enumerate(ways):
        summary = composed("system", f"summary {turn}", id=f"s{turn}", derived_from=way)
        recorder.turn(turn, Context(sections=(section("summary", summary),)))

    assert {f"s{n}": [way] for n, way in enumerate(ways)} == made_from(read(lines)[1])


def test_a_window_that_moved_is_told_in_a_few_numbers() -> None:
    """What a turn costs does not depend on how much stays in the window."""
    lines: list[str] = []
    recorder = ContextRecorder(lines)
    messages = [said("user", f"line {n}", id=f"m{n}") for n in range(500)]
    for message in messages:
        recorder.hear(message)
    recorder.turn(1, Context(sections=(section("window", *messages[:400]),)))
    recorder.turn(2, Context(sections=(section("window", *messages[2:402]),)))

    assert '{"turn":2,"said":0,"sent":[["window",2800,[[2,398],400,401]]]}' == lines[1]


def test_a_line_that_stood_before_is_told_by_its_number() -> None:
    """A block that is recalled again and again is written once."""
    lines: list[str] = []
    recorder = ContextRecorder(lines)
    for turn, text in enumerate(("one\ntwo", "two\nthree")):
        made = composed("user", text, id=f"r{turn}", quotes=("m9",))
        recorder.turn(turn, Context(sections=(section("recalled", made),)))

    assert '"new":[["r1","user","memory",[1,"three"],["m9"],[0]]]' in lines[1]


def test_facts_are_told_with_the_message_that_states_them() -> None:
    """The timeline begins where a fact was planted."""
    lines: list[str] = []
    recorder = ContextRecorder(lines)
    recorder.hear(said("user", "My order is A-17.", id="m1"))
    fact = Fact(
        id="order", value="A-17", source="m1", principal="user", turn=1, time=EPOCH, session="s1"
    )
    recorder.turn(1, None, [fact])

    assert (("order", 0, "A-17"),) == read(lines)[0][0].facts


@pytest.mark.parametrize("most", [0, 60, 200])
def test_a_case_that_is_too_long_says_where_its_record_ends(most: int) -> None:
    """Nothing after that is kept, and it is told once."""
    lines: list[str] = []
    recorder = ContextRecorder(lines, most)
    for turn in range(9):
        recorder.hear(said("user", f"some words of turn {turn}", id=f"m{turn}"))
        recorder.turn(turn, None)
        recorder.probe("q", turn, None)

    frames, playback = read(lines)

    assert lines[-1] == f'{{"full":{playback.full}}}'
    assert sum(map(len, lines[:-1])) <= most
    assert all(frame.turn <= (playback.full or 0) for frame in frames)
    assert 1 == sum("full" in line for line in lines)
