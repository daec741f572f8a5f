"""What AutoContextMemory is told: its thresholds, under the names and defaults of its versions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from memsim.message import Block, Message, Role, Text, TokenCounter, ToolResult, ToolUse

# How long AgentScope takes messages to be: its two estimates, by which its thresholds are meant.

ROLE_NAMES: dict[Role, str] = {
    "system": "SYSTEM",
    "user": "USER",
    "assistant": "ASSISTANT",
    "tool": "TOOL",
}
REMEMBERED = 1 << 16
"""Messages whose tokens are not counted anew."""

PER_MESSAGE, PER_CALL, PER_RESULT = 5, 10, 8
CHARACTERS_PER_TOKEN = 4


def units(text: str) -> int:
    """Length in UTF-16 units, as Java counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def first_units(text: str, length: int) -> str:
    """The first UTF-16 units of a text, which may end in half a character as Java's do."""
    encoded = text.encode("utf-16-le", "surrogatepass")[: 2 * length]
    return encoded.decode("utf-16-le", "surrogatepass")


def told_input(arguments: str) -> Any:  # noqa: ANN401 - any JSON value
    """The arguments of a call as a value; an empty map where they are no JSON."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {}


class _Formula:
    """A count of tokens by a formula."""

    def __init__(self, name: str, count: Callable[[str], int]) -> None:
        self.name = name
        self.count = count


class _Estimate(TokenCounter):
    def messages(self, messages: Iterable[Message]) -> int:
        """Tokens of several messages."""
        return sum(map(self.message, messages))


class DocumentCounter(_Estimate):
    """The document's estimate; with `results`, calls and answers of tools count too."""

    def __init__(self, *, results: bool = False) -> None:
        super().__init__(_Formula("length/4", lambda text: len(text) // CHARACTERS_PER_TOKEN))
        self._results = results

    def message(self, message: Message) -> int:
        """Tokens of a message."""
        text = message.text if self._results else message.spoken
        return len(text) // CHARACTERS_PER_TOKEN


class PackageCounter(_Estimate):
    """The package's estimate, and its count of characters; `names` are the tools of answers."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(_Formula("units/2.5", lambda text: -(-2 * units(text) // 5)))
        self._names = names
        self._counts: dict[int, tuple[Message, int]] = {}

    def message(self, message: Message) -> int:
        """Tokens of a message; counted once while it is the same object."""
        known = self._counts.get(id(message))
        if known is None or known[0] is not message:
            if len(self._counts) >= REMEMBERED:
                self._counts.clear()
            known = self._counts[id(message)] = message, self._counted(message)
        return known[1]

    def _counted(self, message: Message) -> int:
        own = self.text(ROLE_NAMES[message.role]) + self.text(self.name_of(message))
        return PER_MESSAGE + own + sum(self._block(b, message) for b in message.blocks)

    def name_of(self, message: Message) -> str:
        """The name that the package gives a message: of its role, or of the tool."""
        return self._names.get(message.id, "") if message.role == "tool" else message.role

    def characters(self, message: Message) -> int:
        """UTF-16 units of a message, as it measures what is to be shortened."""
        return sum(self._units(block, message) for block in message.blocks)

    def _block(self, block: Block, message: Message) -> int:
        if isinstance(block, Text):
            return self.text(block.text)
        if isinstance(block, ToolUse):
            parts = (block.name, block.id, pseudo_json(told_input(block.arguments)))
            return PER_CALL + sum(map(self.text, parts))
        return PER_RESULT + sum(map(self.text, (self._tool(message), block.id, block.text)))

    def _units(self, block: Block, message: Message) -> int:
        if isinstance(block, ToolUse):
            given = told_input(block.arguments)
            real = json.dumps(given, ensure_ascii=False, separators=(",", ":")) if given else ""
            return units(block.name) + units(block.id) + units(real)
        if isinstance(block, ToolResult):
            return units(self._tool(message)) + units(block.id) + units(block.text)
        return units(block.text)

    def _tool(self, message: Message) -> str:
        return self._names.get(message.id, "")


def pseudo_json(given: Any) -> str:  # noqa: ANN401 - any JSON value
    """A map as the package prints it for counting: no blanks, no escapes, values as Java's text."""
    if not isinstance(given, dict) or not given:
        return ""
    pairs = (
        f'"{key}":"{value}"' if isinstance(value, str) else f'"{key}":{_java(value)}'
        for key, value in given.items()
    )
    return "{" + ",".join(pairs) + "}"


def _java(value: Any) -> str:  # noqa: ANN401 - any JSON value
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_java, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={_java(inner)}" for key, inner in value.items()) + "}"
    return str(value)


AgentscopeVersion = Literal["document", "1.0.12", "1.0.21"]
"""The published document, the Java package of 1.0.12, or the Python package of 1.0.21."""

VERSIONS: tuple[AgentscopeVersion, ...] = ("document", "1.0.12", "1.0.21")

WindowStrategy = Literal["none", "progressive", "truncation", "summarisation", "offloading"]
WINDOW_STRATEGIES: tuple[WindowStrategy, ...] = get_args(WindowStrategy)

MAX_TOKEN = 128 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoContextConfig:
    """Thresholds with the defaults of Java 1.0.12; see `strategies/agentscope.py`.

    Raises:
        ValueError: a number is out of its range.
    """

    msg_threshold: int = 100
    max_token: int = MAX_TOKEN
    token_ratio: float = 0.75
    last_keep: int = 50
    large_payload_threshold: int = 5 * 1024
    offload_single_preview: int = 200
    min_consecutive_tool_messages: int = 6
    min_compression_token_threshold: int = 5000
    current_round_compression_ratio: float = 0.3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("ratio"):
                if not 0 < value <= 1:
                    raise ValueError(f"{field.name} is {value}: above 0, and at most 1")
            elif value < 1:
                raise ValueError(f"{field.name} is {value}: at least 1")

    @property
    def token_threshold(self) -> int:
        """Tokens from which on it compresses."""
        return int(self.max_token * self.token_ratio)

    def but(self, **given: float | None) -> AutoContextConfig:
        """The thresholds with those in place that are given at all."""
        told: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return replace(self, **told)


DOCUMENTED = AutoContextConfig(msg_threshold=30, token_ratio=0.3, last_keep=10)
"""The configuration that the document shows."""


def thresholds_of(version: AgentscopeVersion, budget: int) -> AutoContextConfig:
    """What holds where nothing is said, in a model's window of at most so many tokens."""
    config = DOCUMENTED if version == "document" else AutoContextConfig()
    return config.but(max_token=min(MAX_TOKEN, budget))
