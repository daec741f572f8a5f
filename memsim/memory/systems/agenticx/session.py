"""One conversation with AgenticX: what was said, what is sent of it, and its scratchpad."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memsim.memory.state import JSON, pack, reading, unpack
from memsim.memory.systems.agenticx.compactor import Gauge
from memsim.memory.systems.agenticx.content import uses_of
from memsim.memory.systems.agenticx.gauging import micro_compacted
from memsim.memory.systems.agenticx.scratchpad import Scratchpad
from memsim.message import Message, ToolResult


class Session:
    """A StudioSession.

    Args:
        micro: cut long results of tools as they come (0.6).

    Attributes:
        agent: `agent_messages`: what compaction works on.
        chat: `chat_history`: all that was said.
        scratchpad: notes by key.
        gauge: what the compactor knows.
    """

    def __init__(self, *, micro: bool = False) -> None:
        self.agent: tuple[Message, ...] = ()
        self.chat: list[Message] = []
        self.scratchpad = Scratchpad()
        self.gauge = Gauge()
        self._micro = micro
        self._tools: dict[str, str] = {}

    def add(self, message: Message) -> None:
        """Take in what was said."""
        self._tools.update((use.id, use.name) for use in uses_of(message))
        self.chat.append(message)
        self.agent = (*self.agent, self._cut(message) if self._micro else message)

    def naming(self, message: Message) -> str:
        """The tool that a message is the result of."""
        return next((self._tools.get(call, "") for call in message.results), "")

    def remove(self, ids: frozenset[str]) -> None:
        """Take messages out, and every summary that was made from one of them."""
        self.chat = [m for m in self.chat if m.id not in ids]
        left = (m for m in self.agent if m.id not in ids)
        self.agent = tuple(m for m in left if ids.isdisjoint(m.derived_from))
        told = tuple(line for line in self.gauge.told if ids.isdisjoint(line[1]))
        self.gauge = replace(self.gauge, told=told)

    def save(self) -> JSON:
        """The session as JSON values."""
        return {
            "agent": pack(self.agent),
            "chat": pack(self.chat),
            "scratchpad": self.scratchpad.save(),
            "gauge": {
                "tokens": self.gauge.tokens,
                "threshold": self.gauge.threshold,
                "failures": self.gauge.failures,
                "told": [[line, list(sources)] for line, sources in self.gauge.told],
            },
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved session.

        Raises:
            StateError: it is none.
        """
        with reading("a session is damaged"):
            self.chat = unpack(saved["chat"])
            self.agent = tuple(unpack(saved["agent"]))
            self.scratchpad.load(saved["scratchpad"])
            lines = tuple((n, tuple(ids)) for n, ids in saved["gauge"]["told"])
            self.gauge = Gauge(**{**saved["gauge"], "told": lines})
            self._tools = {use.id: use.name for m in self.chat for use in uses_of(m)}

    def _cut(self, message: Message) -> Message:
        blocks = tuple(
            replace(b, text=micro_compacted(self._tools.get(b.id, ""), b.text))
            if isinstance(b, ToolResult)
            else b
            for b in message.blocks
        )
        if blocks == message.blocks:
            return message
        return replace(message, blocks=blocks, composed=True, derived_from=(message.id,))
