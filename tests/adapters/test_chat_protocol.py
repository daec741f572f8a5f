"""OpenAI's protocol: prompts with and without tools, summaries that go on, and streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memsim.adapters.chat_protocol import ChatContext, read_chat, write_completion, write_stream
from memsim.message import EPOCH, CharsOverFour, ToolResult, ToolUse, said
from memsim.models import Reply, Usage
from memsim.models.offline.model import OfflineModel

SAID = (
    said("user", "My order is A-17.", id="m1"),
    said("assistant", "Noted.", id="m2"),
    said("user", "My cat is called Milo.", id="m3"),
)
STORE = {
    "name": "store_memory",
    "description": "Store a memory about the user.",
    "parameters": {
        "type": "object",
        "properties": {"content": {"type": "string", "description": "The text to store."}},
        "required": ["content"],
    },
}


def context(*replies: str) -> ChatContext:
    """A conversation whose latest turn is its last message."""
    return ChatContext(latest=SAID[2:], said=SAID, replies=replies, now=EPOCH)


def ask(*lines: tuple[str, str], **more: object) -> dict[str, Any]:
    """The body of a request."""
    return {"messages": [{"role": role, "content": text} for role, text in lines], **more}


def test_a_summary_is_of_what_the_prompt_quotes() -> None:
    """And goes on from an earlier reply that the prompt quotes; facts are of the turn alone."""
    body = ask(("user", SAID[0].text), ("user", f"So far: {SAID[1].text} Go on: {SAID[2].text}"))
    as_json = {**body, "response_format": {"type": "json_object"}}

    summary = read_chat(body, context("Something else.", "So far: Noted."))
    facts = read_chat(as_json, context("So far: Noted."))

    assert (summary.task, facts.task) == ("summarise", "extract")
    assert summary.messages == SAID
    assert summary.previous == "So far: Noted."
    assert (facts.messages, facts.previous) == (SAID[2:], "")


def test_tools_make_a_step_of_an_agent() -> None:
    """Calls and results become blocks; the offline model calls a function as any agent's."""
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    body = ask(("system", "Use tools."), ("user", "My dog is called Rex."), max_tokens=50)
    body["tools"] = [{"type": "function", "function": STORE}]
    request = read_chat(body, context())
    later = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "nothing"},
    ]
    again = read_chat({**body, "messages": [*body["messages"], *later]}, context())

    reply = OfflineModel(CharsOverFour()).complete(request)
    whole = write_completion(reply, reply.text, model="offline", now=EPOCH)
    (choice,) = whole["choices"]
    (made,) = choice["message"]["tool_calls"]

    assert (request.task, request.max_tokens, request.round, again.round) == ("act", 50, 0, 1)
    assert again.messages[-2].blocks == (ToolUse(id="c1", name="find", arguments="{}"),)
    assert again.messages[-1].blocks == (ToolResult(id="c1", text="nothing"),)
    assert choice["finish_reason"] == "tool_calls"
    assert made["function"]["name"] == "store_memory"
    assert "Rex" in json.loads(made["function"]["arguments"])["content"]


@pytest.mark.parametrize("usage", [True, False])
def test_a_stream_says_what_a_whole_reply_does(usage: bool) -> None:
    """Text and calls in a first event, the reason in a second, usage where it is asked for."""
    call = ToolUse(id="c1", name="find", arguments="{}")
    reply = Reply(text="Wait.", tool_calls=(call,), usage=Usage(input=3, output=2))
    whole = write_completion(reply, reply.text, model="offline", now=EPOCH)

    events = [each.decode() for each in write_stream(whole, usage=usage)]
    chunks = [json.loads(each.removeprefix("data: ")) for each in events[:-1]]

    assert events[-1] == "data: [DONE]\n\n"
    assert chunks[0]["choices"][0]["delta"] == {
        "role": "assistant",
        "content": "Wait.",
        "tool_calls": [{"index": 0, **whole["choices"][0]["message"]["tool_calls"][0]}],
    }
    assert chunks[1]["choices"][0]["finish_reason"] == "tool_calls"
    assert [c["usage"]["total_tokens"] for c in chunks[2:]] == [5] * usage


@pytest.mark.parametrize(
    "body",
    [
        {},
        ask(("oracle", "Hi.")),
        ask(("user", "Hi."), tools=[{"function": {}}]),
        {"messages": [{"role": "tool", "content": "x"}], "tools": [{"function": STORE}]},
    ],
)
def test_what_is_no_request_is_refused(body: dict[str, Any]) -> None:
    """Instead of a reply to something else."""
    with pytest.raises((KeyError, TypeError, ValueError)):
        read_chat(body, context())
