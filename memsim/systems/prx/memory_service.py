"""PRX's memory as a host uses it: what is said comes in, what speaks to a message comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from memsim.memory.audit import AuditTrail
from memsim.memory.codec import JSON, part, reading
from memsim.memory.file_guard import Guard
from memsim.message import utc
from memsim.models import ToolSpec
from memsim.systems.prx import access_policy, upkeep
from memsim.systems.prx.access_policy import Speakers, bind_as
from memsim.systems.prx.markdown_files import DAILY, DENIED, FileCopies, is_memory_file, read_copies
from memsim.systems.prx.recall import Recall, RecallHit, context_hits, is_worth_saving
from memsim.systems.prx.schema import CACHE, EVERY_ROW, MemoryRow, timestamp
from memsim.systems.prx.settings import PrxSettings, PrxVersion
from memsim.systems.prx.storage import (
    Surroundings,
    export_snapshot,
    files_of,
    open_brain,
    workspace_of,
)
from memsim.systems.prx.tool_versions import DocumentTools, ReleaseTools, owned, write_row
from memsim.systems.prx.tools import DOCUMENTED, REAL, PrxToolResult, PrxTools, tool_specs


class PrxService:
    """One memory of PRX; without a `salt` it keeps no audit trail.

    Raises:
        ValueError: a server has no address.
        StoreError: the backend cannot be opened.
    """

    def __init__(
        self,
        settings: PrxSettings,
        around: Surroundings,
        *,
        version: PrxVersion,
        fixed: bool,
        now: Callable[[], datetime],
        salt: bytes | None = None,
        role: str = "member",
    ) -> None:
        self.settings = settings
        self._real = version != "document"
        self._fixed = fixed
        self._now = now
        self._role = role
        self._speakers = Speakers()
        self._tidied: dict[str, datetime] = {}
        self.audit = None if salt is None else AuditTrail(salt=salt)
        self.workspace = workspace_of(settings, around)
        self.copies = FileCopies(files_of(settings, self.workspace, real=self._real))
        self.brain = open_brain(
            settings, self.workspace, around, now=now(), real=self._real, fixed=fixed
        )
        self._recall = Recall(
            weights=(settings.vector_weight, settings.keyword_weight),
            meaning_only=settings.backend == "embeddings",
            shares=settings.backend == "markdown",
        )

    def joined(self, principal: str, session: str) -> None:
        """Somebody speaks in a conversation."""
        if self._speakers.join(principal, session) and self._real:
            bind_as(self.brain, principal, self._role, self._now())

    def save_said(
        self, key: str, text: str, principal: str, session: str, sources: tuple[str, ...]
    ) -> bool:
        """Store what a user said, where it is worth it; whether it was. May raise StoreError."""
        if not text.strip() or (self._real and not is_worth_saving(text)):
            return False
        if not self._real:
            self._told(principal, session, sources).keep(key, text, "conversation")
            return True
        scope, now = self._speakers.scope(principal, session), self._now()
        write_row(
            self.brain,
            self.copies.files,
            key,
            text,
            "conversation",
            now=now,
            session=session,
            stamp=access_policy.stamp_of(self.brain, text, scope, now),
            sources=sources,
        )
        self.copies.note(key, text, "conversation", sources, self._now())
        return True

    def recalled(self, text: str, principal: str, session: str) -> list[RecallHit]:
        """What is put before a message; it leaves no trace until it is `sent`.

        0.3.0 asks nobody who they are here, access control or not, unless that is repaired.
        """
        settings = self.settings
        if not self._real:
            return self._told(principal, session, ()).speaking_to(
                text, settings.max_recall_items, settings.recall_relevance_threshold, None
            )
        caller, seen = None, EVERY_ROW
        if settings.acl_enabled and self._fixed:
            caller = access_policy.caller_of(self.brain, self._speakers.scope(principal, session))
            seen = access_policy.visible_rows(caller)
        found = self._recall(self.brain, text, settings.max_recall_items, now=None, before=seen)
        let = [r for r in found if caller is None or not access_policy.is_blocked(caller, r.row)]
        return context_hits(let, settings.min_relevance_score)

    def sent(self, text: str, numbers: Sequence[int]) -> None:
        """What was recalled for a text was really sent, these rows of it.

        In 0.3.0 that makes rows useful, and young again.
        """
        if text.strip() and self.settings.backend != "markdown":
            self.brain.meanings.note(text, timestamp(self._now()))
        if self._real and numbers:
            self.brain.used(numbers, self._now())

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the agent may call."""
        return tool_specs(REAL if self._real else DOCUMENTED, acl=self.settings.acl_enabled)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        principal: str,
        session: str,
        sources: tuple[str, ...] = (),
    ) -> PrxToolResult:
        """Run a tool for a principal. Raises ToolError for a wrong call, StoreError on failure."""
        given = dict(arguments)
        if self._real:
            scope = self._speakers.scope(principal, session)
            given |= {"_zc_scope_trusted": True, "_zc_scope": asdict(scope)}
        done = self._tools(principal, session, sources).call(name, given)
        self._audited(name, given, principal, done)
        return done

    def file_read(self, path: str) -> PrxToolResult:
        """The host's file_read: under access control, the memory's files are not for reading."""
        if self.workspace is None:
            return PrxToolResult(success=False, error=f"File not found: {path}")
        place = self.workspace / path
        if self.settings.acl_enabled:
            roots = [self.workspace / name for name in (DAILY, "MEMORY.md", "MEMORY_SNAPSHOT.md")]
            if is_memory_file(path) or Guard(roots).is_protected(path, base=self.workspace):
                return PrxToolResult(success=False, error=DENIED)
        if not place.is_file():
            return PrxToolResult(success=False, error=f"File not found: {path}")
        return PrxToolResult(success=True, output=place.read_text(encoding="utf-8"))

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

    @property
    def tidies_apart(self) -> bool:
        """Whether a turn does hygiene on what its speakers own: what PRX does of all shows them."""
        return self._fixed and self.settings.acl_enabled

    def tidy(self, now: datetime, owner: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
        """Do hygiene on an owner's entries, or everybody's, when it is time; tell what was done."""
        if not self.settings.hygiene_enabled or not upkeep.is_due(self._tidied.get(owner), now):
            return
        self._tidied[owner] = now
        done = self._tidied_real(now, owner) if self._real else self._tidied_told(now, owner)
        for kind, rows in done:
            if rows:
                yield kind, tuple(source for row in rows for source in row.sources)

    def _tidied_told(self, now: datetime, owner: str) -> Iterator[tuple[str, list[MemoryRow]]]:
        away, old = (
            [row for row in rows if owner in {"", row.sender}]
            for rows in upkeep.due(self.brain, self.settings, now)
        )
        self.brain.archive(row.number for row in away)
        self._drop(old)
        yield "archived", away
        yield "purged", old

    def _tidied_real(self, now: datetime, owner: str) -> Iterator[tuple[str, list[MemoryRow]]]:
        report = upkeep.HygieneReport()
        if self.workspace is not None:
            upkeep.tidy_files(self.workspace, self.settings, now, report)
            self.copies.look_again(self.workspace)
        old = upkeep.prune(self.brain, self.settings, now, report, owner)
        if self._fixed:  # or nobody could have them forgotten
            self._scrub(old)
        yield "purged", old
        if self.settings.snapshots:
            self._export(now)

    def visible(self, viewer: str | None) -> list[MemoryRow]:
        """Every row that a viewer may see in any of their conversations; None sees all."""
        unasked = self._real and not self._fixed  # anybody's may be put before their messages
        if viewer is None or not self.settings.acl_enabled or unasked:
            return self.brain.rows(order="m.rowid")
        if not self._real:
            return self._told(viewer, "", ()).visible()
        seen: dict[int, MemoryRow] = {}
        for scope in self._speakers.scopes(viewer):
            caller = access_policy.caller_of(self.brain, scope)
            clause = access_policy.visible_rows(caller)
            rows = self.brain.rows(clause.sql, clause.given, order="m.rowid")
            seen |= {row.number: row for row in rows if not access_policy.is_blocked(caller, row)}
        return [seen[number] for number in sorted(seen)]

    def in_files(self, viewer: str | None) -> Iterator[tuple[tuple[str, ...], str]]:
        """What stands in files beside the rows, which agents read without access control."""
        if viewer is None or not self.settings.acl_enabled:
            yield from self.copies

    def save(self) -> JSON:
        """The whole state as JSON values."""
        saved: dict[str, JSON] = {
            "brain": self.brain.save(),
            "parts": self._speakers.save(),
            "tidied": {owner: moment.isoformat() for owner, moment in self._tidied.items()},
            "copies": self.copies.save(),
        }
        if self._fixed:
            saved["embedder"] = self.brain.meanings.embedder
        if self.audit is not None:
            saved["audit"] = self.audit.save()
        return saved

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state. Raises StateError where it is damaged."""
        with reading("it is not a memory of PRX"):
            speakers = Speakers.loaded(saved["parts"])
            tidied = {
                "" + owner: utc(datetime.fromisoformat(moment))
                for owner, moment in saved["tidied"].items()
            }
            trail, brain, copies = saved.get("audit"), saved["brain"], read_copies(saved["copies"])
            if self._fixed and saved.get("embedder") != self.brain.meanings.embedder:
                # PRX does not ask whose vectors it has, and compares those of one model with
                # another's.
                brain = {**brain, CACHE: []}
        audit = None if trail is None else AuditTrail.load(trail)
        self.brain.load(brain)
        self.copies.take(copies)
        self._speakers, self._tidied = speakers, tidied
        if self.audit is not None and audit is not None:
            self.audit = audit

    def has_vectors_of_others(self, saved: object) -> bool:
        """Whether a saved state names another embedder, so that its vectors are made anew."""
        if not self._fixed:
            return False
        named = part(part(saved, "service"), "embedder")
        return isinstance(named, str) and named != self.brain.meanings.embedder

    def _tools(self, principal: str, session: str, sources: tuple[str, ...]) -> PrxTools:
        if not self._real:
            return self._told(principal, session, sources)
        return ReleaseTools(
            self.brain,
            self.copies.files,
            self._now,
            forgets=self._fixed or self.settings.backend != "markdown",
            acl=self.settings.acl_enabled,
            fixed=self._fixed,
            recall=self._recall,
            sources=sources,
            kept=lambda key, text, category: self.copies.note(
                key, text, category, sources, self._now()
            ),
            gone=lambda row: self._scrub([row]) if self._fixed else None,
        )

    def _told(self, principal: str, session: str, sources: tuple[str, ...]) -> DocumentTools:
        return DocumentTools(
            self.brain,
            self.settings,
            principal,
            self._now,
            fixed=self._fixed,
            recall=self._recall,
            session=session,
            sources=sources,
            kept=lambda key, text, category: self.copies.append(key, text, category, self._now()),
            gone=lambda row: self.copies.without([row]),
        )

    def _drop(self, rows: Sequence[MemoryRow]) -> None:
        self.brain.drop(row.number for row in rows)
        if self._fixed or not self._real:
            self._scrub(rows)

    def _scrub(self, rows: Sequence[MemoryRow]) -> None:
        snapshot = self.copies.has_snapshot
        self.copies.without(rows)
        if snapshot:
            self._export(self._now())

    def _export(self, now: datetime) -> None:
        if self.workspace is not None:
            export_snapshot(self.brain, self.workspace, now)
            self.copies.snapshot(self.brain.rows("m.category = 'core'"))

    def _meant(self, text: str, own: Sequence[MemoryRow]) -> frozenset[str]:
        from memsim.memory.forget_request import requested_message

        texts = {row.sources[0]: row.content for row in own if row.sources}
        return frozenset(requested_message(text, (), texts))

    def _audited(
        self, name: str, given: Mapping[str, Any], principal: str, done: PrxToolResult
    ) -> None:
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
