"""The agent: a model that uses the tools of the memory under test, where that offers any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.message import Message, ToolResult, ToolUse, paired, said
from memsim.models import Request
from memsim.replay.watching import watch_sent
from memsim.strategy import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from memsim.models import Model, ToolSpec
    from memsim.strategy import Strategy

ROUNDS = 4
"""Times that an agent may call tools before it has to answer."""


class Agent:
    """Decides by a model when to call which tool, and carries the calls out.

    Args:
        model: decides.
        strategy: whose tools are called.
        repeat: which repeat of the case this is.
        log: is told of every call.
    """

    def __init__(
        self, model: Model, strategy: Strategy, *, repeat: int, log: Callable[[Event], None]
    ) -> None:
        self._model = model
        self._strategy = strategy
        self._repeat = repeat
        self._log = log

    def work(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        principal: str,
        now: datetime,
    ) -> tuple[Message, ...]:
        """Let the model call tools until it has what it wants.

        Args:
            messages: what the model is sent, the user's message last.
            tools: what it may call.
            principal: on whose behalf.
            now: the present.

        Returns:
            The calls and their results, in order; empty where none was made.
        """
        # Of a pair that the memory shows in part, a provider takes neither half.
        messages = paired(tuple(messages))
        traffic: list[Message] = []
        for number in range(ROUNDS):
            sent = (*messages, *traffic)
            watch_sent(sent)
            reply = self._model.complete(
                Request(
                    task="act",
                    messages=sent,
                    tools=tuple(tools),
                    asker=principal,
                    now=now,
                    repeat=self._repeat,
                )
            )
            if not reply.tool_calls:
                break
            traffic += self._carried_out(reply.tool_calls, tools, principal, now, number)
        return tuple(traffic)

    def replaced(self, message: Message, calls: dict[str, ToolUse], principal: str) -> Message:
        """A scripted tool message with the results of the strategy's own tools in its place.

        Args:
            message: as the script has it.
            calls: the calls that it answers, by id.
            principal: on whose behalf.
        """
        own = {t.name for t in self._strategy.tools(principal)}
        blocks = tuple(
            ToolResult(id=b.id, text=self._call(calls[b.id], principal))
            if isinstance(b, ToolResult) and b.id in calls and calls[b.id].name in own
            else b
            for b in message.blocks
        )
        if blocks == message.blocks:
            return message
        return Message(
            id=message.id,
            role=message.role,
            blocks=blocks,
            principal=message.principal,
            session=message.session,
            turn=message.turn,
            time=message.time,
        )

    def _carried_out(
        self,
        calls: Sequence[ToolUse],
        tools: Sequence[ToolSpec],
        principal: str,
        now: datetime,
        number: int,
    ) -> list[Message]:
        offered = {t.name for t in tools}
        results = tuple(
            ToolResult(id=c.id, text=self._call(c, principal))
            if c.name in offered
            else ToolResult(id=c.id, text=f"Error: there is no tool {c.name!r}", is_error=True)
            for c in calls
        )
        asked = Message(
            id=f"call:{number}",
            role="assistant",
            blocks=tuple(calls),
            principal=principal,
            time=now,
        )
        answered = Message(
            id=f"result:{number}", role="tool", blocks=results, principal=principal, time=now
        )
        return [asked, answered]

    def _call(self, call: ToolUse, principal: str) -> str:
        self._log(Event(kind="tool", detail=call.name))
        return self._strategy.call_tool(call.name, call.arguments, principal)


def asked(text: str, *, principal: str, session: str, turn: int, now: datetime) -> Message:
    """A question as the user's message that an agent acts on."""
    return said(
        "user", text, id="question", principal=principal, session=session, turn=turn, time=now
    )


def results_text(traffic: Sequence[Message]) -> str:
    """What tools answered, as one text."""
    found = (b.text for m in traffic for b in m.blocks if isinstance(b, ToolResult))
    return "\n".join(found)
