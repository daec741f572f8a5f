"""The five tools as PRX 0.3.0 has them, gaps included."""
# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from memsim.errors import StoreError
from memsim.systems.prx import access_policy
from memsim.systems.prx.brain import Brain
from memsim.systems.prx.markdown_files import DAILY, MEMORY, MarkdownFiles, lines_of
from memsim.systems.prx.recall import MOST, RESULTS, RecallHit, match_text, search
from memsim.systems.prx.schema import EVERY_ROW, AccessStamp, Clause, MemoryRow
from memsim.systems.prx.settings import PrxSettings
from memsim.systems.prx.tools import (
    RELEASED_SHAPE,
    PrxToolResult,
    PrxTools,
    ToolError,
    count_in,
    documented_shape,
    done,
    failed,
    text_in,
)

# How PRX 0.3.0 writes: what is the system's own is refused, and what is kept has its copy.

SYSTEM = "self_system"
SELF, ROUTER = "self/", "router/"
UNWRITABLE = "refusing to write reserved memory namespace without self_system session"


def write_row(
    brain: Brain,
    files: MarkdownFiles | None,
    key: str,
    content: str,
    category: str,
    *,
    now: datetime,
    session: str | None = None,
    stamp: AccessStamp | None = None,
    space: str = "",
    sources: tuple[str, ...] = (),
) -> None:
    """Write a row and its copy in the files. Raises StoreError for the system's own keys."""
    if key.startswith((SELF, ROUTER)) and session != SYSTEM:
        raise StoreError(UNWRITABLE)
    brain.store(
        key, content, category, now=now, session=session, stamp=stamp, space=space, sources=sources
    )
    if files is not None:
        files.append(key, content, category, now)


# The five tools as PRX's document has them.


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


class DocumentTools(PrxTools):
    """The document's tools on behalf of one principal."""

    def __init__(
        self,
        brain: Brain,
        settings: PrxSettings,
        principal: str,
        now: Callable[[], datetime],
        **options: Any,  # noqa: ANN401 - those of `Tools`
    ) -> None:
        shape = documented_shape(settings.max_recall_items)
        super().__init__(brain, now, shape, acl=settings.acl_enabled, **options)
        self._settings = settings
        self._principal = principal

    def keep(self, key: str, content: str, category: str) -> None:
        """Store an entry of the principal's. Raises StoreError where the database failed."""
        self._write(key, content, category, {})
        self._kept(key, content, category)

    def get(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_get: an error where there is no such entry, or none that one has access to."""
        key = text_in(arguments, "key")
        row = self._brain.get(key, owned(self._principal)) if self._fixed else None
        row = row or self._brain.get(key, self._access())
        return failed(f"No memory found with key: {key}") if row is None else done(row.content)

    def search(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_search, in one category where one is named."""
        query, category = text_in(arguments, "query"), arguments.get("category")
        named = isinstance(category, str) and category
        within = Clause("m.category = ?", (str(category),)) if named else EVERY_ROW
        least = self._settings.min_relevance_score
        limit = self._limit(arguments)
        return self._listed(self.speaking_to(query, limit, least, self._now(), within))

    def speaking_to(
        self, query: str, limit: int, least: float, now: datetime | None, within: Clause = EVERY_ROW
    ) -> list[RecallHit]:
        """What speaks to a query and may be shown: ranked among all, and then filtered."""
        found = self._recall(
            self._brain,
            query,
            limit,
            now=now,
            before=within & self._access() if self._fixed else within,
            after=EVERY_ROW if self._fixed else self._access(),
        )
        return [r for r in found if r.score >= least]

    def visible(self) -> list[MemoryRow]:
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
            stamp=AccessStamp(sender_id=self._principal),
            space=self._principal if self._fixed and self._acl else "",
            sources=self._sources,
        )

    def _forgettable(self, arguments: Mapping[str, Any]) -> Clause:
        return owned(self._principal) if self._acl else EVERY_ROW

    def _recalled(self, query: str, limit: int, arguments: Mapping[str, Any]) -> list[RecallHit]:
        least = self._settings.recall_relevance_threshold
        return self.speaking_to(query, limit, least, self._now())

    def _access(self) -> Clause:
        return accessible(self._principal) if self._acl else EVERY_ROW


LINES, MOST_LINES = 50, 2000
UNREADABLE = f'{ROUTER} memory requires session_id="{SYSTEM}"'
RESERVED = "Refusing to write reserved self-system memory namespace"


