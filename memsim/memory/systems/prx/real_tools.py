"""The five tools as PRX 0.3.0 has them, gaps included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from memsim.errors import StoreError
from memsim.memory.systems.prx import access
from memsim.memory.systems.prx.brain import Brain, Row, Stamp
from memsim.memory.systems.prx.files import DAILY, MEMORY, Files
from memsim.memory.systems.prx.lines import lines_of
from memsim.memory.systems.prx.recall import RECALLED, Recall
from memsim.memory.systems.prx.results import (
    NONE_RECALLED,
    RECALL_DISABLED,
    Result,
    ToolError,
    count_in,
    text_in,
)
from memsim.memory.systems.prx.searching import MOST, RESULTS, Match, search, shown

SYSTEM = "self_system"
SELF, ROUTER = "self/", "router/"
LINES, MOST_LINES = 50, 2000
UNREADABLE = f'{ROUTER} memory requires session_id="{SYSTEM}"'
UNWRITABLE = "refusing to write reserved memory namespace without self_system session"


class RealTools:
    """The tools over a database.

    Args:
        brain: the rows.
        files: the copy beside them; None where there is none, as under access control.
        now: the present.
        acl: whether tools keep from callers what is not theirs, or only note that they would.
        recall: how it is recalled.
        sources: ids of the messages that what is stored now comes from.
        forgets: whether the backend can, which files cannot.
        kept: is told of every entry that is stored.
    """

    def __init__(
        self,
        brain: Brain,
        files: Files | None,
        now: Callable[[], datetime],
        *,
        acl: bool = False,
        recall: Recall | None = None,
        sources: Callable[[], tuple[str, ...]] = tuple,
        forgets: bool = True,
        kept: Callable[[str, str, str], None] = lambda _key, _content, _category: None,
    ) -> None:
        self._brain = brain
        self._files = files
        self._now = now
        self._acl = acl
        self._recall = recall or Recall()
        self._sources = sources
        self._forgets = forgets
        self._kept = kept

    def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Run a tool.

        Raises:
            ToolError: there is no such tool, or it cannot make sense of the call.
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
        """memory_store, which says nothing of who it stores for."""
        key, content = text_in(arguments, "key"), text_in(arguments, "content")
        named = arguments.get("category")
        category = named if isinstance(named, str) else "core"
        if key.startswith(SELF):
            return Result(False, error="Refusing to write reserved self-system memory namespace")  # noqa: FBT003
        try:
            keep(
                self._brain,
                self._files,
                key,
                content,
                category,
                now=self._now(),
                sources=self._sources(),
            )
        except StoreError as error:
            return Result(False, error=f"Failed to store memory: {error}")  # noqa: FBT003
        self._kept(key, content, category)
        return _done(f"Stored memory: {key}")

    def forget(self, arguments: Mapping[str, Any]) -> Result:
        """memory_forget, which asks nobody, and leaves the copy as it is."""
        key = text_in(arguments, "key")
        found = self._forgets and self._brain.forget(key)
        return _done(f"Forgot memory: {key}" if found else f"No memory found with key: {key}")

    def recall(self, arguments: Mapping[str, Any]) -> Result:
        """memory_recall, whose percentages are the bare scores."""
        query = text_in(arguments, "query")
        if self._acl:
            return Result(False, error=RECALL_DISABLED)  # noqa: FBT003
        session = arguments.get("session_id")
        if query.strip().startswith(ROUTER) and session != SYSTEM:
            return Result(False, error=UNREADABLE)  # noqa: FBT003
        limit = count_in(arguments, "limit", default=RECALLED, most=2**31)
        found = self._recall(self._brain, query, limit, now=self._now(), session=session)
        if not found:
            return _done(NONE_RECALLED)
        lines = "".join(
            f"- [{r.row.category}] {r.row.key}: {r.row.content} [{r.score:.0f}%]\n" for r in found
        )
        return _done(f"Found {len(found)} memories:\n{lines}")

    def search(self, arguments: Mapping[str, Any]) -> Result:
        """memory_search, which takes no category, and knows no meaning."""
        query = text_in(arguments, "query")
        if not query.strip():
            return _done("No matches found for an empty query.")
        limit = count_in(arguments, "maxResults", "max_results", default=RESULTS, most=MOST)
        least = arguments.get("minScore")
        try:
            found = self._found(query, limit, _share(least), arguments)
        except StoreError as error:
            raise ToolError(str(error)) from error
        if not found:
            return _done(f"No matches found for query: '{query}'")
        lines = "".join(shown(query, match) for match in found)
        return _done(f"Found {len(found)} matches:\n{lines}")

    def get(self, arguments: Mapping[str, Any]) -> Result:
        """memory_get: by key, else out of the files."""
        path = arguments.get("path", arguments.get("key"))
        if not isinstance(path, str):
            raise ToolError("Missing 'path' parameter")
        start = arguments.get("from", 1)
        if not isinstance(start, int) or start < 1:
            return Result(False, error="'from' must be >= 1")  # noqa: FBT003
        if path.startswith(ROUTER) and arguments.get("session_id") != SYSTEM:
            raise ToolError(UNREADABLE)
        lines = count_in(arguments, "lines", default=LINES, most=MOST_LINES)
        row = self._permitted(path, arguments)
        if row is not None:
            return _page(path, row.content, start, lines)
        if self._acl and not access.caller_of(self._brain, access.scope_in(arguments)).is_owner:
            return _done(f"No memory entry found for key: '{path}'")
        return self._of_file(path, start, lines)

    def _found(
        self, query: str, limit: int, least: float, arguments: Mapping[str, Any]
    ) -> list[Match]:
        caller = access.caller_of(self._brain, access.scope_in(arguments))
        clause = access.visible(caller)
        filtered = [
            m
            for m in search(self._brain, query, limit=limit, least=least, clause=clause)
            if not access.is_blocked(caller, m.row)
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

    def _permitted(self, key: str, arguments: Mapping[str, Any]) -> Row | None:
        caller = access.caller_of(self._brain, access.scope_in(arguments))
        row = self._brain.get(key, access.visible(caller))
        if row is not None and access.is_blocked(caller, row):
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
        self,
        caller: access.Caller,
        action: str,
        rule: str,
        result: str,
        *,
        query: str | None = None,
        memory: str | None = None,
    ) -> None:
        now = self._now()
        access.log(self._brain, caller, action, rule, result, now, query=query, memory=memory)

    def _of_file(self, path: str, start: int, lines: int) -> Result:
        parts = PurePosixPath(path).parts
        if ".." in parts or path.startswith("/"):
            return Result(False, error=f"Path contains invalid component: {path}")  # noqa: FBT003
        daily = len(parts) == 2 and parts[0] == DAILY and path.endswith(".md")
        if path != MEMORY and not daily:
            return Result(False, error="Only MEMORY.md or memory/*.md paths are allowed")  # noqa: FBT003
        if self._files is None or path not in self._files.names():
            return Result(False, error=f"File not found: {path}")  # noqa: FBT003
        return _page(path, self._files.read(path), start, lines)


def keep(
    brain: Brain,
    files: Files | None,
    key: str,
    content: str,
    category: str,
    *,
    now: datetime,
    session: str | None = None,
    stamp: Stamp | None = None,
    sources: tuple[str, ...] = (),
) -> None:
    """Write a row and, where there are files, its copy.

    Raises:
        StoreError: the key is the system's own, or it cannot be written.
    """
    if key.startswith((SELF, ROUTER)) and session != SYSTEM:
        raise StoreError(UNWRITABLE)
    brain.store(key, content, category, now=now, session=session, stamp=stamp, sources=sources)
    if files is not None:
        files.append(key, content, category, now)


def keep_scoped(
    brain: Brain,
    key: str,
    content: str,
    category: str,
    scope: access.Scope,
    *,
    now: datetime,
    sender_id: str | None = None,
    session: str | None = None,
    sources: tuple[str, ...] = (),
    files: Files | None = None,
) -> None:
    """Write a row on behalf of somebody, sorted by who they are and what it says."""
    stamp = access.stamp_of(brain, content, scope, now, sender_id)
    keep(
        brain,
        files,
        key,
        content,
        category,
        now=now,
        session=session,
        stamp=stamp,
        sources=sources,
    )


def _page(name: str, text: str, start: int, count: int) -> Result:
    lines = lines_of(text)
    if not lines:
        return _done(f"{name} is empty.")
    if start > len(lines):
        said = f"requested line {start} is beyond end of entry ({len(lines)})"
        return _done(f"No content: {said}")
    shown_lines = lines[start - 1 : start - 1 + count]
    head = f"{name} lines {start}-{start + len(shown_lines) - 1}:\n"
    return _done(head + "".join(f"{n:>6}: {t}\n" for n, t in enumerate(shown_lines, start)))


def _done(output: str) -> Result:
    return Result(success=True, output=output)


def _share(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(0.0, min(1.0, float(value)))
    return 0.0
