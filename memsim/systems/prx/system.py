"""PRX as a strategy: rows by tools and by what users say, and the chats beside them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import ClassVar

from memsim.context import Context, ContextBuilder, Section
from memsim.context_checks import repair_context
from memsim.memory.codec import load_whole, reading
from memsim.memory.compaction import CompactionOutcome
from memsim.memory.scope import MemoryScopes
from memsim.message import Message, Role, TokenCounter, composed
from memsim.models import ToolSpec
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Query,
    State,
    Strategy,
    Surface,
)
from memsim.systems.prx.chats import Chat
from memsim.systems.prx.memory_service import PrxService
from memsim.systems.prx.recall import RecallHit, context_text
from memsim.systems.prx.settings import PrxSettings, PrxVersion
from memsim.systems.prx.storage import Surroundings
from memsim.systems.prx.tools import ToolError

Terms = Mapping[str, tuple[timedelta, timedelta | None]]
_NAMESPACE = uuid.UUID("0f4c9e43-8e1f-4f57-9a43-0d6c1f0c7f0b")

ID = "recalled:"
HEAD = 16
"""Tokens that the text has beside its lines, at the most."""


def recalled_section(
    found: Sequence[RecallHit],
    limit: int,
    *,
    counter: TokenCounter,
    build: ContextBuilder,
    there: Container[object],
    now: datetime,
    role: Role = "system",
) -> Section:
    """Show the best of what was found within `limit` tokens, as a message of a role.

    A message in `there` stands in the context anyway, and counts there.
    """
    total, shown = HEAD, 0
    for one in found:
        total += counter.text(f"- {one.row.key}: {one.row.content}\n")
        if total > limit:
            break
        shown += 1
    while shown:
        section = build.section("recalled", (_recalled_message(found[:shown], there, now, role),))
        if section.tokens <= limit:
            return section
        shown -= 1
    return build.section("recalled", ())


def shown_row_ids(context: Context) -> list[str]:
    """The ids of the rows that a context tells of."""
    ids = (m.id for section in context.sections for m in section.messages if m.composed)
    told = (name.removeprefix(ID) for name in ids if name.startswith(ID))
    return [row for names in told for row in names.split(",")]


def _recalled_message(
    found: Sequence[RecallHit], there: Container[object], now: datetime, role: Role
) -> Message:
    said = [r.row for r in found if r.row.key.startswith("user_msg_")]
    other = [r.row for r in found if not r.row.key.startswith("user_msg_")]
    quotes = dict.fromkeys(i for row in said for i in row.sources if i not in there)
    made_of = dict.fromkeys(i for row in other for i in row.sources)
    # Not as the user's own words: who acts on those would store them once more.
    return composed(
        role,
        context_text(list(found)),
        # Not their numbers, which tell how many rows others have.
        id=ID + ",".join(r.row.id for r in found),
        quotes=tuple(quotes),
        derived_from=tuple(made_of),
        time=now,
    )


class PrxSystem(Strategy):
    """PRX's memory as a strategy; see `strategies/prx.py` for its parameters."""

    departs: ClassVar[Mapping[str, str]] = {
        "authority_non_elevation": "what is recalled is a system message",
        "non_interference": "hygiene is done on everybody's entries when anybody speaks",
        "grant_and_revoke": "what hygiene erased is still sent, and cannot be shared",
    }
    departs_with: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "version=0.3.0,acl=on": {
            "fail_closed": "0.3.0 puts anybody's rows before a message, whoever speaks",
            "principal_source": "0.3.0 puts anybody's rows before a message, whoever speaks",
            "foreign_handle": "0.3.0 puts anybody's rows before a message, whoever speaks",
        },
        "version=0.3.0,acl=on,fixed=true": {
            "grant_and_revoke": "0.3.0 has nothing that an owner could share"
        },
    }

    def __init__(
        self,
        env: Environment,
        settings: PrxSettings,
        *,
        version: PrxVersion,
        fixed: bool,
        role: str,
        history: int,
        compaction: bool | None,
    ) -> None:
        super().__init__(env)
        if history < 1:
            raise ValueError(f"history is {history}: at least 1")
        self.settings = settings
        self._fixed = fixed
        compacts = version != "document" if compaction is None else compaction
        self._chats = MemoryScopes(
            "principal", lambda: Chat(env.counter, limit=history, compacts=compacts)
        )
        self._pending: list[Message] = []
        self._asked: tuple[Context | None, str] = (None, "")
        self._closing = ExitStack()
        self.service = PrxService(
            settings,
            Surroundings(
                embed=env.embed, folder=env.folder, services=env.services, closing=self._closing
            ),
            version=version,
            fixed=fixed,
            now=env.clock.now,
            salt=env.random.randbytes(16) if settings.audit_enabled else None,
            role=role,
        )

    def observe(self, message: Message) -> None:
        chat = self._chats.of(message.principal)
        if message.id in chat:
            return
        if left := chat.add(message):
            self._log("dropped", tuple(m.id for m in left))
        self._pending.append(message)
        self.service.joined(message.principal, message.session)
        if message.role == "user" and self.settings.auto_save:
            key = f"user_msg_{uuid.uuid5(_NAMESPACE, message.id)}"
            saved = self.service.save_said(
                key, message.text, message.principal, message.session, (message.id,)
            )
            if saved:
                self._log("stored", (message.id,))

    def context(self, query: Query) -> Context:
        found = self.service.recalled(query.text, query.principal, query.session)
        chat = self._chats.seen_by(query.principal)
        recalled = recalled_section(
            found,
            query.budget // 2,
            counter=self.env.counter,
            build=self.env.build,
            there=chat,
            now=self.env.clock.now(),
            role="user" if self._fixed else "system",
        )
        context = self.env.build.context(recalled, chat.section(query.budget - recalled.tokens))
        ranking = (source for one in found for source in one.row.sources)
        context = Context(sections=context.sections, ranking=tuple(dict.fromkeys(ranking)))
        if self._fixed:
            context = repair_context(self.env.build, context, query.budget)
        self._asked = (context, query.text)
        return context

    def delivered(self, context: Context) -> None:
        of, text = self._asked
        numbers = self.service.brain.numbers(shown_row_ids(context))
        self.service.sent(text if of is context else "", numbers)

    def end_turn(self) -> None:
        if not self._pending:
            return
        said, now = list(dict.fromkeys(m.principal for m in self._pending)), self.env.clock.now()
        self._pending.clear()
        for chat in self._chats:
            if (done := chat.compact(self.env.model, now)) is not None:
                self.env.log(_told_of(done))
        for owner in said if self.service.tidies_apart else ("",):
            self._tidy(now, owner)

    def elapse(self, now: datetime) -> None:
        self._tidy(now)

    def _tidy(self, now: datetime, owner: str = "") -> None:
        for kind, sources in self.service.tidy(now, owner):
            self._log(kind, sources)
            # PRX erases the entry, and goes on sending what it was made of.
            chats = self._chats if self._fixed and kind == "purged" else ()
            if gone := tuple(dict.fromkeys(i for chat in chats for i in chat.remove(sources))):
                self._log(kind, gone)

    def retention(self, wanted: Terms | None = None) -> Terms:
        return self.settings.terms()

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return self.service.specs()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        try:
            told = json.loads(arguments or "{}")
            json.dumps(told, ensure_ascii=False).encode()  # half a surrogate pair is no JSON
        except (ValueError, RecursionError):
            return "Error: the arguments are not JSON"
        if not isinstance(told, dict):
            return "Error: the arguments are not an object"
        told = {name: value for name, value in told.items() if not name.startswith("_zc_")}
        mine = [m for m in self._pending if m.principal == principal]
        session = mine[-1].session if mine else ""
        try:
            return self.service.call(name, told, principal, session, tuple(m.id for m in mine)).text
        except ToolError as error:
            return f"Error: {error}"

    def grant(self, grant: Grant) -> None:
        self.service.share(grant.owner, grant.viewer, grant.sources, revoked=grant.revoked)
        if grant.everything:
            self.service.share(grant.owner, grant.viewer, ("*",), revoked=grant.revoked)

    def forget(self, request: Forget) -> ForgetOutcome:
        removed = self.service.erase(request.principal, request.text, request.sources)
        if self._fixed:
            gone = self._chats.seen_by(request.principal).remove(request.sources or removed)
            removed = tuple(dict.fromkeys((*removed, *gone)))
        left = {source for surface in self.surfaces() for source in surface.sources}
        return ForgetOutcome(supported=True, removed=tuple(s for s in removed if s not in left))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for row in self.service.visible(viewer):
            tier = "archive" if row.archived else "store"
            yield Surface(tier=tier, sources=row.sources, text=row.content)
        for sources, text in self.service.in_files(viewer):
            yield Surface(tier="log", sources=sources, text=text)
        for message in (m for chat in self._chats.visible(viewer) for m in chat):
            if message.composed:
                yield Surface(tier="summary", sources=message.derived_from, text=message.text)
            else:
                yield Surface(tier="window", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        ranking = self.context(query).ranking
        rank = ranking.index(source) + 1 if source in ranking else None
        chat = self._chats.seen_by(query.principal)
        if source in chat:
            return Location(tier="window", rank=rank)
        if rank is not None:
            return Location(tier="store", rank=rank)
        if any(m.composed and source in m.derived_from for m in chat):
            return Location(tier="summary")
        # Under access control, where another's message is, is nobody's business.
        viewer = query.principal if self.settings.acl_enabled else None
        found = (s.tier for s in self.surfaces(viewer) if source in s.sources)
        return next((Location(tier=tier) for tier in found), None)

    def save(self) -> State:
        return {"service": self.service.save(), "chats": self._chats.save()}

    def load(self, state: State) -> None:
        if self.service.has_vectors_of_others(state):
            self._load(state)
            return
        load_whole(state, load=self._load, save=self.save, otherwise="it is not a memory of PRX")

    def _load(self, state: State) -> None:
        with reading("it is not a memory of PRX"):
            service, chats = state["service"], state["chats"]
            if len(state) != 2:
                raise ValueError(*state)
        before = self._chats.save()
        self._chats.load(chats)
        with ExitStack() as undone:
            undone.callback(self._chats.load, before)
            self.service.load(service)
            undone.pop_all()
        self._pending.clear()

    def close(self) -> None:
        self._closing.close()

    def _log(self, kind: str, sources: tuple[str, ...]) -> None:
        self.env.log(Event(kind=kind, sources=sources))


def _told_of(done: CompactionOutcome) -> Event:
    return Event(
        kind="compaction" if done.kind == "compaction" else "compaction-refused",
        sources=done.sources,
        before=done.before,
        after=done.after,
        detail=done.detail,
    )
