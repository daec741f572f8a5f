"""Fuzz what comes over a wire: arguments of tools, answers of providers, bodies of requests."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from memsim.errors import MemsimError
from memsim.message import ToolUse, said
from memsim.models import ToolSpec
from memsim.models.live import Call, ChatMessage
from memsim.models.live.cost_limit import Price
from memsim.models.live.litellm_client import LiteLLM, openai_message
from memsim.models.live.model import reply_of
from memsim.models.live.provider_embedder import _vectors
from memsim.models.offline.judge import read_verdict
from memsim.replay.tool_agent import arguments_allowed
from memsim.testing import Case, CaseTurn, World, world_of
from tests.doubles.damage import hostile_json, mutated_bytes, mutated_value

Target = Callable[[random.Random], None]

_WITH_TOOLS = (
    *("layered:mode=both", "agenticx:tools=on", "agentscope:mode=both,longterm=mem0", "prx"),
    *("aegis", "cogtrix"),
)
_CALLS = 200
"""Calls after which a memory is put back, so that it stays small."""

_EXAMPLES: Mapping[str, Any] = {
    "string": "A-17",
    "integer": 3,
    "number": 0.5,
    "boolean": True,
    "array": ["falcon"],
    "object": {"a": "b"},
}


def turn_of(n: int) -> CaseTurn:
    heard = said("user", f"My order {n} is A-{7 * n}.", id=f"m{n}", principal="ana")
    return CaseTurn(number=n, who="ana", session="s1", time=heard.time, heard=(heard,), reply=())


def tools(_folder: Path, closing: ExitStack) -> Target:
    """Arguments of every tool of the built-in memories."""
    worlds: list[tuple[World, str, list[ToolSpec]]] = []
    for ref in _WITH_TOOLS:
        world = world_of(ref, Case(events=tuple(map(turn_of, range(1, 4))), budget=400))
        closing.callback(world.close)
        world.play(world.case.events)
        if specs := [*world.memory.tools("ana")]:
            worlds.append((world, world.saved(), specs))
    calls = 0

    def target(chance: random.Random) -> None:
        nonlocal calls
        calls += 1
        world, _, specs = chance.choice(worlds)
        spec = chance.choice(specs)
        schema = json.loads(spec.parameters or "{}")
        arguments = _arguments(chance, schema)
        arguments_allowed(arguments, spec.parameters)
        try:
            answer = world.memory.call_tool(spec.name, arguments, "ana")
        finally:
            if calls % _CALLS == 0:
                for each, saved, _ in worlds:
                    each.memory.load(json.loads(saved))
        if answer.startswith("Error"):
            raise MemsimError("refused")

    return target


def _arguments(chance: random.Random, schema: Any) -> str:  # noqa: ANN401 - any JSON
    given = {
        name: _EXAMPLES.get(str(told.get("type")), "A-17")
        for name, told in schema.get("properties", {}).items()
    }
    if chance.random() < 0.3:
        data = mutated_bytes(chance, [json.dumps(given).encode()])
    else:
        data = hostile_json(chance, given)
    return data.decode(errors=chance.choice(("replace", "surrogateescape", "ignore")))


def _record(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value as a record with attributes, as a provider's library gives it."""
    if isinstance(value, dict):
        named = {k: _record(v) for k, v in value.items() if k.isidentifier()}
        return SimpleNamespace(**named)
    return [_record(v) for v in value] if isinstance(value, list) else value


