"""Chat completions in OpenAI's protocol: requests read as memsim's, replies written as JSON.

A request with `tools` is a step of an agent. One that wants JSON extracts facts. Any other asks for
a text, as a summary.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Literal

from memsim.message import Block, Message, Role, Text, ToolResult, ToolUse
from memsim.models import Prompt, Reply, Request, ToolSpec

Body = Mapping[str, Any]

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatContext:
    """What the offline model may read beside a prompt, which a live model reads by itself.

    Attributes:
        latest: the messages of this turn; facts are extracted from them.
        said: all messages; a summary is of those that the prompt quotes.
        replies: what was replied before; one that the prompt quotes is the summary so far.
        now: the virtual time.
    """

    latest: Sequence[Message]
    said: Sequence[Message]
    replies: Sequence[str]
    now: datetime


def wants_json(body: Body) -> bool:
    """Whether a request asks for JSON."""
    return bool((body.get("response_format") or {}).get("type", "text") != "text")


def read_chat(body: Body, context: ChatContext) -> Request:
    """Read the body of a chat completion.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    most = limit if type(limit) is int else None
    if body.get("tools"):
        return _read_step(body, context, most)
    asked = [(str(m["role"]), _in_virtual_time(_text(m), context.now)) for m in body["messages"]]
    system = "\n\n".join(text for role, text in asked if _role(role) == "system")
    others = [(role, text) for role, text in asked if _role(role) != "system"]
    alone = len(others) == 1
    user = "\n\n".join(text if alone else f"{role}: {text}" for role, text in others)
    extracts = wants_json(body)
    known = context.latest if extracts else context.said
    earlier = (r for r in reversed(context.replies) if r.strip() and r in user)
    return Request(
        task="extract" if extracts else "summarise",
        messages=tuple(m for m in known if m.text.strip() and m.text in user),
        previous="" if extracts else next(earlier, ""),
        max_tokens=most,
        now=context.now,
        prompt=Prompt(system=system, user=user, final=True),
    )


def write_completion(reply: Reply, content: str, *, model: str, now: datetime) -> dict[str, Any]:
    """The JSON of a whole reply."""
    message: dict[str, Any] = {"role": "assistant", "content": content or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in reply.tool_calls
        ]
    else:
        message["content"] = content
    used = reply.usage
    return {
        "id": "memsim",
        "object": "chat.completion",
        "created": int(now.timestamp()),
        "model": model,
        "choices": [{"index": 0, "finish_reason": _reason(reply), "message": message}],
        "usage": {
            "prompt_tokens": used.input,
            "completion_tokens": used.output,
            "total_tokens": used.input + used.output,
        },
    }


def write_stream(completion: Body, *, usage: bool) -> Iterator[bytes]:
    """The events of a stream that sends a completion."""
    head = {key: completion[key] for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    (choice,) = completion["choices"]
    delta = {**choice["message"]}
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": n, **call} for n, call in enumerate(delta["tool_calls"])]
    for part, reason in ((delta, None), ({}, choice["finish_reason"])):
        said = {"index": 0, "delta": part, "finish_reason": reason}
        yield _event(json.dumps({**head, "choices": [said]}))
    if usage:
        yield _event(json.dumps({**head, "choices": [], "usage": completion["usage"]}))
    yield _event("[DONE]")


def _event(data: str) -> bytes:
    return f"data: {data}\n\n".encode()


def _reason(reply: Reply) -> Literal["length", "tool_calls", "stop"]:
    if reply.cut:
        return "length"
    return "tool_calls" if reply.tool_calls else "stop"


def _read_step(body: Body, context: ChatContext, most: int | None) -> Request:
    """A step of an agent: what was said so far, and the functions that it may call."""
    messages = tuple(
        Message(id=f"chat{n}", role=_role(m["role"]), blocks=_blocks(m, context), time=context.now)
        for n, m in enumerate(body["messages"])
    )
    newest = takewhile(lambda m: m.role != "user", reversed(messages))
    return Request(
        task="act",
        messages=messages,
        tools=tuple(_tool(each["function"]) for each in body["tools"]),
        max_tokens=most,
        now=context.now,
        round=sum(bool(m.calls) for m in newest),
    )


def _tool(function: Body) -> ToolSpec:
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    return ToolSpec(
        name=function["name"],
        description=function.get("description") or "",
        parameters=json.dumps(schema, ensure_ascii=False),
    )


def _blocks(message: Body, context: ChatContext) -> tuple[Block, ...]:
    text = _in_virtual_time(_text(message), context.now)
    if message["role"] == "tool":
        return (ToolResult(id=message["tool_call_id"], text=text),)
    calls = (
        ToolUse(id=c["id"], name=c["function"]["name"], arguments=c["function"]["arguments"])
        for c in message.get("tool_calls") or ()
    )
    return (*((Text(text),) if text else ()), *calls) or (Text(""),)


def _role(role: str) -> Role:
    if role not in _ROLES:
        raise ValueError(f"there is no role {role!r}")
    return _ROLES[role]


def _text(message: Body) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content)


def _in_virtual_time(text: str, now: datetime) -> str:
    """A prompt with the virtual date in place of today's, so that a recording stays valid."""
    return text.replace(datetime.now(UTC).date().isoformat(), now.date().isoformat())
