"""Who puts what into AgentScope's long-term memory, and into prompts from it: hooks, or tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from memsim.memory.compaction.summary import originals
from memsim.memory.state import JSON, reading
from memsim.memory.systems.agentscope import tools
from memsim.memory.systems.agentscope.long_term import Kind, LongTermMemory, injection

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.memory.systems.agentscope.agents import Agent
    from memsim.message import Message
    from memsim.models import Model, ToolSpec

Mode = Literal["static", "agent", "both"]


class Remembering:
    """A long-term memory, and how it is used.

    Args:
        kind: what it keeps.
        mode: whether the framework uses it, the agent by tools, or both.
        limit: memories that are retrieved at most.
        packaged: do as the packages do: what was retrieved becomes part of the history, all of
            which is recorded every time.
        fixed: nothing is recorded twice, and what is retrieved cannot close its block.

    Raises:
        ValueError: a word means nothing here, or the limit is below 1.
    """

    def __init__(self, kind: Kind, mode: Mode, limit: int, *, packaged: bool, fixed: bool) -> None:
        if mode not in get_args(Mode):
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
        return tools.LONG_TERM if self._agent else ()

    def retrieved(self, text: str, user: str, now: datetime) -> tuple[Message, ...]:
        """What the framework puts into the prompt for a user's message."""
        found = self.memory.retrieve(text, user) if self._framework else ()
        if not found:
            return ()
        number = f"{user}:{self._injections.get(user, 0)}"
        return (injection(found, number, now, fixed=self._fixed),)

    def put_back(self, agent: Agent, user: str, messages: Iterable[Message]) -> None:
        """What was retrieved for a user was sent: in the packages it stays in the history."""
        if self._fixed or not self._packaged:
            return
        for message in messages:
            self._injections[user] = self._injections.get(user, 0) + 1
            agent.memory.add_message(message)
            agent.fresh.append(message)

    def record(self, agent: Agent, model: Model, now: datetime) -> Iterator[tuple[int, list[str]]]:
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
        """Take over what `save` gave.

        Raises:
            StateError: it gave no such thing.
        """
        with reading("it is not AgentScope's memory"):
            injections = {"" + user: 0 + count for user, count in saved["injections"].items()}
        self.memory.load(saved.get("long_term"))
        self._injections = injections
