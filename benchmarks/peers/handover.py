"""A conversation in another tool's messages, and back: what every adapter of a compactor does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal

from memsim import Context, Environment, Event, Message, Query, Strategy, Surface
from memsim.message import Text, ToolResult, ToolUse, composed
from memsim.models import Request, provenance

Lines = dict[str, tuple[str, ...]]
"""The lines of a summary, each with ids of the messages that it was made from."""

SUMMARY = "summary"


class Handover:
    """What of a conversation is handed on: messages, and calls with all of their results."""

    def __init__(self) -> None:
        self._open: list[Message] = []
        self._waiting: set[str] = set()

    def take(self, message: Message) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """What can be handed on now that a message was said, and what never will be."""
        given_up: tuple[Message, ...] = ()
        if self._open:
            if message.results and self._waiting.issuperset(message.results):
                self._open.append(message)
                self._waiting.difference_update(message.results)
                return self._closed(), ()
            given_up, self._open = tuple(self._open), []
        if message.results:
            return (), (*given_up, message)
        if message.calls:
            self._open, self._waiting = [message], set(message.calls)
            return (), given_up
        return (message,), given_up

    @property
    def waiting(self) -> tuple[Message, ...]:
        """A call that is still to be answered, and what has come of its results."""
        return tuple(self._open)

    def _closed(self) -> tuple[Message, ...]:
        if self._waiting:
            return ()
        whole, self._open = tuple(self._open), []
        return whole


class Peer(Strategy):
    """A conversation in another tool's messages, and back.

    A tool that keeps what it made of a conversation is asked on a copy, which it is given back when
    the context was really sent.
    """

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._handover = Handover()
        self._said: dict[str, Message] = {}
        self._history: list[Any] = []
        self._places: dict[str, int] = {}
        self._lines: Lines = {}
        self._made: Lines | None = None
        self._asked: list[tuple[int, tuple[Context, list[Any], str, Lines]]] = []
        self._text = ""
        self._revision = 0

    # -- what a tool has to say

    def part(self, message: Message, block: Text | ToolResult, id: str) -> Any:  # noqa: A002, ANN401
        """A text or a result as one of the tool's messages."""
        raise NotImplementedError

    def calling(self, message: Message, text: str, id: str) -> Any:  # noqa: A002, ANN401
        """A message that calls tools as one of the tool's messages."""
        raise NotImplementedError

    def id_of(self, sent: Any) -> str:  # noqa: ANN401
        """The id that a message of the tool's was given; empty where the tool wrote it."""
        raise NotImplementedError

    def text_of(self, sent: Any) -> str:  # noqa: ANN401
        """The text of a message that the tool wrote."""
        return str(sent.content)

    def compacted(self, history: list[Any], budget: int) -> list[Any]:
        """What the tool would send of a history."""
        raise NotImplementedError

    keeps: ClassVar[bool] = False
    """What it sends takes the place of the history."""

    voice: ClassVar[Literal["system", "user"]] = "user"
    """Who a summary speaks as."""

    # -- the strategy

    def observe(self, message: Message) -> None:
        ready, never = self._handover.take(message)
        if never:
            ids = tuple(m.id for m in never)
            self.env.log(Event(kind="dropped", sources=ids, detail="not handed on"))
        for handed in ready:
            self._places[handed.id] = len(self._places)
            self._said[handed.id] = handed
            self._history.extend(self._parts(handed))
            self._revision += 1

    def context(self, query: Query) -> Context:
        return self._sent(query)[0]

    def delivered(self, context: Context) -> None:
        if not self.keeps:
            return
        asked = [made for _, made in self._asked]
        _, history, text, lines = next((m for m in asked if m[0] is context), asked[-1])
        if history == self._history and text == self._text:
            return
        before = {m.id for m in self.originals(self._history)}
        gone = tuple(sorted(before - {m.id for m in self.originals(history)}, key=self._place))
        faded = tuple(i for i in self._credited(self._lines) if i not in self._credited(lines))
        tokens = [
            self.env.build.tokens(self._shown(h, t))
            for h, t in ((self._history, self._text), (history, text))
        ]
        self._history, self._text, self._lines = history, text, lines
        self._revision += 1
        self.env.log(Event(kind="compaction", sources=gone, before=tokens[0], after=tokens[1]))
        if faded:
            self.env.log(Event(kind="faded", sources=faded))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for message in self.originals(self._history):
            yield Surface(tier="window", sources=(message.id,), text=message.text)
        for message in self._handover.waiting:
            yield Surface(tier="waiting", sources=(message.id,), text=message.text)
        if self._text.strip():
            yield Surface(tier=SUMMARY, sources=self._credited(self._lines), text=self._text)

    def originals(self, sent: Iterable[Any]) -> list[Message]:
        """The messages of which all parts are there."""
        there: dict[str, int] = {}
        for item in sent:
            name = self.id_of(item).partition("/")[0]
            there[name] = there.get(name, 0) + 1
        return [m for i, n in there.items() if (m := self._said.get(i)) and n == self._count(m)]

    def tokens(self, sent: Iterable[Any]) -> int:
        """Tokens of a tool's messages, as memsim counts them."""
        ids = dict.fromkeys(self.id_of(item).partition("/")[0] for item in sent)
        known = [self._said[i] for i in ids if i in self._said]
        own = [self.text_of(item) for item in sent if not self.id_of(item)]
        return self.env.build.tokens(known) + sum(self.env.counter.text(t) + 4 for t in own)

    def summarised(self, originals: Iterable[Message], previous: str) -> str:
        """What the model of the case makes of these, and of the summary before them."""
        request = Request(
            task="summarise",
            messages=tuple(originals),
            previous=previous,
            max_tokens=max(8, self.env.budget // 8),
            now=self.env.clock.now(),
        )
        reply = self.env.model.complete(request)
        self._made = dict(provenance(reply, self._lines) or {})
        return reply.text

    def _sent(self, query: Query) -> tuple[Context, list[Any], str, Lines]:
        made = self.memo.get(self._revision, query.budget, lambda: self._computed(query.budget))
        # Somebody else may ask before it is delivered.
        self._asked = [one for one in self._asked if one[0] == self._revision]
        self._asked.append((self._revision, made))
        return made

    def _computed(self, budget: int) -> tuple[Context, list[Any], str, Lines]:
        self._made = None
        history = self.compacted(list(self._history), budget)
        own = [self.text_of(item) for item in history if not self.id_of(item)]
        text = own[0] if own else ""
        lines = self._lines if self._made is None else self._made
        build = self.env.build
        (*summary,) = (m for m in self._shown(history, text, lines) if m.composed)
        window = self.originals(history)
        context = build.context(build.section("summary", summary), build.section("window", window))
        return context, history, text, dict(lines) if own else {}

    def _shown(
        self, history: list[Any], text: str, lines: Mapping[str, tuple[str, ...]] | None = None
    ) -> list[Message]:
        shown = self.originals(history)
        if not text:
            return shown
        credited = self._credited(self._lines if lines is None else lines)
        return [composed(self.voice, text, id=SUMMARY, derived_from=credited), *shown]

    def _credited(self, lines: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(i for sources in lines.values() for i in sources))

    def _place(self, source: str) -> int:
        return self._places.get(source, -1)

    def _count(self, message: Message) -> int:
        return max(1, len(message.results))

    def _parts(self, message: Message) -> Iterator[Any]:
        text = "\n".join(b.text for b in message.blocks if isinstance(b, Text))
        if message.calls:
            yield self.calling(message, text, message.id)
        elif message.results:
            found = [b for b in message.blocks if isinstance(b, ToolResult)]
            for n, block in enumerate(found):
                yield self.part(message, block, f"{message.id}/{n}" if n else message.id)
        else:
            yield self.part(message, Text(text), message.id)


def uses(message: Message) -> Iterator[ToolUse]:
    """The calls of a message."""
    return (b for b in message.blocks if isinstance(b, ToolUse))
