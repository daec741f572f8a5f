"""The shape that PRX's five tools have in every version; what differs is data or a hook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memsim.errors import StoreError
from memsim.memory.systems.prx.brain import Brain
from memsim.memory.systems.prx.recall import Recall, Recalled
from memsim.memory.systems.prx.results import (
    DOCUMENTED,
    NONE_RECALLED,
    REAL,
    RECALL_DISABLED,
    Parameters,
    Result,
    ToolError,
    count_in,
    done,
    failed,
    text_in,
)
from memsim.memory.systems.prx.rows import Clause, Row

Kept = Callable[[str, str, str], None]
"""Called with the key, the content and the category of what was stored."""

CORE = "core"
"""The category of what is stored without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a version's tools are given, and how they show it.

    Attributes:
        parameters: of each tool.
        content: what memory_store is given what it stores as.
        limits: what a number of results is given as.
        results: how many there are where no number is given, of memory_recall.
        most: results at most.
        scored: whether recalled entries end with their bare score as a percentage.
    """

    parameters: Parameters
    content: str
    limits: tuple[str, ...]
    results: int
    most: int
    scored: bool


def documented(items: int) -> Shape:
    """The document's tools, with so many results at most."""
    return Shape(
        parameters=DOCUMENTED,
        content="value",
        limits=("max_results",),
        results=items,
        most=items,
        scored=False,
    )


RELEASED = Shape(
    parameters=REAL, content="content", limits=("limit",), results=5, most=2**31, scored=True
)
"""0.3.0's."""


class Tools(ABC):
    """The tools over a database.

    Args:
        brain: the rows.
        now: the present.
        shape: what they are given.
        acl: whether they keep from callers what is not theirs.
        fixed: whether who has no access is left out before anything is ranked, and keys of
            different owners are different.
        recall: how it is recalled.
        session: the conversation in which they are called.
        sources: ids of the messages that what is stored now comes from.
        kept: is told of every entry that is stored.
        gone: is told of every row that is forgotten.
    """

    def __init__(
        self,
        brain: Brain,
        now: Callable[[], datetime],
        shape: Shape,
        *,
        acl: bool = False,
        fixed: bool = False,
        recall: Recall | None = None,
        session: str | None = None,
        sources: tuple[str, ...] = (),
        kept: Kept = lambda _key, _content, _category: None,
        gone: Callable[[Row], None] = lambda _row: None,
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

    def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Run a tool.

        Raises:
            ToolError: there is no such tool, or it cannot make sense of the call.
            StoreError: the database failed.
        """
        tools: dict[str, Callable[[Mapping[str, Any]], Result]] = {
            "memory_store": self.store,
            "memory_forget": self.forget,
            "memory_get": self.get,
            "memory_recall": self.recall,
            "memory_search": self.search,
        }
        if name not in tools:
            raise ToolError(f"there is no tool {name!r}")
        return tools[name](arguments)

    def store(self, arguments: Mapping[str, Any]) -> Result:
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

    def forget(self, arguments: Mapping[str, Any]) -> Result:
        """memory_forget, which says whether there was anything to forget."""
        key = text_in(arguments, "key")
        whose = self._forgettable(arguments)
        row = None if whose is None else self._brain.get(key, whose)
        if row is None:
            return done(f"No memory found with key: {key}")
        self._brain.drop([row.number])
        self._gone(row)
        return done(f"Forgot memory: {key}")

    def recall(self, arguments: Mapping[str, Any]) -> Result:
        """memory_recall, which there is none of under access control."""
        query = text_in(arguments, "query")
        if self._acl:
            return failed(RECALL_DISABLED)
        refusal = self._unaskable(query, arguments)
        if refusal:
            return failed(refusal)
        return self._listed(self._recalled(query, self._limit(arguments), arguments))

    @abstractmethod
    def get(self, arguments: Mapping[str, Any]) -> Result:
        """memory_get."""

    @abstractmethod
    def search(self, arguments: Mapping[str, Any]) -> Result:
        """memory_search."""

    @abstractmethod
    def _write(self, key: str, content: str, category: str, arguments: Mapping[str, Any]) -> None:
        """Write what is stored."""

    @abstractmethod
    def _forgettable(self, arguments: Mapping[str, Any]) -> Clause | None:
        """The rows that the caller may have forgotten; None where nothing ever is."""

    @abstractmethod
    def _recalled(self, query: str, limit: int, arguments: Mapping[str, Any]) -> list[Recalled]:
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

    def _listed(self, found: list[Recalled]) -> Result:
        if not found:
            return done(NONE_RECALLED)
        lines = "".join(
            f"- [{r.row.category}] {r.row.key}: {r.row.content}{self._scored(r)}\n" for r in found
        )
        return done(f"Found {len(found)} memories:\n{lines}")

    def _scored(self, found: Recalled) -> str:
        return f" [{found.score:.0f}%]" if self._shape.scored else ""
