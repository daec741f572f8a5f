"""Older answers and tool results in two shorter forms, between the summary and what is verbatim.

From the newest message backwards, 60 % of the room stays verbatim. Of what is older than that and
not yet summarised, 30 % is kept at three quarters of its length, and 8 % at a few hundred
characters; users' messages and tool calls of that age are left out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from memsim.language import graphemes
from memsim.message import Block, Message, Text, ToolResult, ToolUse, composed

# Making what is sent fit the model's window, by an estimate of four characters a token.

CHARACTERS_PER_TOKEN = 4
EMPTY = 10
"""Tokens that a message without content is taken for."""
LEAST_RESERVE = 1024
RESERVE = 0.25
"""Share of the window that is kept free for the reply, `LEAST_RESERVE` at least."""
SINGLE = 6000
"""Tokens beyond which one message of the history is cut."""
TRIM_MARKER = "\n\n[... truncated: {removed} chars removed to fit context window ...]\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimResult:
    """The messages that are sent, in order, and how many are not."""

    messages: tuple[Message, ...]
    dropped: int


def message_content(message: Message) -> str:
    """What a message holds beside its tool calls."""
    return "\n".join(b.text for b in message.blocks if isinstance(b, Text | ToolResult))


def estimate_tokens(text: str) -> int:
    """Tokens of a text."""
    return max(len(text) // CHARACTERS_PER_TOKEN, 1) if text else EMPTY


def budget_of(window: int) -> int:
    """Tokens of a window that may be filled."""
    budget = window - max(LEAST_RESERVE, int(window * RESERVE))
    return budget if budget > 0 else window // 2


def room_for_reply(window: int, used: int) -> int:
    """Tokens that a reply may have: what is left of the window, and never less than one."""
    return max(1, window - used)


def cut_text(text: str, tokens: int, *, clusters: bool = False) -> str:
    """A text of at most so many tokens beside a marker that stands for its middle.

    With `clusters`, no character as readers see it is cut in two.
    """
    characters = tokens * CHARACTERS_PER_TOKEN
    if len(text) <= characters:
        return text
    half = characters // 2
    marker = TRIM_MARKER.format(removed=len(text) - characters)
    if clusters:
        return graphemes.head(text, half) + marker + graphemes.tail(text, half)
    return text[:half] + marker + text[len(text) - half :]


def trim_messages(
    messages: Sequence[Message],
    window: int,
    *,
    final: int = 1,
    firm: Collection[str] = (),
    clusters: bool = False,
) -> TrimResult:
    """Drop the oldest messages until the rest fits a window, and then what has lost its question.

    A system message at the beginning and the current input, the last `final` messages, are never
    dropped, nor are messages with an id in `firm`. The first two are cut where one takes more than
    half of what there is, and others where they are very long; `clusters` as for `cut_text`.
    """
    budget = budget_of(window)
    history = list(messages)
    head = [history.pop(0)] if history and history[0].role == "system" else []
    start = max(0, len(history) - final)
    history, tail = history[:start], history[start:]
    head, tail = ([_shortened(m, budget // 2, clusters) for m in part] for part in (head, tail))
    room = budget - sum(estimate_tokens(message_content(m)) for m in head + tail)
    if room <= 0:
        return TrimResult(messages=(*head, *tail), dropped=len(history))
    history = [_shortened(m, SINGLE, clusters) for m in history]
    kept = _kept(history, room, firm)
    return TrimResult(messages=(*head, *kept, *tail), dropped=len(history) - len(kept))


def _kept(history: list[Message], room: int, firm: Collection[str]) -> list[Message]:
    costs = [estimate_tokens(message_content(m)) for m in history]
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


def _shortened(message: Message, tokens: int, clusters: bool) -> Message:  # noqa: FBT001 - handed on
    text = message_content(message)
    if tokens <= 0 or estimate_tokens(text) <= tokens:
        return message
    blocks: list[Block] = []
    short = cut_text(text, tokens, clusters=clusters)
    for block in message.blocks:
        if isinstance(block, Text | ToolResult):
            blocks.append(replace(block, text=short))
            short = ""
        else:
            blocks.append(block)
    kept = tuple(b for b in blocks if not isinstance(b, Text) or b.text)
    derived = message.derived_from + message.verbatim
    return replace(message, blocks=kept, composed=True, quotes=(), derived_from=derived)


TIER_CHARACTERS_PER_TOKEN = 2
OVERHEAD = 2000
LEAST_ROOM = 1000
VERBATIM, LIGHT, HEAVY = 0.60, 0.30, 0.08
LONGEST = 30_000
HEAVY_LENGTH = 300
TIER_SUMMARY = "[Session context summary]\n{summary}"
TIER_MARKER = (
    "\n\n[... {removed:,} chars truncated to fit context budget — "
    "use start_line/max_lines to page through, or search to find specific sections ...]\n\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortForm:
    """A message in a shorter form."""

    name: str
    text: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTiers:
    """A history in tiers, verbatim from the message at `boundary` on."""

    boundary: int = 0
    light: tuple[ShortForm, ...] = ()
    heavy: tuple[ShortForm, ...] = ()
    light_tokens: int = 0
    heavy_tokens: int = 0

    @property
    def useful(self) -> bool:
        """Whether anything is shorter."""
        return bool(self.light or self.heavy)


def roll_tiers(messages: Sequence[Message], summarised: int, window: int) -> AnswerTiers:
    """Divide a history, whose first messages the summary covers, into tiers."""
    room = max(window - OVERHEAD, LEAST_ROOM)
    boundary = _boundary(messages, math.floor(room * VERBATIM))
    rolling = _TierBuilder(math.floor(room * LIGHT), math.floor(room * HEAVY))
    names = _names(messages, min(summarised, boundary), boundary)
    for place in range(min(summarised, boundary), boundary):
        message = messages[place]
        if message.role == "tool" or (message.role == "assistant" and not message.calls):
            rolling.take(message, names.get(place, "assistant"))
    return AnswerTiers(
        boundary=boundary,
        light=tuple(rolling.light),
        heavy=tuple(rolling.heavy),
        light_tokens=rolling.tokens[0],
        heavy_tokens=rolling.tokens[1],
    )


class _TierBuilder:
    def __init__(self, light: int, heavy: int) -> None:
        self.limits = (light, heavy)
        self.tokens = [0, 0]
        self.light: list[ShortForm] = []
        self.heavy: list[ShortForm] = []

    def take(self, message: Message, name: str) -> None:
        text = message_content(message)
        if not text:
            return
        if self.tokens[0] < self.limits[0]:
            length = max(len(text) * 3 // 4, min(len(text), 200))
            short = shorten_text(text, min(length, LONGEST))
            spent = tier_tokens(short)
            if self.tokens[0] + spent <= self.limits[0] or not self.light:
                self.light.append(ShortForm(name=name, text=short, message=message))
                self.tokens[0] += spent
                return
        if self.tokens[1] < self.limits[1]:
            short = shorten_text(text, HEAVY_LENGTH)
            self.heavy.append(ShortForm(name=name, text=short, message=message))
            self.tokens[1] += tier_tokens(short)


def tier_tokens(text: str) -> int:
    """Tokens that a text is taken for here."""
    return max(1, len(text) // TIER_CHARACTERS_PER_TOKEN)


def shorten_text(text: str, length: int) -> str:
    """A text with its middle left out where it is longer."""
    if len(text) <= length:
        return text
    half = length // 2
    return text[:half] + TIER_MARKER.format(removed=len(text) - length) + text[len(text) - half :]


def tier_messages(tiers: AnswerTiers, summary: str, sources: tuple[str, ...]) -> Iterator[Message]:
    """Give what stands before the verbatim messages, oldest first."""
    if summary:
        text = TIER_SUMMARY.format(summary=summary)
        yield composed("user", text, id="tier:summary", derived_from=sources)
    for short in (*tiers.heavy, *tiers.light):
        yield _message(short)


def _message(short: ShortForm) -> Message:
    # As plain text: a result of which the call is left out would be no valid message.
    original = short.message
    whole = short.text == message_content(original)
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
        used += tier_tokens(message_content(messages[place]))
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
