"""Older answers and tool results in two shorter forms, between the summary and what is verbatim.

From the newest message backwards, 60 % of the room stays verbatim. Of what is older than that and
not yet summarised, 30 % is kept at three quarters of its length, and 8 % at a few hundred
characters; users' messages and tool calls of that age are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.systems.cogtrix.trimming import content
from memsim.message import ToolUse, composed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memsim.message import Message

CHARACTERS_PER_TOKEN = 2
OVERHEAD = 2000
LEAST_ROOM = 1000
VERBATIM, LIGHT, HEAVY = 0.60, 0.30, 0.08
LONGEST = 30_000
HEAVY_LENGTH = 300
SUMMARY = "[Session context summary]\n{summary}"
MARKER = (
    "\n\n[... {removed:,} chars truncated to fit context budget — "
    "use start_line/max_lines to page through, or search to find specific sections ...]\n\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shorter:
    """A message in a shorter form.

    Attributes:
        name: the tool, or `assistant`.
        text: what is left of it.
        message: the original.
    """

    name: str
    text: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """A history in tiers.

    Attributes:
        boundary: the place of the first message that is verbatim.
        light, heavy: the older ones, in order.
        light_tokens, heavy_tokens: what they are taken for.
    """

    boundary: int = 0
    light: tuple[Shorter, ...] = ()
    heavy: tuple[Shorter, ...] = ()
    light_tokens: int = 0
    heavy_tokens: int = 0

    @property
    def useful(self) -> bool:
        """Whether anything is shorter."""
        return bool(self.light or self.heavy)


def rolled(messages: Sequence[Message], summarised: int, window: int) -> Tiers:
    """The tiers of a history.

    Args:
        messages: all of it, oldest first.
        summarised: how many of its messages the summary covers.
        window: tokens of the model's window.
    """
    room = max(window - OVERHEAD, LEAST_ROOM)
    boundary = _boundary(messages, math.floor(room * VERBATIM))
    rolling = _Rolling(math.floor(room * LIGHT), math.floor(room * HEAVY))
    names = _names(messages, min(summarised, boundary), boundary)
    for place in range(min(summarised, boundary), boundary):
        message = messages[place]
        if message.role == "tool" or (message.role == "assistant" and not message.calls):
            rolling.take(message, names.get(place, "assistant"))
    return Tiers(
        boundary=boundary,
        light=tuple(rolling.light),
        heavy=tuple(rolling.heavy),
        light_tokens=rolling.tokens[0],
        heavy_tokens=rolling.tokens[1],
    )


class _Rolling:
    def __init__(self, light: int, heavy: int) -> None:
        self.limits = (light, heavy)
        self.tokens = [0, 0]
        self.light: list[Shorter] = []
        self.heavy: list[Shorter] = []

    def take(self, message: Message, name: str) -> None:
        text = content(message)
        if not text:
            return
        if self.tokens[0] < self.limits[0]:
            length = max(len(text) * 3 // 4, min(len(text), 200))
            short = shortened(text, min(length, LONGEST))
            spent = tokens(short)
            if self.tokens[0] + spent <= self.limits[0] or not self.light:
                self.light.append(Shorter(name=name, text=short, message=message))
                self.tokens[0] += spent
                return
        if self.tokens[1] < self.limits[1]:
            short = shortened(text, HEAVY_LENGTH)
            self.heavy.append(Shorter(name=name, text=short, message=message))
            self.tokens[1] += tokens(short)


def tokens(text: str) -> int:
    """Tokens that a text is taken for here."""
    return max(1, len(text) // CHARACTERS_PER_TOKEN)


def shortened(text: str, length: int) -> str:
    """A text with its middle left out where it is longer."""
    if len(text) <= length:
        return text
    half = length // 2
    return text[:half] + MARKER.format(removed=len(text) - length) + text[len(text) - half :]


def assembled(tiers: Tiers, summary: str, sources: tuple[str, ...]) -> Iterator[Message]:
    """What stands before the verbatim messages, oldest first.

    Args:
        tiers: the tiers.
        summary: the rolling summary, or nothing.
        sources: ids of the messages it was made from.
    """
    if summary:
        text = SUMMARY.format(summary=summary)
        yield composed("user", text, id="tier:summary", derived_from=sources)
    for short in (*tiers.heavy, *tiers.light):
        yield _message(short)


def _message(short: Shorter) -> Message:
    # As plain text: a result of which the call is left out would be no valid message.
    original = short.message
    whole = short.text == content(original)
    return composed(
        original.role,
        short.text,
        id=f"tier:{original.id}",
        quotes=(original.id,) if whole else (),
        derived_from=() if whole else (original.id,),
        time=original.time,
        principal=original.principal,
    )


def _boundary(messages: Sequence[Message], limit: int) -> int:
    used = 0
    for place in range(len(messages) - 1, -1, -1):
        used += tokens(content(messages[place]))
        if used > limit:
            return place + 1
    return 0


def _names(messages: Sequence[Message], start: int, end: int) -> dict[int, str]:
    called: dict[str, str] = {}
    names: dict[int, str] = {}
    first = start
    while first > 0 and messages[first].role == "tool":
        first -= 1
    for place in range(first, end):
        message = messages[place]
        called.update({b.id: b.name for b in message.blocks if isinstance(b, ToolUse)})
        if message.role == "tool":
            name = next((called[i] for i in message.results if i in called), "")
            names[place] = name or "assistant"
    return names
