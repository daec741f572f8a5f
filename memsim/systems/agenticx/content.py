"""What AgenticX reads of a message: its words without the calls, which its model never sees."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from memsim.message import Block, Message, Text, ToolResult, ToolUse

Naming = Callable[[Message], str]
"""Gives the name of the tool that a message is the result of; empty where nobody knows."""


def content_of(message: Message) -> str:
    """A message's words, those of its results included."""
    return "\n".join(b.text for b in message.blocks if isinstance(b, Text | ToolResult))


def line_of(message: Message) -> str:
    """A message as one line of what is to be summarised."""
    return f"[{message.role}] {content_of(message)}".strip()


def counted_text(message: Message) -> str:
    """A message's words and, on lines of their own, its calls as a provider is sent them."""
    return "\n".join((content_of(message), *(_call(b) for b in uses_of(message))))


def uses_of(message: Message) -> tuple[ToolUse, ...]:
    """The calls that a message makes."""
    return tuple(b for b in message.blocks if isinstance(b, ToolUse))


def sanitised(history: Sequence[Message], *, drop_empty: bool) -> tuple[Message, ...]:
    """Drop calls that nobody answered at once, and results that answer no call.

    With `drop_empty`, assistants that said nothing and lose all their calls go as well (0.6).
    """
    kept: list[Message] = []
    place = 0
    while place < len(history):
        message = history[place]
        place += 1
        if message.role == "tool":
            continue
        if not message.calls:
            kept.append(message)
            continue
        end = place
        while end < len(history) and history[end].role == "tool":
            end += 1
        results = _answering(history[place:end], frozenset(message.calls))
        caller = _calling(message, frozenset(i for m in results for i in m.results))
        if caller.calls or caller.text.strip() or not drop_empty:
            kept += (caller, *results)
        place = end
    return tuple(kept)


def _answering(rows: Sequence[Message], calls: frozenset[str]) -> list[Message]:
    told = (
        _partial(m, [b for b in m.blocks if not isinstance(b, ToolResult) or b.id in calls])
        for m in rows
    )
    return [m for m in told if m.results]


def _calling(message: Message, answered: frozenset[str]) -> Message:
    blocks = [b for b in message.blocks if not isinstance(b, ToolUse) or b.id in answered]
    return _partial(message, blocks or [Text("")])


def _partial(message: Message, blocks: list[Block]) -> Message:
    if len(blocks) == len(message.blocks):
        return message
    made = tuple(dict.fromkeys((*message.verbatim, *message.derived_from)))
    return replace(message, blocks=tuple(blocks), composed=True, quotes=(), derived_from=made)


def _call(use: ToolUse) -> str:
    function = {"name": use.name, "arguments": use.arguments}
    call = {"id": use.id, "type": "function", "function": function}
    return json.dumps(call, ensure_ascii=False)
