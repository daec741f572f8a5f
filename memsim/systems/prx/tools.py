"""The shape that PRX's five tools have in every version; what differs is data or a hook."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from memsim.errors import StoreError
from memsim.models import ToolSpec
from memsim.systems.prx.brain import Brain
from memsim.systems.prx.recall import Recall, RecallHit
from memsim.systems.prx.schema import Clause, MemoryRow

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
    "memory_search": ({"query": _TEXT, "category": _TEXT, "max_results": _COUNT}, ("query",)),
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


class PrxToolResult(NamedTuple):
    """What a tool gives back."""

    success: bool
    output: str = ""
    error: str | None = None

    @property
    def text(self) -> str:
        """What the agent is told."""
        return self.output if self.error is None else f"Error: {self.error}"


def done(output: str) -> PrxToolResult:
    """A tool did what it was asked."""
    return PrxToolResult(success=True, output=output)


def failed(error: str) -> PrxToolResult:
    """A tool did not, and says why."""
    return PrxToolResult(success=False, error=error)


class ToolError(Exception):
    """A call that a tool cannot make sense of; the message is for the agent."""


def tool_specs(tools: Parameters, *, acl: bool) -> tuple[ToolSpec, ...]:
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
    """Read a text that a tool needs. Raises ToolError where it is missing, or no text."""
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


StoreHook = Callable[[str, str, str], None]
"""Called with the key, the content and the category of what was stored."""

CORE = "core"
"""The category of what is stored without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolShape:
    """What a version's tools are given, and how they show it.

    Attributes:
        content: what memory_store is given what it stores as.
        limits: what a number of results is given as.
        results: how many there are where no number is given, of memory_recall.
        most: results at most.
        scored: whether recalled entries end with their bare score as a percentage.
    """

    content: str
    limits: tuple[str, ...]
    results: int
    most: int
    scored: bool


def documented_shape(items: int) -> ToolShape:
    """The document's tools, with so many results at most."""
    return ToolShape(
        content="value",
        limits=("max_results",),
        results=items,
        most=items,
        scored=False,
    )


RELEASED_SHAPE = ToolShape(content="content", limits=("limit",), results=5, most=2**31, scored=True)
"""0.3.0's."""


class PrxTools(ABC):
    """The tools over a database.

    Args:
        acl: whether they keep from callers what is not theirs.
        fixed: whether who has no access is left out before anything is ranked, and keys of
            different owners are different.
        sources: ids of the messages that what is stored now comes from.
        kept: is told of every entry that is stored.
        gone: is told of every row that is forgotten.
    """

    def __init__(
        self,
        brain: Brain,
        now: Callable[[], datetime],
        shape: ToolShape,
        *,
        acl: bool = False,
        fixed: bool = False,
        recall: Recall | None = None,
        session: str | None = None,
        sources: tuple[str, ...] = (),
        kept: StoreHook = lambda _key, _content, _category: None,
        gone: Callable[[MemoryRow], None] = lambda _row: None,
    ) -> None:
        self._brain = brain
        self._now = now
        self._shape = shape
        self._acl = acl
        self._fixed = fixed
        self._recall = recall or Recall()
        self._session = session
        self._sources = sources
        self._kept = kept
        self._gone = gone

    def call(self, name: str, arguments: Mapping[str, Any]) -> PrxToolResult:
        """Run a tool. Raises ToolError for a wrong call, and StoreError if the database failed."""
        tools: dict[str, Callable[[Mapping[str, Any]], PrxToolResult]] = {
            "memory_store": self.store,
            "memory_forget": self.forget,
            "memory_get": self.get,
            "memory_recall": self.recall,
            "memory_search": self.search,
        }
        if name not in tools:
            raise ToolError(f"there is no tool {name!r}")
        return tools[name](arguments)

    def store(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_store."""
        key, content = text_in(arguments, "key"), text_in(arguments, self._shape.content)
        named = arguments.get("category")
        category = named if isinstance(named, str) else CORE
        refusal = self._unstorable(key)
        if refusal:
            return failed(refusal)
        try:
            self._write(key, content, category, arguments)
        except StoreError as error:
            return failed(f"Failed to store memory: {error}")
        self._kept(key, content, category)
        return done(f"Stored memory: {key}")

    def forget(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_forget, which says whether there was anything to forget."""
        key = text_in(arguments, "key")
        whose = self._forgettable(arguments)
        row = None if whose is None else self._brain.get(key, whose)
        if row is None:
            return done(f"No memory found with key: {key}")
        self._brain.drop([row.number])
        self._gone(row)
        return done(f"Forgot memory: {key}")

    def recall(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_recall, which there is none of under access control."""
        query = text_in(arguments, "query")
        if self._acl:
            return failed(RECALL_DISABLED)
        refusal = self._unaskable(query, arguments)
        if refusal:
            return failed(refusal)
        return self._listed(self._recalled(query, self._limit(arguments), arguments))

    @abstractmethod
    def get(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_get."""

    @abstractmethod
    def search(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_search."""

    @abstractmethod
    def _write(self, key: str, content: str, category: str, arguments: Mapping[str, Any]) -> None:
        """Write what is stored."""

    @abstractmethod
    def _forgettable(self, arguments: Mapping[str, Any]) -> Clause | None:
        """The rows that the caller may have forgotten; None where nothing ever is."""

    @abstractmethod
    def _recalled(self, query: str, limit: int, arguments: Mapping[str, Any]) -> list[RecallHit]:
        """What speaks to a query."""

    def _unstorable(self, key: str) -> str:
        """Why nothing is stored under a key."""
        return ""

    def _unaskable(self, query: str, arguments: Mapping[str, Any]) -> str:
        """Why a query is not answered."""
        return ""

    def _limit(self, arguments: Mapping[str, Any]) -> int:
        shape = self._shape
        return count_in(arguments, *shape.limits, default=shape.results, most=shape.most)

    def _listed(self, found: list[RecallHit]) -> PrxToolResult:
        if not found:
            return done(NONE_RECALLED)
        lines = "".join(
            f"- [{r.row.category}] {r.row.key}: {r.row.content}{self._scored(r)}\n" for r in found
        )
        return done(f"Found {len(found)} memories:\n{lines}")

    def _scored(self, found: RecallHit) -> str:
        return f" [{found.score:.0f}%]" if self._shape.scored else ""
