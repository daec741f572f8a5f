"""PRX's memory as a host uses it: what is said comes in, what speaks to a message comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memsim.memory.audit import AuditTrail
from memsim.memory.guard import Guard
from memsim.memory.state import JSON, reading
from memsim.memory.systems.prx import access, upkeep
from memsim.memory.systems.prx.brain import BRAIN, EVERY, UNEMBEDDED, Brain, Row
from memsim.memory.systems.prx.files import DAILY, DENIED, Files, daily_name, is_memory_file
from memsim.memory.systems.prx.real_tools import RealTools, keep_scoped
from memsim.memory.systems.prx.recall import Recall, Recalled, is_worth_saving, loaded
from memsim.memory.systems.prx.results import DOCUMENTED, REAL, Result, specs
from memsim.memory.systems.prx.settings import Settings, Version
from memsim.memory.systems.prx.told_tools import ToldTools, owned

if TYPE_CHECKING:
    from memsim.models import Embedder, ToolSpec

CHANNEL = "memsim"
"""The channel that everybody speaks on."""

CEILING = {"owner": "public", "member": "group", "guest": "private"}
"""What each role is let see at most, where everybody is bound as one (0.3.0)."""


class Written(NamedTuple):
    """A line of a file, which stays when its row is gone (0.3.0)."""

    name: str
    key: str
    text: str
    sources: tuple[str, ...]


class Service:
    """One memory of PRX.

    Args:
        settings: what the `[memory]` section says.
        version: the document's, or 0.3.0's.
        fixed: whether leaks are repaired.
        now: the present.
        embed: gives the embedder on first use.
        folder: gives the workspace on first use; asked of no backend without files.
        services: addresses of servers.
        closing: closes what is opened here.
        salt: of the audit trail; None for no trail.
        role: whom everybody is bound as (0.3.0); `unbound` for nobody.

    Raises:
        ValueError: a server has no address.
        StoreError: the backend cannot be opened.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        version: Version,
        fixed: bool,
        now: Callable[[], datetime],
        embed: Callable[[], Embedder],
        folder: Callable[[], Path],
        services: Mapping[str, str],
        closing: ExitStack,
        salt: bytes | None = None,
        role: str = "member",
    ) -> None:
        self.settings = settings
        self._real = version != "document"
        self._fixed = fixed
        self._now = now
        self._role = role
        self._parts: dict[str, dict[str, None]] = {}
        self._tidied: datetime | None = None
        self._written: list[Written] = []
        self.audit = None if salt is None else AuditTrail(salt=salt)
        self.workspace = folder() if settings.backend in {"sqlite", "markdown"} else None
        self.files = self._files()
        self.brain = self._opened(embed, folder, services, closing)
        self._recall = Recall(
            weights=(settings.vector_weight, settings.keyword_weight),
            meaning_only=settings.backend == "embeddings",
            shares=settings.backend == "markdown",
        )

    # -- what is said

    def joined(self, principal: str, session: str) -> None:
        """Somebody speaks in a conversation."""
        there = self._parts.setdefault(session, {})
        if principal in there:
            return
        there[principal] = None
        if self._real and self._role in CEILING:
            access.bind(self.brain, principal, CHANNEL, principal, self._now())
            access.set_policy(
                self.brain, principal, self._role, self._now(), ceiling=CEILING[self._role]
            )

    def save_said(
        self, key: str, text: str, principal: str, session: str, sources: tuple[str, ...]
    ) -> bool:
        """Store what a user said, where it is worth it; whether it was.

        Raises:
            StoreError: it cannot be written.
        """
        if not text.strip() or (self._real and not is_worth_saving(text)):
            return False
        if not self._real:
            tools = self._told(principal, sources)
            tools.keep(key, text, "conversation", session=session, sources=sources)
            return True
        keep_scoped(
            self.brain,
            key,
            text,
            "conversation",
            self._scope(principal, session),
            now=self._now(),
            session=session,
            sources=sources,
            files=self.files,
        )
        self._note(key, text, "conversation", sources)
        return True

    # -- what comes out

    def recalled(self, text: str, principal: str, session: str) -> list[Recalled]:
        """What is put before a message."""
        settings = self.settings
        if not self._real:
            return self._told(principal, ()).recalled(
                text, settings.max_recall_items, settings.recall_relevance_threshold
            )
        caller, seen = None, EVERY
        if settings.acl_enabled:
            caller = access.caller_of(self.brain, self._scope(principal, session))
            seen = access.visible(caller)
        found = self._recall(
            self.brain,
            text,
            settings.max_recall_items,
            now=self._now(),
            before=seen if self._fixed else EVERY,
            after=EVERY if self._fixed else seen,
        )
        let = [r for r in found if caller is None or not access.is_blocked(caller, r.row)]
        return loaded(let, settings.min_relevance_score)

    def used(self, numbers: Sequence[int]) -> None:
        """These rows were really sent: in 0.3.0 that makes them useful, and young again."""
        if self._real and numbers:
            self.brain.used(numbers, self._now())

    # -- tools

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the agent may call."""
        return specs(REAL if self._real else DOCUMENTED, acl=self.settings.acl_enabled)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        principal: str,
        session: str,
        sources: tuple[str, ...] = (),
    ) -> Result:
        """Run a tool on behalf of a principal.

        Raises:
            ToolError: there is no such tool, or it cannot make sense of the call.
            StoreError: the backend failed.
        """
        given = dict(arguments)
        if self._real:
            scope = self._scope(principal, session)
            given |= {"_zc_scope_trusted": True, "_zc_scope": _told_scope(scope)}
            done = RealTools(
                self.brain,
                self.files,
                self._now,
                acl=self.settings.acl_enabled,
                recall=self._recall,
                sources=lambda: sources,
                forgets=self.settings.backend != "markdown",
                kept=lambda key, text, category: self._note(key, text, category, sources),
            ).call(name, given)
        else:
            done = self._told(principal, sources).call(name, given)
        self._audited(name, given, principal, done)
        return done

    def file_read(self, path: str) -> Result:
        """The host's file_read: under access control, the memory's files are not for reading."""
        if self.workspace is None:
            return Result(success=False, error=f"File not found: {path}")
        place = self.workspace / path
        if self.settings.acl_enabled:
            roots = [self.workspace / name for name in (DAILY, "MEMORY.md", "MEMORY_SNAPSHOT.md")]
            if is_memory_file(path) or Guard(roots).is_protected(path, base=self.workspace):
                return Result(success=False, error=DENIED)
        if not place.is_file():
            return Result(success=False, error=f"File not found: {path}")
        return Result(success=True, output=place.read_text(encoding="utf-8"))

    # -- sharing, forgetting, ageing

    def share(
        self, owner: str, reader: str, sources: Sequence[str], *, revoked: bool = False
    ) -> None:
        """An owner lets a reader see what comes from some messages, or takes that back.

        0.3.0 knows visibilities and policies, and nothing that an owner could share.
        """
        query = "INSERT OR IGNORE INTO shared VALUES (?, ?, ?)"
        if revoked:
            query = "DELETE FROM shared WHERE owner = ? AND reader = ? AND source = ?"
        self.brain.connection.executemany(query, [(owner, reader, s) for s in sources])

    def erase(self, principal: str, text: str, sources: Sequence[str]) -> tuple[str, ...]:
        """Forget entries of a principal's own; the ids of the messages they came from.

        Chats and, in 0.3.0, files keep what they have, unless that is repaired.
        """
        if self._real and self.settings.backend == "markdown" and not self._fixed:
            return ()
        clause = owned(principal)
        own = self.brain.rows(clause.sql, clause.given, order="m.rowid")
        meant = frozenset(sources) or self._meant(text, own)
        gone = [row for row in own if meant.intersection(row.sources)]
        self._drop(gone)
        found = {source for row in gone for source in row.sources}
        return tuple(sorted(meant & found))

    def tidy(self, now: datetime) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Hygiene, where it is time for it; what was done to which messages."""
        if not self.settings.hygiene_enabled or not upkeep.is_due(self._tidied, now):
            return
        self._tidied = now
        if not self._real:
            away, old = upkeep.due(self.brain, self.settings, now)
            self.brain.archive(row.number for row in away)
            self._drop(old)
            if away:
                yield "archived", tuple(source for row in away for source in row.sources)
            if old:
                yield "purged", tuple(source for row in old for source in row.sources)
            return
        before = {row.number: row for row in self.brain.rows("m.category <> 'core'")}
        report = upkeep.Report()
        if self.workspace is not None:
            upkeep.tidy_files(self.workspace, self.settings, now, report)
            self._forget_purged(self.workspace)
        upkeep.prune(self.brain, self.settings, now, report)
        after = {row.number for row in self.brain.rows("m.category <> 'core'")}
        gone = [row for number, row in before.items() if number not in after]
        if gone:
            yield "purged", tuple(source for row in gone for source in row.sources)

    # -- looked into

    def visible(self, viewer: str | None) -> list[Row]:
        """Every row that a viewer may see in any of their conversations; None sees all."""
        if viewer is None or not self.settings.acl_enabled:
            return self.brain.rows(order="m.rowid")
        if not self._real:
            return self._told(viewer, ()).visible()
        chats = [s for s, there in self._parts.items() if viewer in there] or [""]
        seen: dict[int, Row] = {}
        for scope in dict.fromkeys(self._scope(viewer, session) for session in chats):
            caller = access.caller_of(self.brain, scope)
            clause = access.visible(caller)
            rows = self.brain.rows(clause.sql, clause.given, order="m.rowid")
            seen |= {row.number: row for row in rows if not access.is_blocked(caller, row)}
        return [seen[number] for number in sorted(seen)]

    def in_files(self, viewer: str | None) -> Iterator[tuple[tuple[str, ...], str]]:
        """What stands in files beside the rows, which agents read without access control."""
        if viewer is None or not self.settings.acl_enabled:
            for line in self._written:
                yield line.sources, line.text

    def save(self) -> JSON:
        """The whole state as JSON values."""
        saved: dict[str, JSON] = {
            "brain": self.brain.save(),
            "parts": {s: list(there) for s, there in sorted(self._parts.items())},
            "tidied": None if self._tidied is None else self._tidied.isoformat(),
            "written": [[w.name, w.key, w.text, list(w.sources)] for w in self._written],
        }
        if self.files is not None:
            saved["files"] = dict(self.files.save())
        if self.audit is not None:
            saved["audit"] = self.audit.save()
        return saved

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state.

        Raises:
            StateError: it is none.
        """
        with reading("it is not a memory of PRX"):
            parts = {s: dict.fromkeys(map(_text, there)) for s, there in saved["parts"].items()}
            tidied = saved["tidied"] and datetime.fromisoformat(saved["tidied"])
            written = [Written(_text(n), k, t, tuple(s)) for n, k, t, s in saved["written"]]
            files = {_text(n): _text(t) for n, t in saved.get("files", {}).items()}
            trail, brain = saved.get("audit"), saved["brain"]
        audit = None if trail is None else AuditTrail.load(trail)
        self.brain.load(brain)
        self._parts, self._tidied, self._written = parts, tidied, written
        if self.files is not None:
            self.files.load(files)
        if self.audit is not None and audit is not None:
            self.audit = audit

    # -- within

    def _files(self) -> Files | None:
        if self.workspace is None:
            return None
        if self.settings.backend == "markdown":
            return Files(self.workspace, stamped=False)
        # What is under access control is not written where everybody could read it.
        if self._real and not self.settings.acl_enabled:
            return Files(self.workspace, stamped=True)
        return None

    def _opened(
        self,
        embed: Callable[[], Embedder],
        folder: Callable[[], Path],
        services: Mapping[str, str],
        closing: ExitStack,
    ) -> Brain:
        mirror = None
        if self.settings.backend == "postgres":
            from memsim.memory.stores.opening import open_places
            from memsim.memory.systems.prx.mirror import StoreMirror

            places = open_places("postgres", folder, services, throwaway=True)
            closing.callback(places.close)
            mirror = StoreMirror(places.store)
        path = None
        if self.settings.backend == "sqlite" and self.workspace is not None:
            path = self.workspace / BRAIN
        brain = Brain(
            path,
            embed=embed if self.settings.hybrid else None,
            unembedded=UNEMBEDDED if self._real else frozenset(),
            cache_size=self.settings.embedding_cache_size,
            mirror=mirror,
        )
        closing.callback(brain.close)
        if mirror is not None:
            brain.restore(mirror.rows())
        return brain

    def _told(self, principal: str, sources: tuple[str, ...]) -> ToldTools:
        return ToldTools(
            self.brain,
            self.settings,
            self._recall,
            principal,
            self._now,
            fixed=self._fixed,
            sources=lambda: sources,
            kept=self._filed,
            gone=lambda row: self._unfiled([row]),
        )

    def _filed(self, key: str, content: str, category: str) -> None:
        if self.files is not None:
            self.files.append(key, content, category, self._now())

    def _note(self, key: str, text: str, category: str, sources: tuple[str, ...]) -> None:
        if self.files is not None:
            name = "MEMORY.md" if category == "core" else daily_name(self._now().date())
            self._written.append(Written(name, key, text, sources))

    def _drop(self, rows: Sequence[Row]) -> None:
        self.brain.drop(row.number for row in rows)
        if self._fixed or not self._real:
            self._unfiled(rows)

    def _unfiled(self, rows: Sequence[Row]) -> None:
        if self.files is None:
            return
        for row in rows:
            self.files.without(row.key, frozenset({row.content}))
        gone = {(row.key, row.content) for row in rows}
        self._written = [w for w in self._written if (w.key, w.text) not in gone]

    def _forget_purged(self, workspace: Path) -> None:
        def is_there(name: str) -> bool:
            path = workspace / name
            return path.exists() or (path.parent / "archive" / path.name).exists()

        there = {name: is_there(name) for name in {w.name for w in self._written}}
        self._written = [w for w in self._written if there[w.name]]

    def _scope(self, principal: str, session: str) -> access.Scope:
        group = len(self._parts.get(session, {})) > 1
        return access.Scope(
            channel=CHANNEL,
            chat_type="group" if group else "dm",
            chat_id=session if group else principal,
            sender=principal,
        )

    def _meant(self, text: str, own: Sequence[Row]) -> frozenset[str]:
        from memsim.memory.erasure import meant

        texts = {row.sources[0]: row.content for row in own if row.sources}
        return frozenset(meant(text, (), texts))

    def _audited(self, name: str, given: Mapping[str, Any], principal: str, done: Result) -> None:
        if self.audit is None:
            return
        key, category = given.get("key", given.get("query", "")), given.get("category", "")
        self.audit.record(
            name,
            principal=principal,
            outcome="allowed" if done.success else "failed",
            now=self._now(),
            key=str(key),
            category=str(category),
        )


def _told_scope(scope: access.Scope) -> dict[str, str]:
    return {
        "channel": scope.channel,
        "chat_type": scope.chat_type,
        "chat_id": scope.chat_id,
        "sender": scope.sender,
    }


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
