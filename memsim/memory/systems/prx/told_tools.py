"""The five tools as PRX's document has them."""

# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from memsim.memory.systems.prx.brain import Brain
from memsim.memory.systems.prx.recall import Recalled
from memsim.memory.systems.prx.results import Result, done, failed, text_in
from memsim.memory.systems.prx.rows import EVERY, Clause, Row, Stamp
from memsim.memory.systems.prx.settings import Settings
from memsim.memory.systems.prx.tools import Tools, documented


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


class ToldTools(Tools):
    """The tools on behalf of one principal.

    Args:
        brain: the rows.
        settings: what the `[memory]` section says.
        principal: whose session it is.
        now: the present.
        options: as `Tools` has them.
    """

    def __init__(
        self,
        brain: Brain,
        settings: Settings,
        principal: str,
        now: Callable[[], datetime],
        **options: Any,  # noqa: ANN401 - those of `Tools`
    ) -> None:
        shape = documented(settings.max_recall_items)
        super().__init__(brain, now, shape, acl=settings.acl_enabled, **options)
        self._settings = settings
        self._principal = principal

    def keep(self, key: str, content: str, category: str) -> None:
        """Store an entry of the principal's.

        Raises:
            StoreError: the database failed.
        """
        self._write(key, content, category, {})
        self._kept(key, content, category)

    def get(self, arguments: Mapping[str, Any]) -> Result:
        """memory_get: an error where there is no such entry, or none that one has access to."""
        key = text_in(arguments, "key")
        row = self._brain.get(key, owned(self._principal)) if self._fixed else None
        row = row or self._brain.get(key, self._access())
        return failed(f"No memory found with key: {key}") if row is None else done(row.content)

    def search(self, arguments: Mapping[str, Any]) -> Result:
        """memory_search, in one category where one is named."""
        query, category = text_in(arguments, "query"), arguments.get("category")
        named = isinstance(category, str) and category
        within = Clause("m.category = ?", (str(category),)) if named else EVERY
        least = self._settings.min_relevance_score
        limit = self._limit(arguments)
        return self._listed(self.speaking_to(query, limit, least, self._now(), within))

    def speaking_to(
        self, query: str, limit: int, least: float, now: datetime | None, within: Clause = EVERY
    ) -> list[Recalled]:
        """What speaks to a query and may be shown: ranked among all, and then filtered."""
        found = self._recall(
            self._brain,
            query,
            limit,
            now=now,
            before=within & self._access() if self._fixed else within,
            after=EVERY if self._fixed else self._access(),
        )
        return [r for r in found if r.score >= least]

    def visible(self) -> list[Row]:
        """Every row that the principal has access to, what was put away too."""
        access = self._access()
        return self._brain.rows(access.sql, access.given, order="m.rowid")

    def _write(self, key: str, content: str, category: str, arguments: Mapping[str, Any]) -> None:
        self._brain.store(
            key,
            content,
            category,
            now=self._now(),
            session=self._session,
            stamp=Stamp(sender_id=self._principal),
            space=self._principal if self._fixed and self._acl else "",
            sources=self._sources,
        )

    def _forgettable(self, arguments: Mapping[str, Any]) -> Clause:
        return owned(self._principal) if self._acl else EVERY

    def _recalled(self, query: str, limit: int, arguments: Mapping[str, Any]) -> list[Recalled]:
        least = self._settings.recall_relevance_threshold
        return self.speaking_to(query, limit, least, self._now())

    def _access(self) -> Clause:
        return accessible(self._principal) if self._acl else EVERY
