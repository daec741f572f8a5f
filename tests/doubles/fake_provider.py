"""A local model provider for tests, with scripted answers and failures."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, get_args

Fault = Literal[
    "429",
    "429-after",
    "500",
    "502",
    "503",
    "529",
    "silent",
    "broken-off",
    "reset",
    "slow",
    "garbage",
    "not-json",
    "no-choices",
    "empty",
    "blank",
    "refusal",
    "length",
    "cut-off",
    "filter",
    "filtered-answer",
    "overflow",
    "tool-call",
    "wrong-tool-ids",
    "longer",
    "unauthorised",
]
"""What can be wrong with one response, from the status of it to its words."""

FAULTS: tuple[Fault, ...] = get_args(Fault)
AFTER = 7
"""Seconds that `429-after` asks to be left alone."""

LONGER = "It went on and on, and then on. " * 400
REFUSAL = "I'm sorry, but I can't help with that."

Body = dict[str, Any]
Answers = Callable[[Body], "str | Body"]


@dataclass(slots=True)
class Provider:
    """The requests that a provider received, and the faults that it will have.

    Attributes:
        url: where it listens, as OPENAI_BASE_URL has it.
        answer: the words for a request, or the whole message where it is to be more than words:
            `calling` makes one that calls tools.
        fault: what is wrong with the response to the n-th request, counted from 0; None for
            nothing.
        patience: seconds that it is silent for, where it is.
        asked: the requests, in the order in which they came.
    """

    url: str
    answer: Answers
    fault: Callable[[int], Fault | None]
    patience: float
    asked: list[Body] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, body: Body) -> Fault | None:
        """Note a request, and say what is wrong with its response."""
        with self._lock:
            self.asked.append(body)
            return self.fault(len(self.asked) - 1)


def words(body: Body) -> str:
    """The usual answer: short, and another for each request."""
    said = "\n".join(str(message.get("content")) for message in body["messages"])
    return f"It was said {len(said)} characters ago."


def no_fault(_number: int) -> Fault | None:
    """Nothing is ever wrong."""
    return None


def faults(*first: Fault | None) -> Callable[[int], Fault | None]:
    """Faults of the first responses; later responses have none."""
    return lambda number: first[number] if number < len(first) else None


@contextmanager
def providing(
    answer: Answers = words,
    fault: Callable[[int], Fault | None] = no_fault,
    patience: float = 1.0,
) -> Iterator[Provider]:
    """Run a provider on a free local port.

    Args:
        answer: the words for a request, or the whole message.
        fault: what is wrong with the response to the n-th request, counted from 0.
        patience: seconds that it is silent for, where it is: more than its callers wait.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    url = f"http://127.0.0.1:{server.server_port}/v1"
    known = Provider(url, answer, fault, patience)
    server.provider = known  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield known
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer a request, or fail."""
        provider: Provider = self.server.provider  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = provider.take(body)
        with suppress(OSError):
            if "input" in body and fault is None:
                self._send(200, vectors(body))
            else:
                self._respond(provider, body, fault)

    def _respond(self, provider: Provider, body: Body, fault: Fault | None) -> None:
        if fault in _STATUS:
            status, said, headers = _STATUS[fault]
            self._send(status, {"error": said}, headers)
        elif fault in {"silent", "broken-off", "reset"}:
            self._break(provider, fault)
        elif fault in _RAW:
            self._send_bytes(200, _RAW[fault])
        else:
            if fault == "slow":
                threading.Event().wait(provider.patience / 10)
            self._send(200, completion(body, provider.answer(body), fault))

    def _break(self, provider: Provider, fault: Fault | None) -> None:
        self.close_connection = True
        if fault != "silent":
            self.send_response(200)
            self.send_header("Content-Length", "4096")
            self.end_headers()
            self.wfile.write(b'{"id": "chat')
            self.wfile.flush()
        if fault == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        else:
            threading.Event().wait(provider.patience)
        self.connection.close()

    def _send(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(body).encode(), headers)

    def _send_bytes(
        self, status: int, data: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def calling(*calls: tuple[str, str, object], text: str | None = None) -> Body:
    """A message that calls tools.

    Args:
        calls: of each its id, the tool's name and the arguments; a text of them is sent as it is.
        text: what is said besides.
    """
    made = [
        _tool_call(call, name, given if isinstance(given, str) else json.dumps(given))
        for call, name, given in calls
    ]
    return {"role": "assistant", "content": text, "tool_calls": made}


def completion(body: Body, answer: str | Body, fault: Fault | None = None) -> Body:
    """A whole response, as OpenAI's protocol has it.

    Args:
        body: the request.
        answer: the words, or the whole message.
        fault: what is wrong with it.
    """
    text = answer if isinstance(answer, str) else str(answer.get("content") or "")
    message: Body = {"role": "assistant", "content": _SAID.get(fault, text)}
    finish = _FINISH.get(fault, "stop")
    if not isinstance(answer, str) and fault is None:
        message, finish = answer, "tool_calls" if answer.get("tool_calls") else "stop"
    if fault == "cut-off":
        message["content"] = text[: len(text) // 2]
    if fault in {"tool-call", "wrong-tool-ids"}:
        message["content"] = None
        ids = ["call_a"] if fault == "tool-call" else ["call_a", "call_a", ""]
        message["tool_calls"] = [_tool_call(i, "search", '{"query": "kettle"}') for i in ids]
        finish = "tool_calls"
    said = sum(len(str(m.get("content"))) for m in body["messages"])
    usage = {"prompt_tokens": said // 4, "completion_tokens": len(message["content"] or "") // 4}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": usage | {"total_tokens": sum(usage.values())},
    }


def vectors(body: Body, dimension: int = 8) -> Body:
    """Embeddings of a request's texts: numbers that depend on the text alone.

    Args:
        body: the request.
        dimension: of each.
    """
    given = body["input"]
    texts = [given] if isinstance(given, str) else given
    rows = [
        {"object": "embedding", "index": n, "embedding": _numbers(str(text), dimension)}
        for n, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": sum(len(str(t)) for t in texts) // 4, "total_tokens": 0}
    return {"object": "list", "model": body["model"], "data": rows, "usage": usage}


def _numbers(text: str, dimension: int) -> list[float]:
    sums = [1.0] * dimension
    for place, character in enumerate(text):
        sums[(place + ord(character)) % dimension] += ord(character) % 7
    return sums


def _tool_call(call: str, name: str, arguments: str) -> Body:
    return {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}


def _refused(message: str, code: str) -> Body:
    return {"message": message, "type": "invalid_request_error", "code": code}


_BUSY: Body = {"message": "try again", "type": "server_error"}
_STATUS: Mapping[Fault | None, tuple[int, Body, Mapping[str, str]]] = {
    "429": (429, _BUSY, {}),
    "429-after": (429, _BUSY, {"Retry-After": str(AFTER)}),
    "500": (500, _BUSY, {}),
    "502": (502, _BUSY, {}),
    "503": (503, _BUSY, {}),
    "529": (529, _BUSY, {}),
    "unauthorised": (401, _refused("no such key", "invalid_api_key"), {}),
    "filter": (400, _refused("The response was filtered", "content_filter"), {}),
    "overflow": (
        400,
        _refused(
            "This model's maximum context length is 128 tokens. However, your messages resulted"
            " in 999 tokens.",
            "context_length_exceeded",
        ),
        {},
    ),
}
_RAW: Mapping[Fault | None, bytes] = {
    "garbage": b"\x00\xff\xfe not text",
    "not-json": b'{"id": "chatcmpl-1", "choices": [',
    "no-choices": b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[]}',
}
_SAID: Mapping[Fault | None, str] = {
    "empty": "",
    "length": "",
    "filtered-answer": "",
    "blank": " \n\t",
    "refusal": REFUSAL,
    "longer": LONGER,
}
_FINISH: Mapping[Fault | None, str] = {
    "length": "length",
    "cut-off": "length",
    "filtered-answer": "content_filter",
}
