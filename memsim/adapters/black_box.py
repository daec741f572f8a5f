"""The base of strategies over foreign memories: rules, the latest messages, and what is found."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from memsim.adapters.credit import CreditIndex, ForeignText, SourceCredit
from memsim.adapters.event_loop import OwnLoop
from memsim.context import Context, Section, escaped
from memsim.errors import StrategyError
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Window
from memsim.memory.scope import MemoryScopes
from memsim.message import Message, Text, composed
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Query,
    Strategy,
)

WALL_TIME = "lives in wall time: age and expiry are not measured"
"""The note on a memory that takes no virtual time."""

NOTE = "note"
"""The kind of an event whose detail a report shows beside the strategy."""

FOREIGN = "foreign"
"""The kind of an event by which a foreign memory is known in a trace."""

Maybe = Awaitable[None] | None
_LONGEST_TOKEN = 256
_LABEL = 40
"""Characters that a memory may put before a message, such as who said it and when."""


class BlackBox(Strategy):
    """Shows the latest messages of the asker, and earlier texts that a foreign memory finds.

    System messages of the asker stay, because an agent sends its instructions with each question.

    An adapter writes `add` and `find`, and what else its memory can do. Each of these methods may
    be a coroutine function. All coroutines run on one loop.

    Args:
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds that one call of the memory may take.

    Attributes:
        virtual_time: whether the memory takes its time from `message.time` and `query.time`.
        ranks: whether `find` returns the best text first, so that its order can be scored.
        notes: what a report shows beside the strategy, such as the version of the memory.
        per_user: whether a user finds only what that user said, so that grants need more questions.
    """

    inspectable = False
    virtual_time = False
    notes: tuple[str, ...] = ()
    per_user = True
    ranks = False

    def __init__(self, env: Environment, *, window: int = 8, timeout: float = 30.0) -> None:
        super().__init__(env)
        if window < 0:
            raise ValueError(f"window is {window}: at least 0")
        self._window = window
        self._loop = OwnLoop(timeout)
        self._said: dict[str, Message] = {}
        self._order: dict[str, int] = {}
        self._credit = CreditIndex()
        self._windows = self._new_windows()
        self._rules: dict[str, dict[str, Message]] = {}
        self._readable: dict[str, dict[str, None]] = {}
        self._granted: dict[str, None] = {}
        self._noted = False

    # What an adapter writes.

    @abstractmethod
    def add(self, message: Message) -> Maybe:
        """Hand a message to the memory; its user is `message.principal`."""

    @abstractmethod
    def find(
        self, query: Query, user: str, room: int
    ) -> Sequence[ForeignText] | Awaitable[Sequence[ForeignText]]:
        """What the memory finds for a user; `room` is the tokens that are left."""

    def record(self) -> Maybe:
        """End a turn, if the memory wants to know."""

    def remove(
        self, user: str, ids: Sequence[str]
    ) -> Iterable[str] | Awaitable[Iterable[str] | None] | None:
        """Erase messages of a user; the ids of those that are erased, or None if it cannot."""

    def shut(self) -> Maybe:
        """Empty the memory, and release it."""

    # The strategy.

    def observe(self, message: Message) -> None:
        if message.id in self._said:
            return
        self._loop.wait(self.add(message))
        self._keep(message)

    def context(self, query: Query) -> Context:
        rules = self._standing(query)
        room = query.budget - rules.tokens
        window = (
            self._windows.seen_by(query.principal).section(room, last=self._window)
            if self._window
            else self.env.build.section("window", ())
        )
        room -= window.tokens
        found = self._found(query, room)
        if not found and not window.messages and self.per_user and query.principal in self._granted:
            raise StrategyError(
                f"the memory has users of its own: what others let {query.principal} read"
                " is not measured"
            )
        messages = self._fitting(found, (*rules.messages, *window.messages), query, room)
        ranking = (source for _, credit in found for source in credit.sources)
        return self.env.build.context(
            rules,
            self.env.build.section("recalled", messages),
            window,
            ranking=tuple(dict.fromkeys(ranking)) if self.ranks else (),
        )

    def end_turn(self) -> None:
        self._loop.wait(self.record())
        if not self._noted:
            self._noted = True
            self.env.log(Event(kind=FOREIGN))
            for note in self.notes if self.virtual_time else (*self.notes, WALL_TIME):
                self.env.log(Event(kind=NOTE, detail=note))

    def grant(self, grant: Grant) -> None:
        if grant.revoked:
            self._readable.get(grant.viewer, {}).pop(grant.owner, None)
            return
        self._granted[grant.viewer] = None
        if grant.everything:
            self._readable.setdefault(grant.viewer, {})[grant.owner] = None

    def forget(self, request: Forget) -> ForgetOutcome:
        own = {m.id: m.text for m in self._said.values() if m.principal == request.principal}
        ids = requested_message(request.text, request.sources, own)
        removed = self._loop.wait(self.remove(request.principal, ids)) if ids else ()
        if removed is None:
            return ForgetOutcome()
        gone = tuple(i for i in dict.fromkeys(removed) if i in own)
        self._drop(gone)
        return ForgetOutcome(supported=True, removed=gone)

    def close(self) -> None:
        try:
            self._loop.wait(self.shut())
        finally:
            self._loop.close()

    # What a context holds.

    def _standing(self, query: Query) -> Section:
        """The system messages of the asker, of which the latest fit first."""
        kept: list[Message] = []
        for rule in reversed(self._rules.get(query.principal, {}).values()):
            if self.env.build.tokens([rule, *kept]) > query.budget:
                break
            kept.insert(0, rule)
        return self.env.build.section("system", kept)

    def _found(self, query: Query, room: int) -> list[tuple[ForeignText, SourceCredit]]:
        if not query.text or room <= 0:
            return []
        users = [query.principal]
        if self.per_user:
            users += self._readable.get(query.principal, ())
        answers = [self._loop.wait(self.find(query, user, room)) for user in users]
        texts = chain.from_iterable(zip_longest(*answers))
        once = dict.fromkeys(t for t in texts if t is not None and t.text.strip())
        return [(text, self._credit.of(text)) for text in once]

    def _fitting(
        self,
        found: Sequence[tuple[ForeignText, SourceCredit]],
        window: Sequence[Message],
        query: Query,
        room: int,
    ) -> list[Message]:
        """As many texts as fit, without what the window shows; a ranking in the order of time."""
        taken: list[Message] = []
        shown = {m.id for m in window}
        for number, (text, credit) in enumerate(found):
            if len(text.text) > room * _LONGEST_TOKEN or self._is_shown(text, credit, shown):
                continue
            message = self._as_message(text, credit, shown, query, number)
            tokens = self.env.build.tokens([*taken[-1:], message])
            tokens -= self.env.build.tokens(taken[-1:])
            if tokens <= room:
                room -= tokens
                taken.append(message)
                shown.update(message.verbatim)
        return sorted(taken, key=self._place) if self.ranks else taken

    def _is_shown(self, text: ForeignText, credit: SourceCredit, shown: set[str]) -> bool:
        """Whether a text is a message that is shown, but for a few words such as its speaker."""
        there = (self._said[s].text for s in credit.quotes if s in shown)
        return any(len(text.text) - len(said) < _LABEL for said in there)

    def _as_message(
        self, text: ForeignText, credit: SourceCredit, shown: set[str], query: Query, number: int
    ) -> Message:
        """The original, if the text is one; else a composed message with its sources."""
        for source in credit.quotes:
            original = self._said[source]
            if original.text == text.text and all(isinstance(b, Text) for b in original.blocks):
                return original
        again = tuple(s for s in credit.quotes if s in shown)
        return composed(
            "user",
            escaped(text.text),
            id=f"found:{query.turn}:{number}",
            quotes=tuple(s for s in credit.quotes if s not in shown),
            excerpts=credit.excerpts,
            derived_from=(*again, *credit.derived_from),
            time=text.time or query.time,
        )

    def _place(self, message: Message) -> int:
        sources = (*message.verbatim, *message.derived_from)
        return min((self._order[s] for s in sources), default=-1)

    # What it keeps itself.

    def _new_windows(self) -> MemoryScopes[Window]:
        most = max(1, self._window)
        return MemoryScopes("principal", lambda: Window(self.env.counter, messages=most))

    def _keep(self, message: Message) -> None:
        self._said[message.id] = message
        self._order[message.id] = len(self._order)
        self._credit.add(message)
        if message.role == "system":
            self._rules.setdefault(message.principal, {})[message.id] = message
            return
        window = self._windows.of(message.principal)
        if window.answers_here(message):
            window.add(message)

    def _drop(self, ids: Sequence[str]) -> None:
        for source in ids:
            owner = self._said.pop(source).principal
            self._windows.of(owner).remove([source])
            self._rules.get(owner, {}).pop(source, None)
        self._credit.remove(ids)


def notes_in(events: Iterable[Event]) -> Iterator[str]:
    """The notes among the events of a strategy."""
    return (event.detail for event in events if event.kind == NOTE)