_ANSWER: Mapping[str, Any] = {
    "choices": [
        {
            "message": {
                "content": "It is A-17.",
                "tool_calls": [{"id": "c1", "function": {"name": "get", "arguments": '{"a":1}'}}],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3},
}
_VECTORS = {"data": [{"index": 0, "embedding": [0.5, 1.0]}, {"index": 1, "embedding": [1.0, 0.0]}]}


def answers(_folder: Path, _closing: ExitStack) -> Target:
    """Answers of a provider: text, calls of tools, verdicts and vectors."""
    client = LiteLLM(Price(input=0.001, output=0.002))
    call = Call(task="act", model="m", messages=(), max_tokens=10, temperature=0.0, tools=())

    def target(chance: random.Random) -> None:
        kind = chance.randrange(4)
        if kind == 0:
            answer = client._answer(call, _record(mutated_value(chance, _ANSWER)))  # noqa: SLF001
            reply = reply_of(call, answer)
            openai_message(ChatMessage(role="assistant", text=reply.text, calls=reply.tool_calls))
        elif kind == 1:
            data = hostile_json(chance, {"a": 1, "b": {"c": [1, "x"]}}).decode(errors="replace")
            message = ChatMessage(
                role="assistant", text="", calls=(ToolUse(id="c1", name="get", arguments=data),)
            )
            openai_message(message)
        elif kind == 2:
            _vectors("m", _record(mutated_value(chance, _VECTORS)))
        else:
            read_verdict(hostile_json(chance, {"verdict": "right"}).decode(errors="replace"))

    return target


_REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/working-memory/c1", None),
    ("PUT", "/working-memory/c1", {"data": {"a": {"b": [1, "x"]}}, "ttl_seconds": 60}),
    ("DELETE", "/working-memory/c1", {"fields": ["a"]}),
    (
        "POST",
        "/episodic/store",
        {
            "agent_id": "a",
            "conversation_id": "c1",
            "summary": "A falcon.",
            "user_id": "ana",
            "key_decisions": ["x"],
            "tools_called": ["y"],
            "entities_mentioned": [{"type": "t", "id": "1", "name": "n"}],
        },
    ),
    ("POST", "/episodic/search", {"query": "falcon", "agent_id": "a", "top_k": 3}),
    ("GET", "/episodic/c1", None),
    ("GET", "/ledger/c1", None),
    ("POST", "/ledger/c1/check", {"item_key": "skill:x"}),
    ("POST", "/ledger/c1/mark", {"item_key": "skill:x", "value": "injected"}),
    ("POST", "/ledger/c1/evict", {"item_key": "skill:x"}),
)
_REFUSED = range(400, 500)


class StatusError(Exception):
    """The service failed, or sent what is no JSON."""


def requests(_folder: Path, closing: ExitStack) -> Target:
    """Requests to the memory service: paths and bodies."""
    from memsim.cli.serve import open_layers
    from memsim.service.app import create_app

    layers = closing.enter_context(open_layers({}, embedder="hash:dim=16", exact=True, fixed=True))
    app = create_app(layers)
    loop = asyncio.new_event_loop()
    closing.callback(loop.close)
    closing.callback(lambda: loop.run_until_complete(loop.shutdown_default_executor()))

    def target(chance: random.Random) -> None:
        method, path, value = chance.choice(_REQUESTS)
        if chance.random() < 0.1:
            path = "/" + mutated_bytes(chance, [path[1:].encode()]).decode(errors="replace")
        body = b"" if value is None else hostile_json(chance, value)
        if chance.random() < 0.2:
            body = mutated_bytes(chance, [json.dumps(value).encode()])
        status, sent = loop.run_until_complete(answer_of(app, method, path, body))
        if status >= 500 and status != 503:
            raise StatusError(f"{status}: {sent[:200]!r}")
        if sent:
            json.loads(sent)
        if status in _REFUSED:
            raise MemsimError("refused")

    return target


async def answer_of(app: Any, method: str, path: str, body: bytes) -> tuple[int, bytes]:  # noqa: ANN401 - an ASGI application
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"host", b"x")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "root_path": "",
    }

    async def receive() -> dict[str, Any]:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(m.get("body", b"") for m in sent[1:])


WIRE: dict[str, Callable[[Path, ExitStack], Target]] = {
    "tool arguments": tools,
    "provider answer": answers,
    "request": requests,
}
"""Makes each target in a folder of its own."""
