"""AgentScope as a strategy: agents with short-term memories, and one long-term memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from itertools import takewhile
from typing import Any, ClassVar, Literal, get_args

from memsim.context import Context
from memsim.context_checks import credit_once, fit_context
from memsim.memory.codec import JSON, load_whole, reading
from memsim.memory.compaction.summary import originals
from memsim.memory.forget_request import requested_message
from memsim.message import Message, composed
from memsim.models import Model, ToolSpec
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
from memsim.systems.agentscope import tools
from memsim.systems.agentscope.agents import (
    AgentScope,
    AgentscopeAgent,
    AgentscopeAgents,
    MemoryDraft,
    ShortTermChoice,
    make_short_term,
)
from memsim.systems.agentscope.long_term_memory import LongTermKind, LongTermMemory, injection
from memsim.systems.agentscope.python_memory import MarkingDraft
from memsim.systems.agentscope.session_file import session_of, write_session
from memsim.systems.agentscope.short_term import ShortTermDraft, ShortTermMemory

HOOK = (
    "Some messages may be compressed and hold <!-- CONTEXT_OFFLOAD uuid=... -->."
    "\nCall context_reload with that uuid where you need what was there."
    "\nNever mention a uuid to the user."
)

LongTermMode = Literal["static", "agent", "both"]


class LongTermUse:
    """A long-term memory, used by the framework, by the agent's tools, or by both.

    Args:
        packaged: do as the packages do: what was retrieved becomes part of the history, all of
            which is recorded every time.
        fixed: nothing is recorded twice, and what is retrieved cannot close its block.

    Raises:
        ValueError: a word means nothing here, or the limit is below 1.
    """

    def __init__(
        self, kind: LongTermKind, mode: LongTermMode, limit: int, *, packaged: bool, fixed: bool
    ) -> None:
        if mode not in get_args(LongTermMode):
            raise ValueError(f"mode is {mode!r}: it is 'static', 'agent' or 'both'")
        self.memory = LongTermMemory(kind, limit)
        self._framework = kind != "none" and mode != "agent"
        self._agent = kind != "none" and mode != "static"
        self._packaged = packaged
        self._fixed = fixed
        # Counted by user: a number that runs on across them tells of what others do.
        self._injections: dict[str, int] = {}

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """The agent's tools for it."""
        return tools.LONG_TERM_TOOLS if self._agent else ()

    def retrieved(self, text: str, user: str, now: datetime) -> tuple[Message, ...]:
        """What the framework puts into the prompt for a user's message."""
        found = self.memory.retrieve(text, user) if self._framework else ()
        if not found:
            return ()
        number = f"{user}:{self._injections.get(user, 0)}"
        return (injection(found, number, now, fixed=self._fixed),)

    def put_back(self, agent: AgentscopeAgent, user: str, messages: Iterable[Message]) -> None:
        """What was retrieved for a user was sent: in the packages it stays in the history."""
        if self._fixed or not self._packaged:
            return
        for message in messages:
            self._injections[user] = self._injections.get(user, 0) + 1
            agent.memory.add_message(message)
            agent.fresh.append(message)

    def record(
        self, agent: AgentscopeAgent, model: Model, now: datetime
    ) -> Iterator[tuple[int, list[str]]]:
        """The framework records a turn: how many memories are new, and of which messages."""
        if not agent.fresh or not self._framework:
            return
        whole = self._packaged and not self._fixed
        said = agent.memory.get_messages() if whole else tuple(agent.fresh)
        users = dict.fromkeys(agent.owners[m.id] for m in agent.fresh if m.id in agent.owners)
        for user in users:
            own = tuple(m for m in said if agent.owners.get(m.id, user) == user)
            new = self.memory.record(own, user, model, now)
            if new:
                yield new, list(dict.fromkeys(i for m in own for i in originals(m)))

    def save(self) -> dict[str, JSON]:
        """The memories, and how often any were put into a prompt."""
        return {"long_term": self.memory.save(), "injections": dict(self._injections)}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Take over what `save` gave. Raises StateError where it is damaged."""
        with reading("it is not AgentScope's memory"):
            injections = {"" + user: 0 + count for user, count in saved["injections"].items()}
        self.memory.load(saved.get("long_term"))
        self._injections = injections


class AgentscopeSystem(Strategy):
    """AgentScope's memory as a strategy."""

    departs: ClassVar[Mapping[str, str]] = {
        "within_budget": "summaries and memories are shown whole, whatever the budget",
        "progress": "what is merged or summarised may be longer than what it stands for",
        "failure_keeps_state": "whatever the model says is taken",
    }
    departs_with: ClassVar[Mapping[str, Mapping[str, str]]] = {
        f"version={version},longterm={kind}": {
            "scale": "all of the history is recorded after every reply"
        }
        for version in ("1.0.12", "1.0.21")
        for kind in ("mem0", "reme", "store")
    }

    def __init__(
        self,
        env: Environment,
        choice: ShortTermChoice,
        long_term: LongTermUse,
        *,
        scope: AgentScope,
        sessions: bool,
    ) -> None:
        super().__init__(env)
        self._choice, self._fixed = choice, choice.fixed
        self._packaged = choice.version != "document"
        self._reloads = choice.memory == "autocontext" and choice.version != "1.0.21"
        self._instructs = self._reloads and choice.version == "1.0.12"
        self._files = sessions
        self._component = "AutoContextMemory" if self._reloads else "InMemoryMemory"
        self._remembering = long_term
        self.long_term = long_term.memory
        self.agents = AgentscopeAgents(
            scope, lambda names: make_short_term(choice, env.counter, names), fixed=choice.fixed
        )
        self._at = ("", "")
        self._revision = 0

    def observe(self, message: Message) -> None:
        self._revision += 1
        self._at = (message.principal, message.session)
        self.agents.of(*self._at).hear(message)

    def context(self, query: Query) -> Context:
        agent = self.agents.seen_by(query.principal, query.session)
        found = self._remembering.retrieved(query.text, query.principal, self.env.clock.now())
        recalled = self.env.build.section("recalled", found)
        hook = (composed("system", HOOK, id="hook"),) if self._instructs else ()
        told = self.env.build.section("system", hook)
        messages = agent.window(self._usable(agent))
        first = tuple(takewhile(lambda m: m.composed, messages))
        summary = self.env.build.section("summary", first)
        room = query.budget - recalled.tokens - told.tokens - summary.tokens
        if self._fixed:
            room = max(room, query.budget // 2)
        latest = len(messages) - len(first)
        window = messages.section(room if latest else 0, last=latest)
        recalled = credit_once(recalled, window)
        build = self.env.build
        # The package puts what it retrieved after the user's message, the document before it all.
        if self._packaged:
            context = build.context(told, summary, window, recalled)
        else:
            context = build.context(told, recalled, summary, window)
        return fit_context(build, context, query.budget) if self._fixed else context

    def delivered(self, context: Context) -> None:
        agent = self.agents.of(*self._at)
        draft, refused = self._draft(agent), self._usable(agent) is None
        if draft is not None and refused:
            self.env.log(Event(kind="refused", sources=draft.sources, detail="it would be no less"))
        elif draft is not None:
            self._adopt(agent, draft)
        found = (m for s in context.sections if s.layer == "recalled" for m in s.messages)
        self._remembering.put_back(agent, self._at[0], found)
        self._revision += 1

    def end_turn(self) -> None:
        self._revision += 1
        for agent in self.agents:
            for new, ids in self._remembering.record(agent, self.env.model, self.env.clock.now()):
                stored = Event(kind="stored", sources=tuple(ids), detail=f"{new} memories")
                self.env.log(stored)
            agent.fresh.clear()
            if self._files:
                said, now = agent.memory.get_messages(), self.env.clock.now()
                file = session_of(agent.key, said, now, self._component)
                write_session(self.env.folder(), file)

    def _draft(self, agent: AgentscopeAgent) -> MemoryDraft:
        def compute() -> MemoryDraft:
            return agent.memory.draft(self.env.model, self.env.clock.now)

        # What another model made is no draft of this one's.
        return self.memo.get((self._revision, self.env.model.name), agent.key, compute)

    def _usable(self, agent: AgentscopeAgent) -> MemoryDraft:
        """A draft that is not to be refused: repaired, it has to make less of the history."""
        draft = self._draft(agent)
        if not self._fixed or draft is None or not draft.sources:
            return draft
        return draft if draft.window.tokens < agent.memory.window.tokens else None

    def _adopt(self, agent: AgentscopeAgent, draft: ShortTermDraft | MarkingDraft) -> None:
        before = agent.memory.window.tokens
        agent.adopt(draft)
        if draft.sources:
            after, sources = agent.memory.window.tokens, draft.sources
            kind, detail = "compaction", draft.detail
            self.env.log(
                Event(kind=kind, sources=sources, before=before, after=after, detail=detail)
            )

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return (*self._remembering.specs, *((tools.RELOAD_TOOL,) if self._reloads else ()))

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        if name not in {spec.name for spec in self.tools(principal)}:
            return super().call_tool(name, arguments, principal)
        agent = self.agents.seen_by(principal, self._at[1])
        if name == tools.RECORD:
            self._revision += 1
        blobs = agent.memory.blobs if isinstance(agent.memory, ShortTermMemory) else None
        said = tuple(m.id for m in agent.fresh)
        return tools.call_tool(name, arguments, self.long_term, principal, said=said, blobs=blobs)

    def forget(self, request: Forget) -> ForgetOutcome:
        removed: dict[str, None] = {}
        before = self._sources()
        self._revision += 1
        for agent in self.agents.visible(request.principal):
            ids = requested_message(request.text, request.sources, agent.own(request.principal))
            gone = agent.erase(ids) if self._fixed else agent.delete(ids)
            removed.update(dict.fromkeys(gone))
        if self._fixed:
            removed.update(dict.fromkeys(self.long_term.remove(tuple(removed))))
        left = {*removed, *self._sources()}
        if lost := tuple(source for source in before if source not in left):
            detail = "what was made of them was made of what is erased"
            self.env.log(Event(kind="purged", sources=lost, detail=detail))
        return ForgetOutcome(supported=True, removed=tuple(removed))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for agent in self.agents.visible(viewer):
            for tier, message in agent.surfaces():
                yield Surface(tier=tier, sources=originals(message), text=message.text)
        for memory in self.long_term:
            if viewer is None or memory.user == viewer:
                yield Surface(
                    tier="store", sources=(*memory.quotes, *memory.sources), text=memory.text
                )

    def _sources(self) -> dict[str, None]:
        return dict.fromkeys(i for surface in self.surfaces() for i in surface.sources)

    def locate(self, source: str, query: Query) -> Location | None:
        agent, shown = self.agents.seen_by(query.principal, query.session), self.context(query)
        window = agent.window(self._usable(agent))
        if source in window and not window.get(source).composed:
            detail = "" if source in shown.verbatim else "over budget"
            return Location(tier="window", detail=detail)
        if any(source in m.derived_from for m in window):
            detail = "" if source in shown.derived else "over budget"
            return Location(tier="summary", detail=detail)
        rank = self.long_term.rank_of(source, query.text, query.principal)
        if rank is not None:
            return Location(tier="store", rank=rank)
        tiers = {tier for tier, m in agent.surfaces() if source in originals(m)}
        for tier in ("offload", "history"):
            if tier in tiers:
                return Location(tier=tier, detail="not shown")
        return None

    def save(self) -> State:
        return {"agents": self.agents.save(), **self._remembering.save(), "at": list(self._at)}

    def load(self, state: State) -> None:
        load_whole(
            state, load=self._load, save=self.save, otherwise="it is not AgentScope's memory"
        )

    def _load(self, state: State) -> None:
        with reading("it is not AgentScope's memory"):
            saved: dict[str, Any] = dict(state)
            before = self.agents.save()
            principal, session = saved["at"]
            at = ("" + principal, "" + session)
            self.agents.load(saved["agents"])
        with ExitStack() as undone:
            undone.callback(self.agents.load, before)
            self._remembering.load(saved)
            undone.pop_all()
        self._revision += 1
        self._at = at
