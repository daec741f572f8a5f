"""One call through litellm, and what may come of it: an answer, or one of our own errors."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from memsim.canary.secrets import redact
from memsim.errors import ContextOverflow, ModelError
from memsim.message import ToolUse
from memsim.models.live import Answer
from memsim.models.live.failing import Filtered, Refused, Transient
from memsim.models.live.sound import load_litellm

if TYPE_CHECKING:
    from memsim.models import ToolSpec
    from memsim.models.live import Call, ChatMessage
    from memsim.models.live.pricing import Price

AT_ONCE = 8
"""Calls that one process has under way at most."""

TIMEOUT = 120.0
"""Seconds that one attempt may take."""

_FILTER = ("content_filter", "content filter", "content management policy", "was filtered")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_TOLD_IN_WORDS = "ollama/"
"""Of whom litellm asks their own server, and tells them of tools in words at worst."""

_BUSY = frozenset({408, 409, 425, 429})


class LiteLLM:
    """Asks whatever provider litellm knows; keys and addresses come from the environment.

    Args:
        price: what a token costs; None where that is not known.
        timeout: seconds that one attempt may take.
        at_once: calls that may be under way at the same time.
    """

    def __init__(
        self, price: Price | None = None, *, timeout: float = TIMEOUT, at_once: int = AT_ONCE
    ) -> None:
        self._price = price
        self._timeout = timeout
        self._free = threading.BoundedSemaphore(at_once)

    def ask(self, call: Call) -> Answer:
        """The answer to a call.

        Raises:
            Transient: there is none now.
            ContextOverflow: the call does not fit into the model's window.
            Filtered: the provider's content filter refused it.
            Refused: the provider never will answer it.
        """
        litellm = load_litellm()
        if call.tools and not _takes_tools(call.model):
            raise Refused(
                f"{call.model}: litellm offers it no tools, so that it cannot be an agent"
            )
        with self._free:
            try:
                response = litellm.completion(**self._told(call))
            except Exception as error:  # every provider raises kinds of its own
                raise mapped(call.model, error) from error
        return self._answer(call, response)

    def _told(self, call: Call) -> dict[str, Any]:
        told: dict[str, Any] = {
            "model": call.model,
            "messages": [chat(message) for message in call.messages],
            "max_tokens": call.max_tokens,
            "temperature": call.temperature,
            "timeout": self._timeout,
            "max_retries": 0,
            "num_retries": 0,
            "stream": False,
            "drop_params": True,
        }
        if call.tools:
            told["tools"] = [offered(tool) for tool in call.tools]
            # Or litellm looks for servers of tools, with packages that it does not install.
            told["_skip_mcp_handler"] = True
        return told

    def _answer(self, call: Call, response: Any) -> Answer:  # noqa: ANN401 - litellm's own record
        try:
            choice = response.choices[0]
            said = choice.message
            text, used = said.content, tuple(map(_used, said.tool_calls or ()))
            read = int(getattr(response.usage, "prompt_tokens", 0) or 0)
            written = int(getattr(response.usage, "completion_tokens", 0) or 0)
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise Transient(
                f"{call.model} sent something that is no answer", billed=True
            ) from error
        return Answer(
            text=text if isinstance(text, str) else "",
            calls=used,
            finish=str(choice.finish_reason or "stop"),
            input=read,
            output=written,
            cost=None if self._price is None else self._price.cost(read, written),
        )


def _used(call: Any) -> ToolUse:  # noqa: ANN401 - litellm's own record
    function = call.function
    arguments = function.arguments
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments or {}, ensure_ascii=False, sort_keys=True)
    return ToolUse(id=str(call.id or ""), name=str(function.name or ""), arguments=arguments)


@lru_cache(maxsize=64)
def _takes_tools(model: str) -> bool:
    # litellm is told to leave out what a provider does not take: an agent without tools is none.
    if model.startswith(_TOLD_IN_WORDS):
        return True
    known = load_litellm().get_supported_openai_params(model=model)
    return known is None or "tools" in known


def chat(message: ChatMessage) -> dict[str, Any]:
    """A message as OpenAI's protocol has it, which litellm turns into any other's.

    A call that the model made up badly is sent back so that every provider takes it.
    """
    told: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.answers:
        told["tool_call_id"] = message.answers
    if message.calls:
        told["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": _legal(call.name), "arguments": _object(call.arguments)},
            }
            for call in message.calls
        ]
    return told


def _legal(name: str) -> str:
    return _ILLEGAL.sub("_", name)[:_LONGEST_NAME] or "unnamed"


def _object(arguments: str) -> str:
    # Some providers get them parsed, by litellm, which raises on what is no object.
    with suppress(ValueError, RecursionError):
        if isinstance(json.loads(arguments), dict):
            return arguments
    return json.dumps({"unreadable": arguments}, ensure_ascii=False)


def offered(tool: ToolSpec) -> dict[str, Any]:
    """A tool as OpenAI's protocol has it."""
    schema: object = None
    with suppress(ValueError):
        schema = json.loads(tool.parameters or "{}")
    parameters = schema if isinstance(schema, dict) and schema else {"type": "object"}
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": {"properties": {}, **parameters},
        },
    }


def mapped(model: str, error: Exception) -> ModelError:
    """What a provider raised, as one of our own errors.

    Args:
        model: who was asked.
        error: litellm's, which has the status of the response where there was one.
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    said = f"{model}: {_first_line(error)}"
    status = getattr(error, "status_code", None)
    if "ContextWindowExceededError" in kinds:
        return ContextOverflow(said)
    if "ContentPolicyViolationError" in kinds or _is_filter(status, str(error)):
        return Filtered(said)
    if kinds & {"Timeout", "APITimeoutError", "APIConnectionError"}:
        return Transient(said, billed=True)
    if status in _BUSY or (isinstance(status, int) and status >= 500):
        # Without a response of its own it broke off on the way, and may have been paid for.
        headers = _headers(error)
        return Transient(said, after=_retry_after(headers or {}), billed=headers is None)
    return Refused(said)


def _is_filter(status: object, said: str) -> bool:
    return status == 400 and any(word in said.lower() for word in _FILTER)


def _headers(error: Exception) -> Mapping[str, str] | None:
    found = getattr(error, "litellm_response_headers", None)
    if found is None:
        found = getattr(getattr(error, "response", None), "headers", None)
    return found if isinstance(found, Mapping) and found else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None  # a date: the clocks of two machines need not agree
    return seconds if 0 <= seconds < float("inf") else None


def _first_line(error: Exception) -> str:
    said = str(error).strip().partition("\n")[0]
    # Some providers repeat the key that they refuse.
    return redact(f"{type(error).__name__}: {said.rpartition('Exception - ')[2]}")[:300]