class ReleaseTools(PrxTools):
    """The tools on behalf of whoever the arguments' trusted scope names.

    Without access control they still note what it would have kept from whom. Where the backend
    cannot forget, as files cannot, `forgets` is false.
    """

    def __init__(
        self,
        brain: Brain,
        files: MarkdownFiles | None,
        now: Callable[[], datetime],
        *,
        forgets: bool = True,
        **options: Any,  # noqa: ANN401 - those of `Tools`
    ) -> None:
        super().__init__(brain, now, RELEASED_SHAPE, **options)
        self._files = files
        self._forgets = forgets

    def get(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_get: by key, else out of the files."""
        path = arguments.get("path", arguments.get("key"))
        if not isinstance(path, str):
            raise ToolError("Missing 'path' parameter")
        start = arguments.get("from", 1)
        if not isinstance(start, int) or start < 1:
            return failed("'from' must be >= 1")
        if path.startswith(ROUTER) and arguments.get("session_id") != SYSTEM:
            raise ToolError(UNREADABLE)
        lines = count_in(arguments, "lines", default=LINES, most=MOST_LINES)
        row = self._permitted(path, arguments)
        if row is not None:
            return _page(path, row.content, start, lines)
        if self._acl and not self._caller(arguments).is_owner:
            return done(f"No memory entry found for key: '{path}'")
        return self._of_file(path, start, lines)

    def search(self, arguments: Mapping[str, Any]) -> PrxToolResult:
        """memory_search, which takes no category, and knows no meaning."""
        query = text_in(arguments, "query")
        if not query.strip():
            return done("No matches found for an empty query.")
        limit = count_in(arguments, "maxResults", "max_results", default=RESULTS, most=MOST)
        least = arguments.get("minScore")
        try:
            found = self._found(query, limit, _share(least), arguments)
        except StoreError as error:
            raise ToolError(str(error)) from error
        if not found:
            return done(f"No matches found for query: '{query}'")
        lines = "".join(match_text(query, match) for match in found)
        return done(f"Found {len(found)} matches:\n{lines}")

    def _unstorable(self, key: str) -> str:
        return RESERVED if key.startswith(SELF) else ""

    def _unaskable(self, query: str, arguments: Mapping[str, Any]) -> str:
        reserved = query.strip().startswith(ROUTER) and arguments.get("session_id") != SYSTEM
        return UNREADABLE if reserved else ""

    def _write(self, key: str, content: str, category: str, arguments: Mapping[str, Any]) -> None:
        # The original says nothing of who it stores for.
        scope = access_policy.scope_in(arguments) if self._fixed else None
        now, stamp = self._now(), None
        if scope is not None:
            stamp = access_policy.stamp_of(self._brain, content, scope, now)
        write_row(
            self._brain,
            self._files,
            key,
            content,
            category,
            now=now,
            stamp=stamp,
            space=self._caller(arguments).id if scope is not None and self._acl else "",
            sources=self._sources,
        )

    def _caller(self, arguments: Mapping[str, Any]) -> access_policy.Caller:
        return access_policy.caller_of(self._brain, access_policy.scope_in(arguments))

    def _forgettable(self, arguments: Mapping[str, Any]) -> Clause | None:
        # The original asks nobody, and leaves the copy as it is.
        if not self._forgets:
            return None
        own = self._own(self._caller(arguments))
        return own if self._acl and self._fixed else EVERY_ROW

    def _own(self, caller: access_policy.Caller) -> Clause:
        return EVERY_ROW if caller.is_owner else Clause("m.sender_id = ?", (caller.id,))

    def _recalled(self, query: str, limit: int, arguments: Mapping[str, Any]) -> list[RecallHit]:
        session = arguments.get("session_id")
        return self._recall(self._brain, query, limit, now=self._now(), session=session)

    def _found(
        self, query: str, limit: int, least: float, arguments: Mapping[str, Any]
    ) -> list[RecallHit]:
        caller = self._caller(arguments)
        clause = access_policy.visible_rows(caller)
        filtered = [
            m
            for m in search(self._brain, query, limit=limit, least=least, clause=clause)
            if not access_policy.is_blocked(caller, m.row)
        ]
        if caller.is_owner:
            return filtered
        if self._acl:
            result = "allowed" if filtered else "no_results"
            self._log(caller, "search", "acl_enforced", result, query=query)
            return filtered
        every = search(self._brain, query, limit=limit, least=least)
        kept = {m.row.number for m in filtered}
        result = "allowed" if every else "no_results"
        if any(m.row.number not in kept for m in every):
            result = "would_deny"
        self._log(caller, "search", "observe_mode", result, query=query)
        return every

    def _permitted(self, key: str, arguments: Mapping[str, Any]) -> MemoryRow | None:
        caller = self._caller(arguments)
        visible = access_policy.visible_rows(caller)
        row = self._brain.get(key, visible & self._own(caller)) if self._fixed else None
        row = row or self._brain.get(key, visible)
        if row is not None and access_policy.is_blocked(caller, row):
            row = None
        if caller.is_owner:
            return row
        if self._acl:
            if row is None:
                self._log(caller, "get_denied", "scope_or_post_filter", "denied", memory=key)
            else:
                self._log(caller, "get", "acl_enforced", "allowed", memory=key)
            return row
        every = self._brain.get(key)
        if every is not None:
            result = "allowed" if row is not None else "would_deny"
            self._log(caller, "get", "observe_mode", result, memory=key)
        return every

    def _log(
        self, caller: access_policy.Caller, action: str, rule: str, result: str, **of: str
    ) -> None:
        access_policy.log_access(self._brain, caller, action, rule, result, self._now(), **of)

    def _of_file(self, path: str, start: int, lines: int) -> PrxToolResult:
        parts = PurePosixPath(path).parts
        if ".." in parts or path.startswith("/"):
            return failed(f"Path contains invalid component: {path}")
        daily = len(parts) == 2 and parts[0] == DAILY and path.endswith(".md")
        if path != MEMORY and not daily:
            return failed("Only MEMORY.md or memory/*.md paths are allowed")
        if self._files is None or path not in self._files.names():
            return failed(f"File not found: {path}")
        return _page(path, self._files.read(path), start, lines)


def _page(name: str, text: str, start: int, count: int) -> PrxToolResult:
    lines = lines_of(text)
    if not lines:
        return done(f"{name} is empty.")
    if start > len(lines):
        said = f"requested line {start} is beyond end of entry ({len(lines)})"
        return done(f"No content: {said}")
    shown_lines = lines[start - 1 : start - 1 + count]
    head = f"{name} lines {start}-{start + len(shown_lines) - 1}:\n"
    return done(head + "".join(f"{n:>6}: {t}\n" for n, t in enumerate(shown_lines, start)))


def _share(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(0.0, min(1.0, float(value)))
    return 0.0
