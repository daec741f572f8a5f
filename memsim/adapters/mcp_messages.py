"""Messages of the Model Context Protocol, which are JSON-RPC 2.0, and how strangers' are read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from memsim.errors import StrategyError

Body = Mapping[str, Any]

VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05", "2025-11-25")
"""Versions of the protocol that are spoken; the first is asked for."""

NO_METHOD = -32601
_SHOWN = 200


class McpError(StrategyError):
    """A server did not answer as the protocol or its mapping says."""


def request(number: int, method: str, params: Body) -> Body:
    """A message that wants an answer."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def note(method: str) -> Body:
    """A message that wants none."""
    return {"jsonrpc": "2.0", "method": method}


def reply_to(asked: Body) -> Body | None:
    """What a client without capabilities answers to a server's request; None for a note."""
    if "id" not in asked:
        return None
    head = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "ping":
        return head | {"result": {}}
    return head | {"error": {"code": NO_METHOD, "message": "memsim does not offer this"}}


def encoded(message: Body) -> bytes:
    """A message in one line."""
    return json.dumps(message, separators=(",", ":")).encode()


def read_message(data: bytes | str) -> Body:
    """One message that a server sent.

    Raises:
        McpError: it is none.
    """
    try:
        found = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise McpError("it sent what is no JSON") from None
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0":
        raise McpError("it sent what is no message of JSON-RPC")
    return found


def result_of(answer: Body, what: str) -> Body:
    """The result in an answer.

    Raises:
        McpError: it is an error, or no result.
    """
    error = answer.get("error")
    if error is not None:
        said = error.get("message") if isinstance(error, dict) else error
        raise McpError(f"{what}: {_line(said)}")
    found = answer.get("result")
    if not isinstance(found, dict):
        raise McpError(f"{what}: the answer has no result")
    return found


class FailedToolError(McpError):
    """A tool says that it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReply:
    """What a tool answered.

    Attributes:
        text: its text blocks, one after the other.
        structured: its structured content, if it has any.
    """

    text: str
    structured: object = None


def read_reply(result: Body, what: str) -> ToolReply:
    """The answer of `tools/call`.

    Raises:
        FailedToolError: the tool failed.
        McpError: it answered what is no text.
    """
    text = "\n".join(_texts(result.get("content"), what))
    if result.get("isError"):
        raise FailedToolError(f"{what} failed: {_line(text)}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise McpError(f"{what}: a text holds half a character") from None
    return ToolReply(text=text, structured=result.get("structuredContent"))


def _texts(content: object, what: str) -> Iterator[str]:
    if not isinstance(content, list):
        raise McpError(f"{what}: the answer has no list of content")
    for block in content:
        if not isinstance(block, dict):
            raise McpError(f"{what}: a block of content is no object")
        if block.get("type") == "text":
            if not isinstance(block.get("text"), str):
                raise McpError(f"{what}: a text is none")
            yield block["text"]


def _line(said: object) -> str:
    return " ".join(str(said).split())[:_SHOWN] or "no reason"


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)
