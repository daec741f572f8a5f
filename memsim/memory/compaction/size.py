"""How large a history is, in the measures that triggers and targets are given in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date

from memsim.context import date_line, fenced
from memsim.memory.compaction.summary import Summary
from memsim.message import MESSAGE_OVERHEAD, Message, TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a history is, its summary included."""

    messages: int
    characters: int
    tokens: int

    @classmethod
    def of(
        cls, history: Sequence[Message], counter: TokenCounter, summary: Summary | None = None
    ) -> Size:
        """The size of a history, with the summary that stands before it."""
        text = fenced("summary", summary.text) if summary is not None and summary.lines else ""
        extra = counter.text(text) + MESSAGE_OVERHEAD if text else 0
        return cls(
            messages=len(history) + bool(text),
            characters=sum(len(m.text) for m in history) + len(text),
            tokens=Costs(history, counter).suffix[0] + extra,
        )

    def plus(self, other: Size) -> Size:
        """Both together."""
        return Size(
            messages=self.messages + other.messages,
            characters=self.characters + other.characters,
            tokens=self.tokens + other.tokens,
        )


class Sizes:
    """Remembers how large the last history was: steps that do nothing are asked one after another.

    A history is known by being the same object, not an equal one.
    """

    def __init__(self) -> None:
        self._known: tuple[object, object, object] = (None, None, None)
        self._tokens = 0

    def tokens(
        self, history: Sequence[Message], counter: TokenCounter, summary: Summary | None
    ) -> int:
        """Tokens of a history, with the summary that stands before it."""
        asked = (history, counter, summary)
        if not all(one is other for one, other in zip(asked, self._known, strict=True)):
            self._tokens = Size.of(history, counter, summary).tokens
            self._known = asked
        return self._tokens


class Costs:
    """Tokens of a history from each of its messages on, the date line it would open with included.

    Attributes:
        suffix: tokens of the messages from each place to the end; 0 at the end.
        day: the first day that is told from each place on; None where there is none.
        own: tokens of each message alone, without a date line.
    """

    def __init__(self, history: Sequence[Message], counter: TokenCounter) -> None:
        self._counter = counter
        self.own = [counter.message(message) for message in history]
        self.suffix = [0] * (len(history) + 1)
        self.day: list[date | None] = [None] * (len(history) + 1)
        for place in range(len(history) - 1, -1, -1):
            message = history[place]
            self.suffix[place] = self.own[place] + self.suffix[place + 1]
            self.day[place] = self.day[place + 1]
            if not message.composed and (day := message.time.date()) != self.day[place]:
                self.day[place] = day
                self.suffix[place] += self.line(day)

    def line(self, day: date | None) -> int:
        """Tokens of the line that opens a day."""
        return 0 if day is None else self._counter.text(date_line(day))

    def after(self, place: int, last: date | None) -> int:
        """Tokens of the messages from a place on, where messages of a day stand before them."""
        told_already = last is not None and self.day[place] == last
        return self.suffix[place] - (self.line(last) if told_already else 0)


# When there is so much history that it is time to compact it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much history there may be; each limit stands for itself, and None is no limit.

    Exactly as much as a limit is within it; one more is beyond. Raises `ValueError` if a limit is
    below 0, or no whole number.
    """

    messages: int | None = None
    characters: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit is not None and (
                isinstance(limit, bool) or not isinstance(limit, int) or limit < 0
            ):
                raise ValueError(f"{field.name} is {limit!r}: a whole number, at least 0")

    @classmethod
    def share(cls, ratio: float, budget: int) -> Limits:
        """A share of a budget, in whole tokens.

        Raises `ValueError` if the share is not between 0 and 1.
        """
        if not 0 <= ratio <= 1:
            raise ValueError(f"ratio is {ratio}: between 0 and 1")
        return cls(tokens=int(budget * ratio))

    def beyond(self, size: Size) -> tuple[str, ...]:
        """The measures in which a size is beyond its limit; empty when it is within all."""
        over: list[str] = []
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit is not None and getattr(size, field.name) > limit:
                over.append(field.name)
        return tuple(over)

    def missed(self, size: Size) -> str:
        """By what a size is beyond its limits, in words; empty when it is within all."""
        return "; ".join(
            f"it still has {getattr(size, name)} {name}, and may have {getattr(self, name)}"
            for name in self.beyond(size)
        )


Trigger = Limits
"""Limits that start a compaction when a history is beyond any of them."""
Target = Limits
"""Limits that a compaction is to get a history within."""
