"""AgentRuntime's hooks: what runs when a turn is over, by priority."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.memory.systems.agenticx.session import Session

MEMORY_HOOK = -10
"""The priority of the hook that writes facts down: others of a higher one run before it."""


class AgentHook(Protocol):
    """Something to do when a turn is over."""

    def on_agent_end(self, session: Session, now: datetime) -> None:
        """The turn of a session is over."""
        ...


class Hooks:
    """Hooks, each with its priority."""

    def __init__(self) -> None:
        self._hooks: list[tuple[int, AgentHook]] = []

    def register(self, hook: AgentHook, priority: int = 0) -> None:
        """Have a hook run: after those of a higher priority, and those of the same before it."""
        self._hooks.append((priority, hook))
        self._hooks.sort(key=lambda entry: -entry[0])

    def run_on_agent_end(self, session: Session, now: datetime) -> None:
        """The turn of a session is over: every hook runs."""
        for _, hook in self._hooks:
            hook.on_agent_end(session, now)
