"""The agents that a strategy plays: each has a short-term memory, under the key of its session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from memsim.memory.codec import JSON, pack, reading, unpack
from memsim.memory.compaction.blobs import reload
from memsim.memory.compaction.summary import originals
from memsim.memory.history.window import Window
from memsim.message import Message, TokenCounter, ToolUse
from memsim.systems.agentscope.compression import documented_compression, packaged_compression
from memsim.systems.agentscope.compression_families import FamilyPrompts, families
from memsim.systems.agentscope.python_memory import (
    CompressionConfig,
    MarkingDraft,
    PythonAgentMemory,
)
from memsim.systems.agentscope.session_file import key_of
from memsim.systems.agentscope.short_term import PlanNotebook, ShortTermDraft, ShortTermMemory
from memsim.systems.agentscope.thresholds import (
    VERSIONS,
    WINDOW_STRATEGIES,
    AgentscopeVersion,
    AutoContextConfig,
    DocumentCounter,
    PackageCounter,
    WindowStrategy,
)

CHARACTERS = 4
"""Characters that the Python package's threshold is taken to have for each token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTermChoice:
    """What is wanted of a short-term memory; the attributes are the strategy's parameters.

    Raises:
        ValueError: a word means nothing here, or a number is out of its range.
    """

    memory: Literal["inmemory", "autocontext"]
    version: AgentscopeVersion
    window: WindowStrategy | Literal["auto"]
    config: AutoContextConfig
    keep_recent: int
    summary: int
    fixed: bool

    def __post_init__(self) -> None:
        words: dict[str, tuple[str, ...]] = {
            "memory": ("inmemory", "autocontext"),
            "version": VERSIONS,
            "window": ("auto", *WINDOW_STRATEGIES),
        }
        for name, known in words.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}: one of {', '.join(known)}")
        for name in ("keep_recent", "summary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: at least 1")
        if self.version != "document" and self.window != "auto":
            raise ValueError(f"window is {self.window!r}: version {self.version} has its own ways")

    @property
    def strategy(self) -> WindowStrategy:
        """The window strategy, where the document's are meant."""
        if self.window != "auto":
            return self.window
        return "progressive" if self.memory == "autocontext" else "none"


def make_short_term(
    choice: ShortTermChoice, counter: TokenCounter, names: dict[str, str]
) -> ShortTermMemory | PythonAgentMemory:
    """Make a short-term memory; `names` holds the tool of each message by its id, and grows."""
    compresses = choice.memory == "autocontext"
    if choice.version == "1.0.21":
        threshold = CHARACTERS * choice.config.token_threshold
        config = CompressionConfig(
            trigger_threshold=threshold,
            keep_recent=choice.keep_recent,
            summary_template="{task_overview}",
            few=not choice.fixed,
        )
        used = config if compresses else None
        return PythonAgentMemory(counter, names, used, choice.summary)
    if choice.version == "1.0.12":
        estimate = PackageCounter(names)
        plans = PlanNotebook()
        asks = FamilyPrompts(limit=choice.summary, hint=plans.hint)
        made = families(choice.config, estimate, asks)
        compressing = packaged_compression(choice.config, estimate, made) if compresses else None
        return ShortTermMemory(counter, compressing, plans)
    text_only = DocumentCounter(results=choice.fixed)
    compressing = documented_compression(
        choice.strategy, choice.config, text_only, choice.summary, smaller=choice.fixed
    )
    return ShortTermMemory(counter, compressing)


AgentScope = Literal["principal", "session", "shared"]
AGENT_SCOPES: tuple[AgentScope, ...] = ("principal", "session", "shared")

ShortTerm = ShortTermMemory | PythonAgentMemory
MemoryDraft = ShortTermDraft | MarkingDraft | None


