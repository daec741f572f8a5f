"""Cogtrix as a strategy: sessions, whose they are, and what is sent of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, ClassVar, Literal

from memsim.context import Context
from memsim.context_checks import repair_context
from memsim.memory.codec import JSON, part, reading
from memsim.memory.compaction.outcome import CompactionOutcome
from memsim.memory.entry import digest_of
from memsim.memory.forget_request import requested_message
from memsim.memory.scope import MemoryScopes
from memsim.message import Message
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Location,
    Query,
    State,
    Strategy,
    Surface,
)
from memsim.systems.cogtrix.chat_session import CogtrixSession
from memsim.systems.cogtrix.history_file import session_paths
from memsim.systems.cogtrix.settings import CogtrixSettings, SessionServices


class SessionFolder:
    """The sessions of a folder; a session that is opened again goes on from its files.

    `apart` gives everybody's sessions names of their own, no two of which share a file.
    """

    def __init__(self, make: Callable[[], CogtrixSession], *, apart: bool) -> None:
        self._make = make
        self._apart = apart
        self._live: dict[str, CogtrixSession] = {}
        self._files: dict[str, JSON] = {}
        self._unwritten: dict[str, None] = {}

    def __iter__(self) -> Iterator[CogtrixSession]:
        return iter(tuple(self._live.values()))

    def name(self, principal: str, session: str) -> str:
        """What a session's files are called after."""
        return digest_of(principal, session) if self._apart else session

    def of(self, name: str) -> CogtrixSession:
        """A session, to write to."""
        if name not in self._live:
            self._write()
            self._live[name] = self._opened(name)
        self._unwritten.pop(name, None)
        self._unwritten[name] = None
        return self._live[name]

    def seen_by(self, name: str) -> CogtrixSession:
        """A session, to read."""
        return self._live.get(name) or self._opened(name)

    def visible(self, viewer: str | None) -> Iterator[CogtrixSession]:
        """The sessions in which a viewer has spoken; None sees all."""
        for session in self:
            if viewer is None or session.own(viewer):
                yield session

    def save(self) -> JSON:
        """Names and files as JSON values."""
        self._write()
        return {"names": [*self._live], "files": dict(self._files)}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Replace all files by saved ones. Raises StateError where they are damaged."""
        with reading("it is not a folder of sessions"):
            names, files = [*saved["names"]], dict(saved["files"])
        self._files, self._unwritten = files, {}
        self._live = {name: self._opened(name) for name in names}

    def _opened(self, name: str) -> CogtrixSession:
        session = self._make()
        parts = {part: self._files.get(path) for part, path in _paths_of(name).items()}
        if any(parts.values()):
            history: Any = parts["history"]
            if not isinstance(history, list) and "messages" not in (history or {}):
                parts["history"] = []  # another session's file, in which no message is found
            session.load(parts)
        return session

    def _write(self) -> None:
        """Bring the files up to date, those of the session used last at last."""
        for name in self._unwritten:
            saved: Any = self._live[name].save()
            self._files |= {path: saved[part] for part, path in _paths_of(name).items()}
        self._unwritten = {}


def _paths_of(name: str) -> dict[str, str]:
    return {part: path.as_posix() for part, path in session_paths(PurePosixPath(), name).items()}


class CogtrixSystem(Strategy):
    """Cogtrix's memory as a strategy."""

    departs: ClassVar[Mapping[str, str]] = {
        "pair_closure": "the oldest messages are dropped one by one",
        "current_input": "a message too long for the window is cut, the current one too",
        "progress": "whatever the model says is taken, unless it is blank",
        "bad_summaries_are_refused": "whatever the model says is taken, unless it is blank",
        "provider_validity": "a call before the first thing a user said goes without its result",
        "well_formed": "a message is cut between any two code points",
        "within_budget": "its own estimate leaves out what every message costs by itself",
    }

    def __init__(
        self,
        env: Environment,
        settings: CogtrixSettings,
        scope: Literal["shared", "principal", "session"] | None,
    ) -> None:
        super().__init__(env)
        self._settings = settings
        services = SessionServices(
            counter=env.counter, model=env.model, embed=env.embed, tell=self._told
        )
        whose = scope or ("principal" if settings.fixed else "shared")

        def make() -> CogtrixSession:
            return CogtrixSession(settings, services)

        self._sessions: MemoryScopes[CogtrixSession] | SessionFolder = (
            SessionFolder(make, apart=settings.fixed)
            if whose == "session"
            else MemoryScopes(whose, make)
        )

    def observe(self, message: Message) -> None:
        self._sessions.of(self._name(message)).hear(message)

    def _name(self, of: Message | Query) -> str:
        """By what the session is known to which something belongs."""
        if isinstance(self._sessions, SessionFolder):
            return self._sessions.name(of.principal, of.session)
        return of.principal

    def context(self, query: Query) -> Context:
        session = self._sessions.seen_by(self._name(query))
        build = self.env.build
        sections = session.sections(query.text, query.budget, query.time)
        context = build.context(*(build.section(layer, found) for layer, found in sections))
        if not self._settings.fixed:
            return context
        return repair_context(build, context, query.budget, said=session.pending)

    def end_turn(self) -> None:
        for session in self._sessions:
            session.end_turn(self.env.clock.now(), self.env.budget)

    def forget(self, request: Forget) -> ForgetOutcome:
        sessions = tuple(self._sessions.visible(request.principal))
        own = {i: text for s in sessions for i, text in s.own(request.principal).items()}
        ids = requested_message(request.text, request.sources, own)
        gone = (i for session in sessions for i in session.remove(ids, self.env.budget))
        return ForgetOutcome(supported=True, removed=tuple(gone))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for session in self._sessions.visible(viewer):
            for line in session.summary_lines():
                yield Surface(tier="summary", sources=line.sources, text=line.text)
            for exchange in session.exchanges:
                yield Surface(tier="index", sources=exchange.sources, text=exchange.text)
            for note in session.notes():
                yield Surface(tier="store", sources=note.sources, text=note.text)
            start = max(0, len(session.messages) - session.window)
            for place, message in enumerate(session.messages):
                tier = "window" if place >= start else "log"
                yield Surface(tier=tier, sources=(message.id,), text=message.text)
            for message in session.pending:
                yield Surface(tier="window", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        session = self._sessions.seen_by(self._name(query))
        shown = self.context(query)
        latest = (*session.messages[-session.window :], *session.pending)
        if any(m.id == source for m in latest):
            there = source in shown.verbatim
            return Location(tier="window", detail="" if there else "dropped to fit the window")
        rank = session.exchanges.rank_of(source, query.text)
        if rank is not None:
            k = self._settings.recalled(session.mode)
            return Location(tier="index", rank=rank, detail=f"rank {rank}, k {k}")
        if any(source in line.sources for line in session.summary_lines()):
            detail = "" if source in shown.derived else "dropped to fit the window"
            return Location(tier="summary", detail=detail)
        if session.place(source) is not None:
            return Location(tier="log", detail="in the history file, which is not searched")
        return None

    def save(self) -> State:
        return {"sessions": self._sessions.save()}

    def load(self, state: State) -> None:
        before = tuple(self._sessions)
        self._sessions.load(part(state, "sessions"))
        for session in before:
            session.close()
        for session in self._sessions:
            session.resume(self.env.clock.now(), self.env.budget)

    def close(self) -> None:
        for session in self._sessions:
            session.close()

    def _told(self, what: CompactionOutcome | str) -> None:
        if isinstance(what, str):
            self.env.log(Event(kind="switched", detail=what))
        elif what.kind != "nothing":
            self.env.log(
                Event(
                    kind="compaction" if what.kind == "compaction" else "compaction-refused",
                    sources=what.sources,
                    before=what.before,
                    after=what.after,
                    detail=what.detail,
                )
            )
