"""One call through litellm, and what may come of it: an answer, or one of our own errors."""

from __future__ import annotations

import io
import json
import os
import re
import threading
import warnings
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from memsim.canary.secrets import redact
from memsim.errors import ContextOverflow, ModelError, RefError, nearest
from memsim.message import ToolUse
from memsim.models.live import FilterError, ProviderAnswer, RefusalError, TransientError

if TYPE_CHECKING:
    from types import ModuleType

    from memsim.models import ToolSpec
    from memsim.models.live import Call, ChatMessage
    from memsim.models.live.cost_limit import Price


# litellm, imported once it is needed, silent, and never one of the releases that steal keys.


COMPROMISED = ("1.82.7", "1.82.8")
LEAST = (1, 82, 9)

_OWN = r"(litellm|pydantic)(\.|$)"


def check_release(version: str) -> None:
    """Refuse a litellm that must not run.

    Raises:
        RefError: it was published by thieves, or is older than the first release after that.
    """
    if version in COMPROMISED:
        raise RefError(
            f"litellm {version} is malicious: it sends away every credential that it finds. Remove"
            " it, rotate every key that this machine has held since, and install litellm>=1.82.9"
        )
    if _numbers(version) < LEAST:
        raise RefError(f"litellm {version} is too old: live models need litellm>=1.82.9")


def _numbers(version: str) -> tuple[int, ...]:
    parts = [part for part in version.split(".")[:3] if part.isdecimal()]
    return tuple(map(int, parts))


def load_litellm() -> Any:  # noqa: ANN401 - a module without usable types
    """The module, set up to ask nobody for anything but the answers it is asked for.

    Raises:
        RefError: it is not installed, or not a release that may run.
    """
    try:
        check_release(metadata.version("litellm"))
    except metadata.PackageNotFoundError as error:
        raise RefError("live models need litellm, which is not installed") from error
    # Importing it would ask the network for prices; its own copy has them.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    # It builds its records when they are first needed, and what that warns of is nobody's here.
    warnings.filterwarnings("ignore", category=UserWarning, module=_OWN)
    warnings.filterwarnings("ignore", category=UserWarning, message=".*`ReadOnly` qualifier")
    import litellm

    _hush(litellm)
    return litellm


def _hush(module: ModuleType) -> None:
    quiet: dict[str, object] = {
        # For embedders it takes no 0 for an answer where it is given one.
        "DEFAULT_MAX_RETRIES": 0,
        "callbacks": [],
        "disable_hf_tokenizer_download": True,
        "drop_params": True,
        "failure_callback": [],
        "num_retries": 0,
        "success_callback": [],
        "suppress_debug_info": True,
        "telemetry": False,
    }
    for name, value in quiet.items():
        setattr(module, name, value)


# Whether this machine holds what a provider asks for: keys come from the environment alone.


def check_keys(model: str) -> None:
    """Refuse a model that nobody could ask, in one line that says what is missing.

    Args:
        model: litellm's id of it.

    Raises:
        RefError: litellm knows no such provider, or a variable is not set.
    """
    litellm = load_litellm()
    provider = model.partition("/")[0]
    try:
        # It prints advice of its own.
        with redirect_stdout(io.StringIO()):
            litellm.get_llm_provider(model)
            found = litellm.validate_environment(model)
    except Exception as error:  # it raises its errors of calls
        known = sorted(str(getattr(name, "value", name)) for name in litellm.provider_list)
        raise RefError(
            f"no provider is called {provider!r}", hint=nearest(provider, known)
        ) from error
    missing = [str(name) for name in found.get("missing_keys", ())]
    if missing and not found.get("keys_in_environment"):
        names = " and ".join(missing)
        verb = "is" if len(missing) == 1 else "are"
        raise RefError(
            f"{names} {verb} not set: {model} needs {'it' if len(missing) == 1 else 'them'} in the"
            " environment (a server of your own takes any value)"
        )


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

    def ask(self, call: Call) -> ProviderAnswer:
        """The answer to a call.

        Raises:
            Transient: there is none now.
            ContextOverflow: the call does not fit into the model's window.
            Filtered: the provider's content filter refused it.
            Refused: the provider never will answer it.
        """
        litellm = load_litellm()
        if call.tools and not _takes_tools(call.model):
            raise RefusalError(
                f"{call.model}: litellm offers it no tools, so that it cannot be an agent"
            )
        with self._free:
            try:
                response = litellm.completion(**self._told(call))
            except Exception as error:  # every provider raises kinds of its own
                raise provider_error(call.model, error) from error
        return self._answer(call, response)

    def _told(self, call: Call) -> dict[str, Any]:
        told: dict[str, Any] = {
            "model": call.model,
            "messages": [openai_message(message) for message in call.messages],
            "max_tokens": call.max_tokens,
            "temperature": call.temperature,
            "timeout": self._timeout,
            "max_retries": 0,
            "num_retries": 0,
            "stream": False,
            "drop_params": True,
        }
        if call.tools:
            told["tools"] = [openai_tool(tool) for tool in call.tools]
            # Or litellm looks for servers of tools, with packages that it does not install.
            told["_skip_mcp_handler"] = True
        return told

    def _answer(self, call: Call, response: Any) -> ProviderAnswer:  # noqa: ANN401 - litellm's own record
        try:
            choice = response.choices[0]
            said = choice.message
            text, used = said.content, tuple(map(_used, said.tool_calls or ()))
            read = int(getattr(response.usage, "prompt_tokens", 0) or 0)
            written = int(getattr(response.usage, "completion_tokens", 0) or 0)
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise TransientError(
                f"{call.model} sent something that is no answer", billed=True
            ) from error
        return ProviderAnswer(
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


def openai_message(message: ChatMessage) -> dict[str, Any]:
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


def openai_tool(tool: ToolSpec) -> dict[str, Any]:
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


def provider_error(model: str, error: Exception) -> ModelError:
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
        return FilterError(said)
    if kinds & {"Timeout", "APITimeoutError", "APIConnectionError"}:
        return TransientError(said, billed=True)
    if status in _BUSY or (isinstance(status, int) and status >= 500):
        # Without a response of its own it broke off on the way, and may have been paid for.
        headers = _headers(error)
        return TransientError(said, after=_retry_after(headers or {}), billed=headers is None)
    return RefusalError(said)


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
