"""The five tools as PRX 0.3.0 has them, gaps included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from memsim.errors import StoreError
from memsim.memory.systems.prx import access
from memsim.memory.systems.prx.brain import Brain
from memsim.memory.systems.prx.files import DAILY, MEMORY, Files
from memsim.memory.systems.prx.keeping import ROUTER, SELF, SYSTEM, keep, keep_scoped
from memsim.memory.systems.prx.lines import lines_of
from memsim.memory.systems.prx.recall import Recalled
from memsim.memory.systems.prx.results import Result, ToolError, count_in, done, failed, text_in
from memsim.memory.systems.prx.rows import EVERY, Clause, Row
from memsim.memory.systems.prx.searching import MOST, RESULTS, Match, search, shown
from memsim.memory.systems.prx.tools import RELEASED, Tools

LINES, MOST_LINES = 50, 2000
UNREADABLE = f'{ROUTER} memory requires session_id="{SYSTEM}"'
RESERVED = "Refusing to write reserved self-system memory namespace"


class RealTools(Tools):
    """The tools on behalf of whoever the arguments' trusted scope names.

    Without access control they still note what it would have kept from whom.

    Args:
        brain: the rows.
        files: the copy beside them; None where there is none, as under access control.
        now: the present.
        forgets: whether the backend can, which files cannot.
        options: as `Tools` has them.
    """

    def __init__(
        self,
        brain: Brain,
        files: Files | None,
        now: Callable[[], datetime],
        *,
        forgets: bool = True,
        **options: Any,  # noqa: ANN401 - those of `Tools`
    ) -> None:
        super().__init__(brain, now, RELEASED, **options)
        self._files = files
        self._forgets = forgets

    def get(self, arguments: Mapping[str, Any]) -> Result:
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
        if self._acl and not access.caller_of(self._brain, access.scope_in(arguments)).is_owner:
            return done(f"No memory entry found for key: '{path}'")
        return self._of_file(path, start, lines)

    def search(self, arguments: Mapping[str, Any]) -> Result:
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
        lines = "".join(shown(query, match) for match in found)
        return done(f"Found {len(found)} matches:\n{lines}")

    def _unstorable(self, key: str) -> str:
        return RESERVED if key.startswith(SELF) else ""

    def _unaskable(self, query: str, arguments: Mapping[str, Any]) -> str:
        reserved = query.strip().startswith(ROUTER) and arguments.get("session_id") != SYSTEM
        return UNREADABLE if reserved else ""

    def _write(self, key: str, content: str, category: str, arguments: Mapping[str, Any]) -> None:
        # The original says nothing of who it stores for.
        scope = access.scope_in(arguments) if self._fixed else None
        now, sources = self._now(), self._sources
        if scope is None:
            keep(self._brain, self._files, key, content, category, now=now, sources=sources)
            return
        keep_scoped(
            self._brain,
            key,
            content,
            category,
            scope,
            now=now,
            space=access.caller_of(self._brain, scope).id if self._acl else "",
            sources=sources,
            files=self._files,
        )

    def _forgettable(self, arguments: Mapping[str, Any]) -> Clause | None:
        # The original asks nobody, and leaves the copy as it is.
        if not self._forgets:
            return None
        own = self._own(access.caller_of(self._brain, access.scope_in(arguments)))
        return own if self._acl and self._fixed else EVERY

    def _own(self, caller: access.Caller) -> Clause:
        return EVERY if caller.is_owner else Clause("m.sender_id = ?", (caller.id,))

    def _recalled(self, query: str, limit: int, arguments: Mapping[str, Any]) -> list[Recalled]:
        session = arguments.get("session_id")
        return self._recall(self._brain, query, limit, now=self._now(), session=session)

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
        visible = access.visible(caller)
        row = self._brain.get(key, visible & self._own(caller)) if self._fixed else None
        row = row or self._brain.get(key, visible)
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
            return failed(f"Path contains invalid component: {path}")
        daily = len(parts) == 2 and parts[0] == DAILY and path.endswith(".md")
        if path != MEMORY and not daily:
            return failed("Only MEMORY.md or memory/*.md paths are allowed")
        if self._files is None or path not in self._files.names():
            return failed(f"File not found: {path}")
        return _page(path, self._files.read(path), start, lines)


def _page(name: str, text: str, start: int, count: int) -> Result:
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
