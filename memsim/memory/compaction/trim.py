"""Dropping the oldest messages until the rest fits, or saying what is in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from memsim.errors import BudgetUnsatisfiable
from memsim.memory.compaction.plan import CompactionPlan, plan
from memsim.memory.compaction.size import Costs, Size, Target
from memsim.memory.compaction.step import (
    Compaction,
    CompactionState,
    History,
    Means,
    changed,
    unchanged,
)
from memsim.memory.compaction.summary import Summary
from memsim.message import Message, TokenCounter

PARTS = ("system", "input", "pins", "tail")
"""What may not be dropped, in the order in which it is given room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trim:
    """Drops the oldest whole groups of messages until the history is within its limits.

    Where that is not enough, the oldest lines of the summary go as well; where even that is not,
    the outcome's detail tells what is still beyond which limit.

    Attributes:
        to: the limits.
        last: so many of the latest messages stay; None for as many as the means say.
        firm: raise where the limit in tokens cannot be met; otherwise do what can be done, as for
            the other limits.
    """

    to: Target
    last: int | None = None
    firm: bool = True
    name: str = "trim"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Drop messages, as `Step` has it.

        Raises:
            BudgetUnsatisfiable: what must stay is beyond the limit in tokens, and `firm` is set.
        """
        means = means.keeping(self.last)
        size = Size.of(history, means.counter, state.summary)
        if not self.to.beyond(size):
            return unchanged(self.name, history, state, means, "it is within its limits")
        planned = plan(history, means.keep, means.counter)
        summary = Size.of((), means.counter, state.summary)
        gone = dropped(history, planned, summary, self.to, means.counter)
        left = tuple(m for place, m in enumerate(history) if place not in gone)
        shorter = self._shorter(left, state, means)
        rest = Size.of(left, means.counter, shorter.summary)
        if "tokens" in self.to.beyond(rest) and self.firm and self.to.tokens is not None:
            raise unsatisfiable(history, planned, self.to.tokens, means.counter)
        sources = tuple(m.id for place, m in enumerate(history) if place in gone)
        if not sources and shorter is state:
            detail = f"all of it must stay: {self.to.missed(rest)}"
            return unchanged(self.name, history, state, means, detail)
        new = (left, shorter)
        detail = self.to.missed(rest)
        return changed(self.name, (history, state), new, means, sources, detail=detail)

    def _shorter(self, left: History, state: CompactionState, means: Means) -> CompactionState:
        kept: Summary = state.summary
        rest = Size.of(left, means.counter)
        while kept.lines and self.to.beyond(rest.plus(Size.of((), means.counter, kept))):
            kept = kept.newest(len(kept.lines) - 1)
        return state if kept is state.summary else replace(state, summary=kept)


def dropped(
    history: Sequence[Message],
    planned: CompactionPlan,
    summary: Size,
    to: Target,
    counter: TokenCounter,
) -> frozenset[int]:
    """The places of the oldest whole groups without which the rest is within limits.

    Each message is looked at a fixed number of times. Returns all that may be dropped, where even
    that is not enough.
    """
    costs = Costs(history, counter)
    rest = _Rest(history, planned, costs, summary)
    gone: list[int] = []
    for unit in planned.units():
        if not to.beyond(rest.size):
            break
        rest.drop(unit)
        gone.extend(unit)
    return frozenset(gone)


class _Rest:
    """What is left of a history while its oldest groups are dropped one after the other."""

    def __init__(
        self, history: Sequence[Message], planned: CompactionPlan, costs: Costs, summary: Size
    ) -> None:
        self._history = history
        self._costs = costs
        self._at = 0
        self._messages = len(history) + summary.messages
        self._characters = sum(len(m.text) for m in history) + summary.characters
        self._before = summary.tokens
        self._day: date | None = None

    @property
    def size(self) -> Size:
        """The size of what is left."""
        return Size(
            messages=self._messages,
            characters=self._characters,
            tokens=self._before + self._costs.after(self._at, self._day),
        )

    def drop(self, unit: tuple[int, ...]) -> None:
        """Drop a group, whose messages that are held stay."""
        members = frozenset(unit)
        for place in range(self._at, unit[-1] + 1):
            message = self._history[place]
            if place in members:
                self._messages -= 1
                self._characters -= len(message.text)
            else:
                self._keep(place, message)
        self._at = unit[-1] + 1

    def _keep(self, place: int, message: Message) -> None:
        self._before += self._costs.own[place]
        if not message.composed and (day := message.time.date()) != self._day:
            self._day = day
            self._before += self._costs.line(day)


def unsatisfiable(
    history: Sequence[Message], planned: CompactionPlan, budget: int, counter: TokenCounter
) -> BudgetUnsatisfiable:
    """What is in the way, of the messages that must stay: the first part that has no room left."""
    parts: dict[str, list[Message]] = {part: [] for part in PARTS}
    for place, message in enumerate(history):
        if place in planned.reasons:
            parts[planned.reasons[place]].append(message)
        elif place >= planned.start:
            parts["tail"].append(message)
    room = budget
    for part in PARTS:
        needed = Size.of(parts[part], counter).tokens
        if needed > room:
            return BudgetUnsatisfiable(part, needed, room)
        room -= needed
    # Days that are told again where the parts alternate bring it here: all is in the way then.
    whole = [m for p, m in enumerate(history) if p in planned.reasons or p >= planned.start]
    return BudgetUnsatisfiable(PARTS[-1], Size.of(whole, counter).tokens, budget)
