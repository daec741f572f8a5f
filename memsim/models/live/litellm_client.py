"""Call a provider through litellm, and turn its errors into memsim's."""

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


# litellm is imported on first use, made silent, and never a compromised release.


COMPROMISED = ("1.82.7", "1.82.8")
LEAST = (1, 82, 9)

_OWN = r"(litellm|pydantic)(\.|$)"


def check_release(version: str) -> None:
    """Refuse an unsafe or outdated release of litellm.

    Raises:
        RefError: it is a compromised release, or older than the first safe release after it.
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
    """Import litellm, configured to send nothing but the calls.

    Raises:
        RefError: it is not installed, or the release is refused.
    """
    try:
        check_release(metadata.version("litellm"))
    except metadata.PackageNotFoundError as error:
        raise RefError("live models need litellm, which is not installed") from error
    # An import would download prices; the packaged copy is used instead.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    # Its records are built on first use; warnings about them concern litellm only.
    warnings.filterwarnings("ignore", category=UserWarning, module=_OWN)
    warnings.filterwarnings("ignore", category=UserWarning, message=".*`ReadOnly` qualifier")
    import litellm

    _hush(litellm)
    return litellm


def _hush(module: ModuleType) -> None:
    quiet: dict[str, object] = {
        # For embedders it does not accept 0.
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
    with suppress(AttributeError):
        # Each call starts an event loop to time itself, and the first is never closed.
        timing = module._service_logger.ServiceLogging  # noqa: SLF001 - there is no switch for it
        timing.service_success_hook = timing.service_failure_hook = _ignore


def _ignore(*_: object, **__: object) -> None:
    """Take what litellm tells its services: memsim has none."""


# Keys come only from the environment.


def check_keys(model: str) -> None:
    """Refuse a model whose provider or key is missing.

    Raises:
        RefError: litellm does not know the provider, or a variable is not set.
    """
    litellm = load_litellm()
    provider = model.partition("/")[0]
    try:
        # litellm prints advice.
        with redirect_stdout(io.StringIO()):
            litellm.get_llm_provider(model)
            found = litellm.validate_environment(model)
    except Exception as error:  # it raises the errors of calls here
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
"""Maximum number of parallel calls of one process."""

TIMEOUT = 120.0
"""Seconds that one attempt may take."""

_FILTER = ("content_filter", "content filter", "content management policy", "was filtered")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_TOLD_IN_WORDS = "ollama/"
"""Providers for which litellm describes tools in words if necessary."""

_BUSY = frozenset({408, 409, 425, 429})


class LiteLLM:
    """Calls any provider that litellm supports; keys and addresses come from the environment.

    Args:
        price: dollars per token; None if unknown.
        timeout: seconds that one attempt may take.
        at_once: maximum number of parallel calls.
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
            Transient: the provider cannot answer now.
            ContextOverflow: the call does not fit into the model's window.
            Filtered: the provider's content filter blocked it.
            Refused: the provider will never answer it.
        """
        litellm = load_litellm()
        if call.tools and not _takes_tools(call.model):
            raise RefusalError(
                f"{call.model}: litellm offers it no tools, so that it cannot be an agent"
            )
        with self._free:
            try:
                response = litellm.completion(**self._parameters(call))
            except Exception as error:  # providers raise many types
                raise provider_error(call.model, error) from error
        return self._answer(call, response)

    def _parameters(self, call: Call) -> dict[str, Any]:
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
            # Otherwise litellm looks for tool servers, with packages that are not installed.
            told["_skip_mcp_handler"] = True
        return told

    def _answer(self, call: Call, response: Any) -> ProviderAnswer:  # noqa: ANN401 - a record of litellm
        try:
            choice = response.choices[0]
            said = choice.message
            text, used = said.content, tuple(map(_used, said.tool_calls or ()))
            read = int(getattr(response.usage, "prompt_tokens", 0) or 0)
            written = int(getattr(response.usage, "completion_tokens", 0) or 0)
            cost = None if self._price is None else self._price.cost(read, written)
            finish = str(choice.finish_reason or "stop")
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            raise TransientError(
                f"{call.model} sent something that is no answer", billed=True
            ) from error
        return ProviderAnswer(
            text=text if isinstance(text, str) else "",
            calls=used,
            finish=finish,
            input=read,
            output=written,
            cost=cost,
        )


def _used(call: Any) -> ToolUse:  # noqa: ANN401 - a record of litellm
    function = call.function
    arguments = function.arguments
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments or {}, ensure_ascii=False, sort_keys=True)
    return ToolUse(id=str(call.id or ""), name=str(function.name or ""), arguments=arguments)


@lru_cache(maxsize=64)
def _takes_tools(model: str) -> bool:
    # litellm drops parameters that a provider does not support, but an agent needs its tools.
    if model.startswith(_TOLD_IN_WORDS):
        return True
    known = load_litellm().get_supported_openai_params(model=model)
    return known is None or "tools" in known


def openai_message(message: ChatMessage) -> dict[str, Any]:
    """A message in OpenAI's format, which litellm converts for other providers.

    Invalid arguments of a tool call are replaced, so that every provider accepts the message.
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
    # For some providers litellm parses the arguments, and raises if they are not an object.
    with suppress(ValueError, RecursionError):
        if isinstance(json.loads(arguments), dict):
            return arguments
    return json.dumps({"unreadable": arguments}, ensure_ascii=False)


def openai_tool(tool: ToolSpec) -> dict[str, Any]:
    """A tool in OpenAI's format."""
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
    """Turn a provider's error into one of memsim's."""
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
        # Without a response the connection broke, and the call may have been billed.
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
        return None  # a date is ignored, because clocks differ
    return seconds if 0 <= seconds < float("inf") else None


def _first_line(error: Exception) -> str:
    said = str(error).strip().partition("\n")[0]
    # Some providers repeat the refused key in the error.
    return redact(f"{type(error).__name__}: {said.rpartition('Exception - ')[2]}")[:300]
