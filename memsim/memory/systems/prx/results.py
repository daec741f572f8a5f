"""What PRX's tools give back, and what they are told as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from memsim.models import ToolSpec

READING = frozenset({"memory_get", "memory_recall", "memory_search"})
NAMES = ("memory_store", "memory_forget", "memory_get", "memory_recall", "memory_search")

RECALL_DISABLED = (
    "memory_recall is disabled when memory ACL is enabled;"
    " use memory_search or memory_get with scoped access"
)
NONE_RECALLED = "No memories found matching that query."

Parameters = Mapping[str, tuple[Mapping[str, Mapping[str, str]], tuple[str, ...]]]
"""Parameters of each tool by name, and those that are required."""

_TEXT, _COUNT = {"type": "string"}, {"type": "integer"}
_WHOSE = {"session_id": _TEXT}

DOCUMENTED: Parameters = {
    "memory_store": ({"key": _TEXT, "value": _TEXT, "category": _TEXT}, ("key", "value")),
    "memory_forget": ({"key": _TEXT}, ("key",)),
    "memory_get": ({"key": _TEXT}, ("key",)),
    "memory_recall": ({"query": _TEXT, "max_results": _COUNT}, ("query",)),
    "memory_search": (
        {"query": _TEXT, "category": _TEXT, "max_results": _COUNT},
        ("query",),
    ),
}
"""As the document has them."""

REAL: Parameters = {
    "memory_store": ({"key": _TEXT, "content": _TEXT, "category": _TEXT}, ("key", "content")),
    "memory_forget": ({"key": _TEXT}, ("key",)),
    "memory_get": (
        {"path": _TEXT, "key": _TEXT, "from": _COUNT, "lines": _COUNT, **_WHOSE},
        ("path",),
    ),
    "memory_recall": ({"query": _TEXT, "limit": _COUNT, **_WHOSE}, ("query",)),
    "memory_search": (
        {
            "query": _TEXT,
            "maxResults": _COUNT,
            "max_results": _COUNT,
            "minScore": {"type": "number"},
        },
        ("query",),
    ),
}
"""As 0.3.0 has them."""

_SAYS = {
    "memory_store": "Keep a fact, preference or note under a key.",
    "memory_forget": "Remove what is kept under a key.",
    "memory_get": "Look up what is kept under a key.",
    "memory_recall": "Recall what speaks to a query.",
    "memory_search": "Search everything that is kept.",
}


class Result(NamedTuple):
    """What a tool gives back."""

    success: bool
    output: str = ""
    error: str | None = None

    @property
    def text(self) -> str:
        """What the agent is told."""
        return self.output if self.error is None else f"Error: {self.error}"


def done(output: str) -> Result:
    """A tool did what it was asked."""
    return Result(success=True, output=output)


def failed(error: str) -> Result:
    """A tool did not, and says why."""
    return Result(success=False, error=error)


class ToolError(Exception):
    """A call that a tool cannot make sense of; the message is for the agent."""


def specs(tools: Parameters, *, acl: bool) -> tuple[ToolSpec, ...]:
    """The tools as an agent is told of them; under access control memory_recall is none."""
    return tuple(
        ToolSpec(
            name=name,
            description=_SAYS[name],
            parameters=json.dumps(schema(*tools[name]), sort_keys=True),
            reads=name in READING,
        )
        for name in NAMES
        if not (acl and name == "memory_recall")
    )


def schema(
    properties: Mapping[str, Mapping[str, str]], required: tuple[str, ...]
) -> dict[str, Any]:
    """A tool's parameters as a JSON Schema."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def text_in(arguments: Mapping[str, Any], name: str) -> str:
    """A text that a tool has to be given.

    Raises:
        ToolError: it is missing, or no text.
    """
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolError(f"Missing '{name}' parameter")
    return value


def count_in(arguments: Mapping[str, Any], *names: str, default: int, most: int) -> int:
    """A count that a tool may be given under any of these names, held within its bounds."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return max(1, min(value, most))
    return default
