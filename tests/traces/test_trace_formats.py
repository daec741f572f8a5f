"""Every format is recognised by its content and read completely; the examples are of the docs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.errors import RefError
from memsim.traces.formats import trace_format, trace_formats
from memsim.traces.records import SPOKEN, TraceMessage
from tests.traces.conftest import Imported, ReadTrace

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "traces"

FIRST = [
    ("user", "My order is HG-4471, a lawn mower. It arrived with a bent blade."),
    ("assistant", ""),
    ("tool", '{"order":"HG-4471","item":"mower M2","paid":"249.00"}'),
    ("assistant", "I found order HG-4471. A new blade is on its way to you."),
]
SECOND = [
    ("user", "Hello again. The blade came, but the old one still has to go back."),
    ("assistant", "I will send a return label for the blade of HG-4471."),
    ("user", "As I told you, my address is now 12 Elm Road, not the shop's depot."),
    ("assistant", "Thank you. The label goes to 12 Elm Road."),
]
COMPACTED = [("user", "Which order was it for?"), ("assistant", "For HG-4471.")]
SYSTEM = "You are the support agent of a garden shop."

Written = Callable[[bytes | str], Imported]


def spoken(messages: tuple[TraceMessage, ...]) -> list[tuple[str, str]]:
    """Roles and texts of what is played."""
    return [(m.role, m.text) for m in messages if m.role in SPOKEN]


def test_every_example_is_read_completely(read_trace: ReadTrace, subtests: pytest.Subtests) -> None:
    """The same two conversations stand in each, as far as the format can hold them."""
    seen = set()
    for path in sorted(EXAMPLES.iterdir()):
        name = path.stem.removesuffix("_events")
        seen.add(name)
        with subtests.test(path=path.name):
            found, counts, names = read_trace(path)

            # ChatGPT's export shows no tools.
            plain = [said for said in FIRST if said[0] != "tool" and said[1]]
            last = COMPACTED if name == "claude_code" else []
            assert {name} == set(names)
            assert ([], "chat-1", "chat-2") == (counts.problems, *(c.id for c in found))
            assert spoken(found[0].messages) == (plain if name == "chatgpt" else FIRST)
            assert spoken(found[1].messages) == SECOND + last
    assert seen == set(trace_formats())


@pytest.mark.parametrize("name", ["atif", "otel", "openinference", "langsmith", "claude_code"])
def test_calls_people_and_times_are_kept(read_trace: ReadTrace, name: str) -> None:
    """Whatever the format names them."""
    (first, second), _, _ = read_trace(EXAMPLES / f"{name}.jsonl")
    call, result = first.messages[-3:-1]

    assert [("find_order", '{"number":"HG-4471"}')] == [(c.name, c.arguments) for c in call.calls]
    assert call.calls[0].id == result.answers
    assert ("" if name == "claude_code" else "ana") == first.person
    times = [m.time for m in (*first.messages, *second.messages)]
    assert times == sorted(time for time in times if time)


@pytest.mark.parametrize("name", ["otel", "openinference", "langsmith"])
def test_what_a_memory_returned_is_kept(read_trace: ReadTrace, name: str) -> None:
    """What it was asked for and when, the texts, and their ids and scores where they are told."""
    _, second = read_trace(EXAMPLES / f"{name}.jsonl")[0]
    [recall] = [m for m in second.messages if m.role == "recall"]

    assert ("return label address", 2) == (recall.text, len(recall.documents))
    assert recall.documents[0].text == FIRST[0][1]
    assert recall.time
    if name != "langsmith":
        assert ("mem-7", 0.81) == (recall.documents[0].id, recall.documents[0].score)
    assert [SYSTEM] == [m.text for m in second.messages if m.role == "system"]


def test_a_compaction_is_kept(read_trace: ReadTrace) -> None:
    """With the text that stood for what was not sent any more."""
    found, counts, _ = read_trace(EXAMPLES / "claude_code.jsonl")

    assert [m.text for m in found[1].messages if m.role == "compaction"] == [
        "Order HG-4471 needs a return label for its blade."
    ]
    assert {"event of type 'summary'": 1, "event of type 'system'": 1} == counts.dropped


def test_other_branches_are_counted(read_trace: ReadTrace) -> None:
    """ChatGPT's tree is followed from its last node to the root."""
    _, counts, _ = read_trace(EXAMPLES / "chatgpt.json")

    assert {"other branch": 1} == counts.dropped


def test_a_circle_of_parents_ends(written: Written) -> None:
    """A tree that is none does not hold up the import."""
    node = {"message": {"author": {"role": "user"}, "content": {"parts": ["hello"]}}}
    mapping = {"a": {**node, "parent": "b"}, "b": {**node, "parent": "a"}, "c": {"parent": "c"}}

    found, _, _ = written(json.dumps([{"mapping": mapping, "current_node": "a"}]))
    lost, _, _ = written(json.dumps([{"mapping": mapping, "current_node": "gone"}]))

    assert ["hello", "hello"] == [m.text for m in found[0].messages]
    assert 1 == len(lost)


