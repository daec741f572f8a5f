"""What a compaction must leave as it is, and so what it may take: the plan that steps begin with.

Every place of a history is held, taken or in the tail, and in exactly one of them. Messages that
belong together, an assistant's tool call and everything up to its last result, are taken or kept as
one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memsim.memory.compaction.size import Costs
from memsim.message import Message, Text, TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepRule:
    """Which messages must stay as they are, byte for byte.

    The last three are on; switching one off is for measuring designs that do without it.

    Attributes:
        last: so many of the latest messages, and as many more as close a tool call's pair.
        tokens: the latest messages that have so many tokens together, at least the newest group;
            None for no such rule.
        pins: ids of messages.
        pinned: tells of a message whether it is pinned; None when none is.
        system: original system messages.
        current: the latest original user message.
        pairs: tool calls with their results. Without, a cut may part them.
    """

    last: int = 0
    tokens: int | None = None
    pins: frozenset[str] = frozenset()
    pinned: Callable[[Message], bool] | None = None
    system: bool = True
    current: bool = True
    pairs: bool = True

    def __post_init__(self) -> None:
        if self.last < 0:
            raise ValueError(f"last is {self.last}: at least 0")
        if self.tokens is not None and self.tokens < 0:
            raise ValueError(f"tokens is {self.tokens}: at least 0")

    def is_pinned(self, message: Message) -> bool:
        """Whether a message is pinned."""
        return message.id in self.pins or (self.pinned is not None and self.pinned(message))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """Which places of a history may be compacted.

    Attributes:
        groups: the places at which groups begin, ascending.
        start: where the tail begins; it ends with the history.
        held: places before the tail of messages that stay, ascending.
        taken: places before the tail of all others, ascending.
        reasons: of each held place, why: `system`, `pins` or `input`.
    """

    groups: tuple[int, ...]
    start: int
    held: tuple[int, ...]
    taken: tuple[int, ...]
    reasons: dict[int, str]

    def units(self) -> list[tuple[int, ...]]:
        """The taken places by the groups that they belong to, oldest first."""
        units: list[tuple[int, ...]] = []
        at = 0
        for place in (*self.groups[1:], self.start):
            end = bisect_left(self.taken, min(place, self.start), at)
            if end > at:
                units.append(self.taken[at:end])
                at = end
        return units


def plan(history: Sequence[Message], keep: KeepRule, counter: TokenCounter) -> CompactionPlan:
    """Which messages may be compacted; takes time in proportion to the history."""
    groups = grouped(history) if keep.pairs else tuple(range(len(history)))
    start = _tail(history, groups, keep, counter)
    reasons = _reasons(history, keep)
    if keep.pairs:
        reasons = _closed(history, reasons)
    held = tuple(sorted(place for place in reasons if place < start))
    taken = tuple(place for place in range(start) if place not in reasons)
    return CompactionPlan(groups=groups, start=start, held=held, taken=taken, reasons=reasons)


def grouped(history: Sequence[Message]) -> tuple[int, ...]:
    """The places at which groups begin: a call and everything up to its last result are one."""
    groups: list[int] = []
    called: dict[str, int] = {}
    for place, message in enumerate(history):
        groups.append(place)
        if len(message.blocks) == 1 and type(message.blocks[0]) is Text:
            continue
        for call in message.results:
            first = called.get(call, place)
            while groups[-1] > first:
                groups.pop()
        called.update(dict.fromkeys(message.calls, place))
    return tuple(groups)


def _tail(
    history: Sequence[Message], groups: Sequence[int], keep: KeepRule, counter: TokenCounter
) -> int:
    start = max(0, len(history) - keep.last)
    if keep.pairs and start < len(history):
        start = groups[bisect_right(groups, start) - 1]
    if keep.tokens is not None and history:
        costs = Costs(history, counter)
        fitting = next(p for p in (*groups, len(history)) if costs.suffix[p] <= keep.tokens)
        start = min(start, fitting, groups[-1])
    if keep.pairs:
        start = min(start, _waiting(history))
    return start


def _waiting(history: Sequence[Message]) -> int:
    # The results of the latest assistant message's calls may be still to come.
    answered: set[str] = set()
    for place in range(len(history) - 1, -1, -1):
        answered.update(history[place].results)
        if history[place].role == "assistant":
            waits = not answered.issuperset(history[place].calls)
            return place if waits else len(history)
    return len(history)


def _reasons(history: Sequence[Message], keep: KeepRule) -> dict[int, str]:
    reasons: dict[int, str] = {}
    for place, message in enumerate(history):
        if keep.system and message.role == "system" and not message.composed:
            reasons[place] = "system"
        elif keep.is_pinned(message):
            reasons[place] = "pins"
    if keep.current:
        users = range(len(history) - 1, -1, -1)
        spoken = (p for p in users if history[p].role == "user" and not history[p].composed)
        reasons.setdefault(next(spoken, -1), "input")
        reasons.pop(-1, None)
    return reasons


def together(history: Sequence[Message], places: Iterable[int]) -> frozenset[int]:
    """Places, and those of the calls and results that belong to what stands there."""
    return frozenset(_closed(history, dict.fromkeys(places, "")))


def _closed(history: Sequence[Message], reasons: dict[int, str]) -> dict[int, str]:
    # Whatever shares a call with a message that stays, stays with it.
    links, beside = _links(history)
    closed = dict(reasons)
    waiting = list(reasons)
    while waiting:
        place = waiting.pop()
        for link in links.get(place, ()):
            for other in beside.pop(link, ()):
                if other not in closed:
                    closed[other] = closed[place]
                    waiting.append(other)
    return closed


_Link = tuple[str, int]


def _links(
    history: Sequence[Message],
) -> tuple[dict[int, list[_Link]], dict[_Link, list[int]]]:
    # An id may be used again: a result belongs to the latest call that has it.
    called: dict[str, int] = {}
    links: dict[int, list[_Link]] = {}
    beside: dict[_Link, list[int]] = {}
    for place, message in enumerate(history):
        called.update(dict.fromkeys(message.calls, place))
        for call in (*message.calls, *message.results):
            link = (call, called.get(call, -1))
            links.setdefault(place, []).append(link)
            beside.setdefault(link, []).append(place)
    return links, beside
