"""The agent by rule: store what is stated, search what is asked, then answer."""

from __future__ import annotations

import json

import pytest

from memsim.message import Message, ToolResult, ToolUse, load_tokenizer, said
from memsim.models import IDK, Reply, Request, ToolSpec
from memsim.models.offline.model import OfflineModel

STORE = ToolSpec(
    name="memory_store",
    description="Keep a fact.",
    parameters='{"type":"object","properties":{"content":{"type":"string"}},"required":["content"]}',
)
SEARCH = ToolSpec(
    name="memory_search",
    description="Find facts.",
    parameters='{"type":"object","properties":{"k":{"type":"integer"},"query":{"type":"string"}}}',
)
WEATHER = ToolSpec(name="get_weather", description="The weather.", parameters="{}")


def act(*messages: Message, tools: tuple[ToolSpec, ...] = (WEATHER, STORE, SEARCH)) -> Reply:
    """The agent's next step."""
    model = OfflineModel(load_tokenizer("chars/4"))
    return model.complete(Request(task="act", messages=messages, tools=tools))


def called(reply: Reply) -> list[tuple[str, dict[str, str]]]:
    """What a reply calls, with its arguments."""
    return [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]


def test_a_stated_fact_is_stored() -> None:
    """In the user's own words, without the greeting."""
    reply = act(said("user", "Hi! My locker has the code 7741. Thanks!", id="m1"))

    assert called(reply) == [("memory_store", {"content": "My locker has the code 7741."})]
    assert reply.text == ""


def test_a_question_is_searched() -> None:
    """The parameter that takes text is found by its name."""
    reply = act(said("user", "What is the code of my locker?", id="m1"))

    assert called(reply) == [("memory_search", {"query": "What is the code of my locker?"})]


def test_what_was_found_is_answered() -> None:
    """After the result, the reader answers from the messages."""
    asked = said("user", "What is the code of my locker?", id="m1")
    call = act(asked).tool_calls[0]
    reply = act(
        asked,
        Message(id="m2", role="assistant", blocks=(call,)),
        Message(
            id="m3",
            role="tool",
            blocks=(ToolResult(id=call.id, text="The code of my locker is 7741."),),
        ),
    )

    assert (reply.text, reply.tool_calls) == ("7741", ())
    assert reply.sources == ("m3",)


def test_what_was_stored_is_acknowledged() -> None:
    """A fact is not stored twice."""
    stated = said("user", "My locker has the code 7741.", id="m1")
    call = act(stated).tool_calls[0]

    reply = act(stated, Message(id="m2", role="assistant", blocks=(call,)))

    assert (reply.text, reply.tool_calls) == ("Noted.", ())


@pytest.mark.parametrize("tools", [(), (WEATHER,)])
def test_without_memory_tools_it_answers_or_notes(tools: tuple[ToolSpec, ...]) -> None:
    """Other tools are left alone."""
    assert act(said("user", "What is the code?", id="m1"), tools=tools).text == IDK
    assert act(said("user", "My code is 7741.", id="m1"), tools=tools).text == "Noted."
    assert act(tools=tools).text == "Noted."


ODD = '{"properties": [1], "required": 5}'


@pytest.mark.parametrize("parameters", ["", "[]", "{", '{"properties":{"what":{}}}', ODD])
def test_any_schema_gets_an_argument(parameters: str) -> None:
    """A schema that says nothing, or cannot be read, still gets the text."""
    tool = ToolSpec(name="remember", description="Remember a fact.", parameters=parameters)

    (call,) = called(act(said("user", "My code is 7741.", id="m1"), tools=(tool,)))

    assert list(call[1].values()) == ["My code is 7741."]


def test_call_ids_differ_by_what_is_called() -> None:
    """The same step has the same id, another step another."""
    one, same, other = (
        act(said("user", text, id="m1")).tool_calls[0]
        for text in ("My code is 7741.", "My code is 7741.", "My code is 7742.")
    )

    assert isinstance(one, ToolUse)
    assert one == same
    assert one.id != other.id
