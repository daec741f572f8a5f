"""The five tools as PRX's document has them."""

# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from memsim.memory.systems.prx.brain import EVERY, Brain, Clause, Row, Stamp
from memsim.memory.systems.prx.recall import Recall, Recalled
from memsim.memory.systems.prx.results import (
    NONE_RECALLED,
    RECALL_DISABLED,
    Result,
    ToolError,
    count_in,
    text_in,
)
from memsim.memory.systems.prx.settings import Settings

Kept = Callable[[str, str, str], None]
"""Called with the key, the content and the category of what was stored."""


def accessible(principal: str) -> Clause:
    """The rows that are a principal's, or come from what was shared with them alone."""
    granted = "(SELECT s.source FROM shared s WHERE s.reader = ? AND s.owner = m.sender_id)"
    return Clause(
        f"m.sender_id = ? OR '*' IN {granted} OR (m.sources <> '[]' AND NOT EXISTS"
        f" (SELECT 1 FROM json_each(m.sources) j WHERE j.value NOT IN {granted}))",
        (principal,) * 3,
    )


def owned(principal: str) -> Clause:
    """The rows that are a principal's."""
    return Clause("m.sender_id = ?", (principal,))


class ToldTools:
    """The tools over a database, on behalf of one principal.

    Args:
        brain: the rows.
        settings: what the `[memory]` section says.
        recall: how it is recalled.
        principal: whose session it is.
        now: the present.
        fixed: whether keys of different principals are different, and what a principal has no
            access to is left out before anything is ranked, not after.
        sources: ids of the messages that what is stored now comes from.
        kept: is told of every entry that is stored.
        gone: is told of every row that is forgotten.
    """

    def __init__(
        self,
        brain: Brain,
        settings: Settings,
        recall: Recall,
        principal: str,
        now: Callable[[], datetime],
        *,
        fixed: bool = False,
        sources: Callable[[], tuple[str, ...]] = tuple,
        kept: Kept = lambda _key, _content, _category: None,
        gone: Callable[[Row], None] = lambda _row: None,
    ) -> None:
        self._brain = brain
        self._settings = settings
        self._recall = recall
        self._principal = principal
        self._now = now
        self._fixed = fixed
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
        """memory_store: what is stored is the principal's."""
        key, value = text_in(arguments, "key"), text_in(arguments, "value")
        category = arguments.get("category")
        self.keep(
            key,
            value,
            category if isinstance(category, str) and category else "core",
            sources=self._sources(),
        )
        return Result(success=True, output=f"Stored memory: {key}")

    def keep(
        self,
        key: str,
        content: str,
        category: str,
        *,
        session: str | None = None,
        sources: tuple[str, ...] = (),
    ) -> None:
        """Store an entry of the principal's.

        Raises:
            StoreError: the database failed.
        """
        self._brain.store(
            key,
            content,
            category,
            now=self._now(),
            session=session,
            stamp=Stamp(sender_id=self._principal),
            space=self._principal if self._fixed and self._settings.acl_enabled else "",
            sources=sources,
        )
        self._kept(key, content, category)

    def forget(self, arguments: Mapping[str, Any]) -> Result:
        """memory_forget: under access control, only what is the principal's own."""
        key = text_in(arguments, "key")
        whose = owned(self._principal) if self._settings.acl_enabled else EVERY
        row = self._brain.get(key, whose)
        if row is None:
            return Result(success=True, output=f"No memory found with key: {key}")
        self._brain.drop([row.number])
        self._gone(row)
        return Result(success=True, output=f"Forgot memory: {key}")

    def get(self, arguments: Mapping[str, Any]) -> Result:
        """memory_get: an error where there is no such entry, or none that one has access to."""
        key = text_in(arguments, "key")
        row = self._brain.get(key, owned(self._principal)) if self._fixed else None
        row = row or self._brain.get(key, self._access())
        if row is None:
            return Result(success=False, error=f"No memory found with key: {key}")
        return Result(success=True, output=row.content)

    def recall(self, arguments: Mapping[str, Any]) -> Result:
        """memory_recall, which there is none of under access control."""
        query = text_in(arguments, "query")
        if self._settings.acl_enabled:
            return Result(success=False, error=RECALL_DISABLED)
        limit = self._limit(arguments)
        return _listed(self.recalled(query, limit, self._settings.recall_relevance_threshold))

    def search(self, arguments: Mapping[str, Any]) -> Result:
        """memory_search, in one category where one is named."""
        query, category = text_in(arguments, "query"), arguments.get("category")
        named = isinstance(category, str) and category
        within = Clause("m.category = ?", (str(category),)) if named else EVERY
        least = self._settings.min_relevance_score
        return _listed(self.recalled(query, self._limit(arguments), least, within))

    def recalled(
        self, query: str, limit: int, least: float, within: Clause = EVERY
    ) -> list[Recalled]:
        """What speaks to a query and may be shown: ranked among all, and then filtered."""
        before = self._brain.present & within
        found = self._recall(
            self._brain,
            query,
            limit,
            now=self._now(),
            before=before & self._access() if self._fixed else before,
            after=EVERY if self._fixed else self._access(),
        )
        return [r for r in found if r.score >= least]

    def visible(self) -> list[Row]:
        """Every row that the principal has access to, what was put away too."""
        access = self._access()
        return self._brain.rows(access.sql, access.given, order="m.rowid")

    def _access(self) -> Clause:
        return accessible(self._principal) if self._settings.acl_enabled else EVERY

    def _limit(self, arguments: Mapping[str, Any]) -> int:
        most = self._settings.max_recall_items
        return count_in(arguments, "max_results", default=most, most=most)


def _listed(found: list[Recalled]) -> Result:
    if not found:
        return Result(success=True, output=NONE_RECALLED)
    lines = "".join(f"- [{r.row.category}] {r.row.key}: {r.row.content}\n" for r in found)
    return Result(success=True, output=f"Found {len(found)} memories:\n{lines}")