def test_messages_of_a_log_with_answers(written: Written) -> None:
    """A request is followed by the first choice of its response."""
    messages = [{"role": "user", "content": "hi"}]
    choices = [{"message": {"role": "assistant", "content": "hello"}}]
    line = {"request": {"messages": messages}, "response": {"choices": choices}}

    found, _, _ = written(json.dumps(line))

    assert [("user", "hi"), ("assistant", "hello")] == spoken(found[0].messages)


def test_bare_messages_are_one_conversation(written: Written) -> None:
    """A list of messages, or one on each line."""
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]

    for content in (json.dumps(said, indent=2), "\n".join(map(json.dumps, said))):
        found, _, names = written(content)

        assert (["openai"], 1) == (names, len(found))
        assert [("user", "hi"), ("assistant", "hello")] == spoken(found[0].messages)


def test_message_events_of_older_agents(written: Written) -> None:
    """Each message is an event of its span, and the answer is a choice."""
    events = [
        {"name": "gen_ai.user.message", "attributes": {"content": "hi"}},
        {"name": "gen_ai.choice", "attributes": {"message": '{"content": "hello"}'}},
    ]
    span = {"name": "chat", "context": {"trace_id": "t"}, "attributes": {}, "events": events}

    found, _, names = written(json.dumps(span))

    assert (["otel"], "t") == (names, found[0].id)
    assert [("user", "hi"), ("assistant", "hello")] == spoken(found[0].messages)


def test_flat_prompts(written: Written) -> None:
    """Traces of the first instrumentations number their prompts."""
    told = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hi"}
    told |= {"gen_ai.completion.0.content": "hello", "gen_ai.completion.0.role": "assistant"}

    found, _, _ = written(json.dumps({"attributes": told, "trace_id": "t"}))

    assert [("user", "hi"), ("assistant", "hello")] == spoken(found[0].messages)


def test_every_drop_has_its_reason(written: Written) -> None:
    """An unknown role, an entry that is no object, and a part that is no text."""
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "x"}}]
    messages = [{"role": "user", "content": parts}, {"role": "martian", "content": "x"}, 7]

    found, counts, _ = written(json.dumps({"messages": messages}))

    assert [("user", "see")] == spoken(found[0].messages)
    assert {"unknown role 'martian'": 1, "not an object": 1} == counts.dropped
    assert {"image_url part": 1} == counts.left_out


def test_an_unknown_format_is_named() -> None:
    """With the nearest one."""
    with pytest.raises(RefError, match="did you mean 'openai'"):
        trace_format("opnai")


def test_parts_that_are_no_text_are_never_read_as_one(written: Written) -> None:
    """A blob holds its bytes under the key of a text."""
    parts = [{"type": "blob", "content": "AAAA"}, {"type": "text", "content": "see"}]
    sent = json.dumps([{"role": "user", "parts": parts}])

    found, counts, _ = written(json.dumps({"attributes": {"gen_ai.input.messages": sent}}))

    assert [("user", "see")] == spoken(found[0].messages)
    assert {"blob part": 1} == counts.left_out


def test_a_resumed_session_is_read_once(written: Written) -> None:
    """Its file may repeat events."""
    event = {"type": "user", "sessionId": "s", "uuid": "e1", "message": {"content": "hi"}}

    found, counts, _ = written(f"{json.dumps(event)}\n{json.dumps(event)}\n")

    assert [("user", "hi")] == spoken(found[0].messages)
    assert {"repeated event": 1} == counts.dropped


@pytest.mark.parametrize(
    "outputs",
    [
        {"choices": [{"message": {"role": "assistant", "content": "hello"}}]},
        {"generations": [[{"text": "hello"}]]},
        {"role": "assistant", "content": "hello"},
        {"messages": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "hello"}]},
        {"output": {"type": "ai", "data": {"content": "hello"}}},
    ],
)
def test_answers_of_langsmith(written: Written, outputs: dict[str, object]) -> None:
    """Each library that it traces writes them in its own way."""
    run = {"run_type": "llm", "trace_id": "t", "inputs": {"input": "hi"}, "outputs": outputs}

    found, _, names = written(json.dumps(run))

    assert ["langsmith"] == names
    assert [("user", "hi"), ("assistant", "hello")] == spoken(found[0].messages)


def test_a_score_without_end_is_none(written: Written) -> None:
    """JSON could not hold it."""
    told = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.records": [{"score": 7}]}
    content = json.dumps({"trace_id": "t", "attributes": told}).replace("7", "1e999")

    found, _, _ = written(content)

    assert [None] == [d.score for m in found[0].messages for d in m.documents]