@dataclass(slots=True)
class AgentscopeAgent:
    """One agent; `names` (of tools) and `owners` are by message id, `fresh` is not recorded yet."""

    key: str
    memory: ShortTerm
    names: dict[str, str]
    owners: dict[str, str] = field(default_factory=dict)
    fresh: list[Message] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)

    def hear(self, message: Message) -> None:
        """A message was said."""
        self.learn((message,))
        self.owners[message.id] = message.principal
        self.memory.add_message(message)
        self.fresh.append(message)

    def learn(self, messages: Iterable[Message]) -> None:
        """Note which tools were called, so that their answers can be named."""
        for message in messages:
            self.calls.update({b.id: b.name for b in message.blocks if isinstance(b, ToolUse)})
            for call in message.results:
                self.names.setdefault(message.id, self.calls.get(call, ""))

    def window(self, draft: MemoryDraft) -> Window:
        """What is shown, once a draft is adopted."""
        return self.memory.window if draft is None else draft.window

    def adopt(self, draft: ShortTermDraft | MarkingDraft) -> None:
        """Make a draft the memory; it is of the memory's own kind."""
        memory: Any = self.memory
        memory.adopt(draft)

    def own(self, principal: str) -> dict[str, str]:
        """What a principal said, as far as there is text of it; the rest with none."""
        texts = {m.id: m.text for m in self.texts() if not m.composed}
        return {i: texts.get(i, "") for i, who in self.owners.items() if who == principal}

    def texts(self) -> Iterator[Message]:
        """The messages of every list that there is."""
        yield from self.memory.window
        if isinstance(self.memory, ShortTermMemory):
            yield from self.memory.original
        else:
            yield from (m for m, _ in self.memory.memory.content)

    def offloaded(self) -> Iterator[tuple[str, tuple[Message, ...]]]:
        """What was offloaded, by its digest."""
        if isinstance(self.memory, ShortTermMemory):
            for digest in self.memory.blobs.digests():
                yield digest, reload(digest, self.memory.blobs)

    def surfaces(self) -> Iterator[tuple[str, Message]]:
        """Every message that stands somewhere, with the tier: window, summary, history, offload."""
        shown = set()
        for message in self.memory.window:
            shown.add(message.id)
            yield ("summary" if message.composed else "window"), message
        for message in self.texts():
            if message.id not in shown:
                yield "history", message
        for _, messages in self.offloaded():
            yield from (("offload", m) for m in messages)

    def delete(self, ids: Collection[str]) -> tuple[str, ...]:
        """Delete working messages, as the interface can: every other place keeps them."""
        wanted, gone = frozenset(ids), []
        shown = self.memory.get_messages()
        for place in range(len(shown) - 1, -1, -1):
            if shown[place].id in wanted and not shown[place].composed:
                self.memory.delete_message(place)
                gone.append(shown[place].id)
        return tuple(reversed(gone))

    def erase(self, ids: Collection[str]) -> tuple[str, ...]:
        """Take messages out of everything, and what was made from them."""
        known = tuple(i for i in ids if i in self.owners)
        self.memory.remove(known)
        self.fresh = [m for m in self.fresh if frozenset(known).isdisjoint(originals(m))]
        for i in known:
            del self.owners[i]
        return known

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            "memory": self.memory.save(),
            "owners": dict(self.owners),
            "fresh": pack(self.fresh),
            "names": dict(self.names),
            "calls": dict(self.calls),
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Take over a saved state; called on a new agent. Raises StateError where it is damaged."""
        with reading("an agent is damaged"):
            self.names.update(_texts(saved["names"]))
            self.calls.update(_texts(saved["calls"]))
            self.memory.load(saved["memory"])
            self.owners = _texts(saved["owners"])
            self.fresh = unpack(saved["fresh"])


def _texts(saved: Any) -> dict[str, str]:  # noqa: ANN401 - from a file
    return {"" + key: "" + value for key, value in saved.items()}


class AgentscopeAgents:
    """Agents by the key of their session, which no other session shares where it is `fixed`.

    Raises:
        ValueError: the scope is none of `AGENT_SCOPES`.
    """

    def __init__(
        self, scope: AgentScope, make: Callable[[dict[str, str]], ShortTerm], *, fixed: bool
    ) -> None:
        if scope not in AGENT_SCOPES:
            raise ValueError(f"scope is {scope!r}: it is one of {', '.join(AGENT_SCOPES)}")
        self._scope = scope
        self._fixed = fixed
        self._make = make
        self._agents: dict[str, AgentscopeAgent] = {}

    def __iter__(self) -> Iterator[AgentscopeAgent]:
        return iter(self._agents.values())

    def key(self, principal: str, session: str) -> str:
        """The key of a session."""
        if self._scope == "session":
            return key_of(principal, session, fixed=self._fixed)
        return principal if self._scope == "principal" else ""

    def of(self, principal: str, session: str) -> AgentscopeAgent:
        """The agent of a session, made where there is none."""
        key = self.key(principal, session)
        if key not in self._agents:
            self._agents[key] = self._new(key)
        return self._agents[key]

    def seen_by(self, principal: str, session: str) -> AgentscopeAgent:
        """The agent of a session, to read from; one that there is not leaves no trace."""
        key = self.key(principal, session)
        return self._agents.get(key) or self._new(key)

    def visible(self, viewer: str | None) -> Iterator[AgentscopeAgent]:
        """The agents that speak with a viewer; None sees all."""
        for agent in self:
            if viewer is None or self._scope == "shared" or self._may_see(viewer, agent):
                yield agent

    def _may_see(self, viewer: str, agent: AgentscopeAgent) -> bool:
        if viewer in agent.owners.values():
            return True
        # A session of theirs can be called so that its key is this one.
        joined = self._scope == "session" and not self._fixed
        return joined and agent.key.startswith(key_of(viewer, "", fixed=False))

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {key: self._agents[key].save() for key in sorted(self._agents)}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Replace all agents by saved ones. Raises StateError where they are damaged."""
        loaded: dict[str, AgentscopeAgent] = {}
        with reading("it holds no agents by their keys"):
            for key, state in saved.items():
                loaded[key] = self._new(key)
                loaded[key].load(state)
        self._agents = loaded

    def _new(self, key: str) -> AgentscopeAgent:
        names: dict[str, str] = {}
        return AgentscopeAgent(key, self._make(names), names)
