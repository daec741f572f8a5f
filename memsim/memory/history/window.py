"""The latest messages, verbatim: what every memory has at its front.

Messages that belong together stay together: an assistant's tool call and everything up to its last
result are one group, which is kept or dropped whole. The newest group is never dropped.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from memsim.context import Section, date_line
from memsim.errors import StateError
from memsim.memory.codec import JSON, pack, unpack
from memsim.memory.history.message_columns import MessageColumns
from memsim.memory.index.id_places import IdPlaces
from memsim.message import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from memsim.context import SectionName
    from memsim.memory.index import Ranker
    from memsim.message import Message, TokenCounter


def text_bytes(message: Message) -> int:
    """Bytes of UTF-8 that the texts of a message have."""
    return len(message.text.encode("utf-8", "surrogatepass"))


_SPARE = 64


class Window:
    """The latest messages, as many as fit a limit; adding costs the same however long it is.

    Places count all messages that were ever added, so that a place stays what it is when older
    messages leave. Without a limit in messages or tokens there is no such bound.
    """

    def __init__(
        self, counter: TokenCounter, *, messages: int | None = None, tokens: int | None = None
    ) -> None:
        self.counter = counter
        self._messages_limit = messages
        self._tokens_limit = tokens
        self._clear()

    def _clear(self) -> None:
        self._base = 0
        """The place of the first message still in the lists."""
        self._start = 0
        """The place of the first message in the window."""
        self._messages = MessageColumns()
        self._before = array("q", (0,))
        """Tokens of all messages before each place, and of all messages at the end."""
        self._dates = array("q")
        """Tokens of the date line that each message opens a day with, after the ones before it."""
        self._groups = array("q")
        """The places at which a group begins."""
        self._place = IdPlaces()
        self._calls: dict[str, int] = {}
        self._day: date | None = None

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, source: object) -> bool:
        return source in self._place

    def __iter__(self) -> Iterator[Message]:
        return self._messages.since(self._start - self._base)

    @property
    def _end(self) -> int:
        return self._base + len(self._messages)

    @property
    def tokens(self) -> int:
        """Tokens of the whole window as a section."""
        return self._tokens_from(self._start)

    def add(self, message: Message) -> tuple[Message, ...]:
        """Take a message in; the messages that left the window for it, oldest first.

        A message that stands in the window already is left out: it was observed again.
        """
        if message.id in self._place:
            return ()
        return self._add(message, self.counter.message(message))

    def _add(self, message: Message, tokens: int, date_tokens: int = 0) -> tuple[Message, ...]:
        """Take in a message whose tokens are known; of its date line, where not 0, as well."""
        place = self._end
        opens = 0
        if not message.composed and (day := message.time.date()) != self._day:
            self._day = day
            opens = date_tokens or self.counter.text(date_line(day))
        self._messages.append(message)
        self._dates.append(opens)
        self._before.append(self._before[-1] + tokens + opens)
        self._place.add(message.id, place)
        self._group(message, place)
        return self._drop_to(self._limit_start())

    def answers_here(self, message: Message) -> bool:
        """Whether a message answers no call, or those alone that stand in the window."""
        return all(call in self._calls for call in message.results)

    def joined(self, message: Message) -> tuple[Message, ...]:
        """The messages that one would be kept or dropped with: from what it answers on."""
        called = [self._calls[call] for call in message.results if call in self._calls]
        if not called:
            return ()
        at = bisect_right(self._groups, min(called)) - 1
        return tuple(self._slice(self._groups[at], self._end))

    def remove(self, ids: Iterable[str]) -> tuple[Message, ...]:
        """Take messages out wherever they stand, with the calls or results that belong to them."""
        gone = {m.id for source in ids if source in self._place for m in self.partners(source)}
        if not gone:
            return ()
        at = self._start - self._base
        sizes = (after - before for before, after in pairwise(self._before[at:]))
        held = zip(self, sizes, self._dates[at:], strict=True)
        self._clear()
        removed: list[Message] = []
        for message, size, opens in held:
            if message.id in gone:
                removed.append(message)
            else:
                self._add(message, size - opens, opens)
        return tuple(removed)

    def replace(self, messages: Iterable[Message]) -> None:
        """Have these messages stand in place of those that do; their places are new."""
        taken = [*messages]
        self._clear()
        for message in taken:
            self.add(message)

    def drop(self, count: int) -> tuple[Message, ...]:
        """Drop the oldest messages; `count` must end with a group, as what `older` gives does."""
        return self._drop_to(self._start + count)

    def older(self, tokens: int) -> tuple[Message, ...]:
        """The oldest whole groups without which the rest has at most so many tokens.

        The newest group is never among them.
        """
        if not len(self):
            return ()
        start = min(self._first_fitting(tokens, self._start), self._groups[-1])
        return tuple(self._slice(self._start, start))

    def oldest(self, count: int) -> tuple[Message, ...]:
        """The whole groups among so many of the oldest messages."""
        end = self._start + count
        at = bisect_right(self._groups, end)
        if end < self._end and at:
            end = self._groups[at - 1]
        return tuple(self._slice(self._start, end))

    def section(
        self,
        budget: int,
        layer: SectionName = "window",
        *,
        last: int | None = None,
        saved: Mapping[str, int] | None = None,
    ) -> Section:
        """The latest whole groups that fit into a budget.

        Args:
            budget: tokens.
            layer: the name of the section.
            last: how many messages at most, or the newest group where that alone has more.
            saved: tokens by which messages were longer when they were said. What would not have
                fitted then is left out now, so that short forms save tokens and never add any.
        """
        start = self._start if last is None else self._start_of_last(last)
        start = self._first_fitting(budget, start)
        if saved:
            start = self._first_saving(budget, start, saved)
        messages = tuple(self._slice(start, self._end))
        return Section(layer=layer, messages=messages, tokens=self._tokens_from(start))

    def group(self, source: str) -> tuple[Message, ...]:
        """The messages that are kept or dropped with one, itself among them.

        Raises `KeyError` if it is not in the window.
        """
        at = bisect_right(self._groups, self._place[source])
        end = self._groups[at] if at < len(self._groups) else self._end
        return tuple(self._slice(self._groups[at - 1], end))

    def partners(self, source: str) -> tuple[Message, ...]:
        """A message with the calls it answers, the results it got, and the others of that call.

        Raises `KeyError` if it is not in the window.
        """
        group = self.group(source)
        if len(group) == 1:
            return group
        message = next(m for m in group if m.id == source)
        calls = {*message.calls, *message.results}
        calls.update(c for m in group if calls.intersection(m.calls) for c in m.calls)
        return tuple(
            m
            for m in group
            if m.id == source or calls.intersection(m.calls) | calls.intersection(m.results)
        )

    def get(self, source: str) -> Message:
        """A message by its id. Raises `KeyError` if it is not in the window."""
        return self._messages[self._place[source] - self._base]

    def place(self, source: str) -> int:
        """A message's place; a later message has a larger one.

        Raises `KeyError` if it is not in the window.
        """
        return self._place[source]

    def beside(self, source: str) -> tuple[str, ...]:
        """Ids of the messages just before and after one; empty where it is not in the window."""
        place = self._place.get(source)
        if place is None:
            return ()
        around = (p for p in (place - 1, place + 1) if self._start <= p < self._end)
        return tuple(self._messages[p - self._base].id for p in around)

    def own(self, principal: str) -> dict[str, str]:
        """The texts of what a principal said, by id, oldest first."""
        return {m.id: m.text for m in self if m.principal == principal}

    def save(self) -> JSON:
        """The messages of the window as JSON values."""
        return pack(self)

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved messages.

        Raises `StateError` if they are none, or one stands there twice.
        """
        messages = unpack(saved)
        seen: set[str] = set()
        for message in messages:
            if message.id in seen:
                said = f"the message {message.id!r} stands twice in a window"
                raise StateError(f"the saved state cannot be read back: {said}")
            seen.add(message.id)
        for message in messages:
            self.add(message)

    def _slice(self, start: int, end: int) -> list[Message]:
        return self._messages.between(start - self._base, end - self._base)

    def _group(self, message: Message, place: int) -> None:
        self._groups.append(place)
        if len(message.blocks) == 1 and type(message.blocks[0]) is Text:
            return
        for call in message.results:
            called = self._calls.get(call, place)
            while self._groups[-1] > called:
                self._groups.pop()
        self._calls.update(dict.fromkeys(message.calls, place))

    def _tokens_from(self, start: int) -> int:
        at = start - self._base
        return self._before[-1] - self._before[at] + self._undated(at)

    def _undated(self, at: int) -> int:
        # A day that began before this message is told anew where the section begins with it.
        while at < len(self._messages) and self._messages[at].composed:
            at += 1
        if at == len(self._messages) or self._dates[at]:
            return 0
        return self.counter.text(date_line(self._messages[at].time.date()))

    def _first_fitting(self, tokens: int, start: int) -> int:
        """The first place from `start` at which a group begins that fits with all after it."""
        if self._tokens_from(start) <= tokens:
            return start
        at = bisect_left(self._before, self._before[-1] - tokens, start - self._base)
        for place in self._groups[bisect_left(self._groups, at + self._base) :]:
            if self._tokens_from(place) <= tokens:
                return place
        return self._end

    def _first_saving(self, tokens: int, start: int, saved: Mapping[str, int]) -> int:
        """The first place from `start` at which a group begins that fits as it was said."""
        extra = sum(saved.get(m.id, 0) for m in self._slice(start, self._end))
        at = start
        for place in self._groups[bisect_left(self._groups, start) :]:
            extra -= sum(saved.get(m.id, 0) for m in self._slice(at, place))
            at = place
            if self._tokens_from(place) + extra <= tokens:
                return place
        return self._end

    def _start_of_last(self, messages: int) -> int:
        earliest = self._end - messages
        if earliest <= self._start:
            return self._start
        at = bisect_left(self._groups, earliest)
        return self._groups[min(at, len(self._groups) - 1)]

    def _limit_start(self) -> int:
        start = self._start
        if self._messages_limit is not None:
            start = self._start_of_last(self._messages_limit)
        if self._tokens_limit is not None:
            start = min(self._first_fitting(self._tokens_limit, start), self._groups[-1])
        return start

    def _drop_to(self, start: int) -> tuple[Message, ...]:
        if start <= self._start:
            return ()
        gone = tuple(self._slice(self._start, start))
        for message in gone:
            self._place.pop(message.id)
            for call in message.calls:
                if self._calls.get(call, start) < start:
                    del self._calls[call]
        self._start = start
        del self._groups[: bisect_left(self._groups, start)]
        if start - self._base > max(_SPARE, len(self._messages) // 2):
            self._forget_dropped()
        return gone

    def _forget_dropped(self) -> None:
        stale = self._start - self._base
        self._messages.drop(stale)
        del self._dates[:stale], self._before[:stale]
        self._base = self._start


# Everything that was said, with the indexes to find it again.


class Archive:
    """A log of messages, and rankers of their texts.

    A text is indexed with the name of who said it, `principal: text`, since questions name people.
    """

    def __init__(self, counter: TokenCounter, *rankers: Ranker) -> None:
        self.log = Window(counter)
        self.rankers: Sequence[Ranker] = rankers

    def add(self, message: Message) -> None:
        """Keep a message and index it; one that is kept already is left out."""
        if message.id in self.log:
            return
        self.log.add(message)
        text = f"{message.principal}: {message.text}"
        for ranker in self.rankers:
            ranker.add(message.id, text)

    def remove(self, ids: Iterable[str]) -> tuple[Message, ...]:
        """Take messages out of the log and the indexes, with their tool calls or results."""
        gone = self.log.remove(ids)
        for message in gone:
            for ranker in self.rankers:
                ranker.remove(message.id)
        return gone

    def save(self) -> JSON:
        """The messages as JSON values; the indexes are made from them again."""
        return self.log.save()

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved messages; called on an empty archive.

        Raises `StateError` if they are none.
        """
        found = Window(self.log.counter)
        found.load(saved)
        for message in found:
            self.add(message)

    def close(self) -> None:
        """Release what the indexes hold open."""
        for ranker in self.rankers:
            ranker.close()
