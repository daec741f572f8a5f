"""What a survey of a script finds: facts, mentions of answers, and points to ask at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from memsim.scenario.script import Fact
from memsim.scenario.words import Words


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact where it was stated: in which step, counted by `tick`, and on which line."""

    fact: Fact
    tick: int
    line: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A point at which a probe can be asked.

    Attributes:
        turn: the last turn by then.
        tick: the last step by then.
        principal: whose session it is.
    """

    turn: int
    tick: int
    principal: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A message that says an expected answer."""

    turn: int
    message: str


@dataclass(slots=True)
class Survey:
    """What a script does, as far as its probes must know.

    Attributes:
        planted: every version of every fact, in order.
        order: the same in the order of the script.
        by_value: the same by the words of their values.
        forgotten: fact to the steps that ask for it to be erased.
        mentions: expected answer to the messages that say it.
        marked: probe to the point where an `ask` step puts it.
        moments: the last point of every step that has turns, by its last turn.
        messages: how many messages there are by each of `moments`.
        domains: what generated talk is about, with the line of the first of each.
        acknowledged: whether an assistant's reply is left to memsim somewhere.
    """

    planted: dict[str, list[Planted]] = field(default_factory=dict)
    order: list[Planted] = field(default_factory=list)
    by_value: dict[Words, list[Planted]] = field(default_factory=dict)
    forgotten: dict[str, list[int]] = field(default_factory=dict)
    mentions: dict[str, list[Mention]] = field(default_factory=dict)
    marked: dict[str, Moment] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    domains: dict[str, int | None] = field(default_factory=dict)
    acknowledged: bool = False
    end: Moment = Moment(0, 0, "")

    def at_turn(self, turn: int) -> Moment:
        """The point right after a turn."""
        index = bisect_right(self.moments, turn - 1, key=lambda moment: moment.turn)
        moment = self.moments[index]
        return Moment(turn, moment.tick, moment.principal)

    def versions(self, name: str, moment: Moment) -> list[Planted]:
        """The versions of a fact that were stated by a point."""
        versions = self.planted.get(name, [])
        return versions[: bisect_right(versions, moment.tick, key=lambda each: each.tick)]

    def current(self, name: str, moment: Moment) -> Planted | None:
        """What a fact is at a point."""
        versions = self.versions(name, moment)
        return versions[-1] if versions else None

    def erased(self, planted: Planted, moment: Moment) -> bool:
        """Whether it was to be forgotten between its statement and a point."""
        ticks = self.forgotten.get(planted.fact.id, [])
        return bisect_right(ticks, moment.tick) > bisect_right(ticks, planted.tick)

    def messages_by(self, moment: Moment) -> int:
        """How many messages there have been by a point, counting a filler's turns as begun."""
        index = bisect_right(self.moments, moment.turn - 1, key=lambda each: each.turn)
        if index >= len(self.moments):
            return self.messages[-1] if self.messages else 0
        return self.messages[index] - 2 * (self.moments[index].turn - moment.turn)

    def values(self) -> Iterator[tuple[str, int | None]]:
        """Every planted value, with its line."""
        return ((planted.fact.value, planted.line) for planted in self.order)
