"""Making what is sent fit the model's window, by an estimate of four characters a token."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.message import Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memsim.message import Block, Message

CHARACTERS_PER_TOKEN = 4
EMPTY = 10
"""Tokens that a message without content is taken for."""
LEAST_RESERVE = 1024
RESERVE = 0.25
"""Share of the window that is kept free for the reply, `LEAST_RESERVE` at least."""
SINGLE = 6000
"""Tokens beyond which one message of the history is cut."""
MARKER = "\n\n[... truncated: {removed} chars removed to fit context window ...]\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """What is left of the messages.

    Attributes:
        messages: what is sent, in order.
        dropped: how many are not.
    """

    messages: tuple[Message, ...]
    dropped: int


def content(message: Message) -> str:
    """What a message holds beside its tool calls."""
    return "\n".join(b.text for b in message.blocks if isinstance(b, Text | ToolResult))


def estimate(text: str) -> int:
    """Tokens of a text."""
    return max(len(text) // CHARACTERS_PER_TOKEN, 1) if text else EMPTY


def budget_of(window: int) -> int:
    """Tokens of a window that may be filled."""
    budget = window - max(LEAST_RESERVE, int(window * RESERVE))
    return budget if budget > 0 else window // 2


def room_for_reply(window: int, used: int) -> int:
    """Tokens that a reply may have: what is left of the window, and never less than one."""
    return max(1, window - used)


def cut(text: str, tokens: int) -> str:
    """A text of at most so many tokens beside a marker that stands for its middle."""
    characters = tokens * CHARACTERS_PER_TOKEN
    if len(text) <= characters:
        return text
    half = characters // 2
    marker = MARKER.format(removed=len(text) - characters)
    return text[:half] + marker + text[len(text) - half :]


def trim(
    messages: Sequence[Message],
    window: int,
    *,
    final: int = 1,
    firm: Collection[str] = (),
) -> Trimmed:
    """Drop the oldest messages until the rest fits a window, and then what has lost its question.

    A system message at the beginning and the current input are never dropped. They are cut where
    one takes more than half of what there is, and others where they are very long.

    Args:
        messages: in order.
        window: tokens of the model's window.
        final: how many of the last messages are the current input.
        firm: ids of others that are never dropped.
    """
    budget = budget_of(window)
    history = list(messages)
    head = [history.pop(0)] if history and history[0].role == "system" else []
    start = max(0, len(history) - final)
    history, tail = history[:start], history[start:]
    head, tail = ([_shortened(m, budget // 2) for m in part] for part in (head, tail))
    room = budget - sum(estimate(content(m)) for m in head + tail)
    if room <= 0:
        return Trimmed(messages=(*head, *tail), dropped=len(history))
    history = [_shortened(m, SINGLE) for m in history]
    kept = _kept(history, room, firm)
    return Trimmed(messages=(*head, *kept, *tail), dropped=len(history) - len(kept))


def _kept(history: list[Message], room: int, firm: Collection[str]) -> list[Message]:
    costs = [estimate(content(m)) for m in history]
    total, place = sum(costs), 0
    held: list[Message] = []
    while place < len(history) and total > room:
        if history[place].id in firm:
            held.append(history[place])
        else:
            total -= costs[place]
        place += 1
    while place < len(history) and history[place].role in {"assistant", "tool"}:
        place += 1
    return [*held, *history[place:]]


def _shortened(message: Message, tokens: int) -> Message:
    text = content(message)
    if tokens <= 0 or estimate(text) <= tokens:
        return message
    blocks: list[Block] = []
    short = cut(text, tokens)
    for block in message.blocks:
        if isinstance(block, Text | ToolResult):
            blocks.append(replace(block, text=short))
            short = ""
        else:
            blocks.append(block)
    kept = tuple(b for b in blocks if not isinstance(b, Text) or b.text)
    derived = message.derived_from + message.verbatim
    return replace(message, blocks=kept, composed=True, quotes=(), derived_from=derived)
