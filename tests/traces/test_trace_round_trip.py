"""What is exported is imported again without loss."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.message import EPOCH
from memsim.traces.conversation_file import (
    SessionLine,
    header_line,
    read_conversation_file,
    session_lines,
)
from memsim.traces.exports import EXPORTS, trace_export
from memsim.traces.records import TraceCall, TraceConversation, TraceDocument, TraceMessage
from tests.traces.conftest import read_trace

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
WORDS = st.text("abc-ä", min_size=1, max_size=6)
ARGUMENTS = st.sampled_from(["{}", '{"a":1}', '{"a": [1, 2]}', "not json", '["x"]', '"x"'])
SCORES = st.none() | st.floats(-10, 10).map(lambda score: round(score, 3))
DOCUMENTS = st.builds(TraceDocument, TEXTS, st.just("") | WORDS, SCORES)
STEPS = st.lists(st.sampled_from("usatrc"), min_size=1, max_size=14)


@st.composite
def conversations(draw: st.DrawFn, name: str = "c1") -> TraceConversation:
    """A conversation as `memsim import` leaves it: in order, with times, calls before results."""
    made: list[TraceMessage] = []
    now, waiting = EPOCH, list[str]()
    for number, step in enumerate(draw(STEPS)):
        now += timedelta(microseconds=draw(st.integers(0, 10**7)))
        if step == "t" and waiting:
            failed = draw(st.booleans())
            result = draw(TEXTS)
            made.append(TraceMessage("tool", result, now, answers=waiting.pop(), is_error=failed))
        elif step == "a":
            calls = draw(st.lists(st.tuples(WORDS, ARGUMENTS), max_size=2))
            called = tuple(TraceCall(f"{number}-{n}", *c) for n, c in enumerate(calls))
            waiting += [c.id for c in called]
            made.append(TraceMessage("assistant", draw(TEXTS), now, called))
        elif step == "r":
            documents = tuple(draw(st.lists(DOCUMENTS, max_size=2)))
            made.append(TraceMessage("recall", draw(TEXTS), now, documents=documents))
        elif step == "u":
            made.append(TraceMessage("user", draw(TEXTS), now, speaker=draw(st.just("") | WORDS)))
        elif step == "s" and not (made and made[-1].role == "system"):
            # The number makes it differ from the instructions before.
            made.append(TraceMessage("system", f"{number} {draw(TEXTS)}", now))
        elif step == "c" and made:
            made.append(TraceMessage("compaction", f"{number} {draw(TEXTS)}", now))
    made.append(TraceMessage("user", "end", now))
    return TraceConversation(id=name, messages=tuple(made), person=draw(WORDS), title="A talk")


@pytest.mark.parametrize("form", EXPORTS)
@settings(max_examples=25)
@given(data=st.data())
def test_an_export_is_read_back(form: str, data: st.DataObject) -> None:
    """Messages, calls, times, people, and what the memory was asked for and sent."""
    told = [data.draw(conversations("c1")), data.draw(conversations("c2"))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        with path.open("wb") as stream:
            trace_export(form)(told, stream)
        found, counts, _ = read_trace(path)

    assert told == found
    assert [] == [*counts.dropped, *counts.left_out, *counts.problems]


@settings(max_examples=25)
@given(conversation=conversations())
def test_a_conversation_file_is_read_back(conversation: TraceConversation) -> None:
    """Line by line, as it was written."""
    session = SessionLine("s1", "ana", "A talk")
    text = header_line("openai", 1, 60.0) + session_lines(session, conversation)

    read = [line for _, line in read_conversation_file(text.encode(), "x.jsonl")]

    assert [session, *conversation.messages] == read
