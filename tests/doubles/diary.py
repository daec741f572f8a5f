"""A small honest memory: rules, a summary of what is old, and the latest messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from memsim.context import Context, Section, fenced
from memsim.errors import BudgetUnsatisfiable, ModelError
from memsim.message import Message, composed
from memsim.models import Reply, Request
from memsim.strategy import Event, Forget, ForgetOutcome, Query, Strategy

MOST, KEPT = 12, 6
_REFUSALS = ("sorry", "can't help", "cannot help", "as an ai")


class Diary(Strategy):
    """Keeps every rule and the latest five messages, and summarises the rest for everybody."""

    keeps_system: ClassVar[bool] = True
    tail: ClassVar[int] = 5

    def __init__(self, env: object) -> None:
        super().__init__(env)  # type: ignore[arg-type]
        self.rules: list[Message] = []
        self.recent: list[Message] = []
        self.summary = ""
        self.covered: tuple[str, ...] = ()
        self.compactions = 0

    def observe(self, message: Message) -> None:
        (self.rules if message.role == "system" else self.recent).append(message)

    def context(self, query: Query) -> Context:
        sections = [self.section("system", self.standing(query))]
        left = query.budget - sections[0].tokens
        if left < 0:
            raise BudgetUnsatisfiable("system", sections[0].tokens, query.budget)
        window = self.window(query, left)
        left -= self.section("window", window).tokens
        for section in (self.section("summary", self.summaries(query)), *self.extras(query)):
            if section.tokens <= left:
                sections.append(section)
                left -= section.tokens
        return self.env.build.context(*self.arranged(sections, window, query))

    def arranged(
        self, sections: list[Section], window: list[Message], query: Query
    ) -> list[Section]:
        """What is read in which order."""
        return [*sections, self.section("window", window)]

    def section(self, layer: str, messages: Sequence[Message]) -> Section:
        """A section with its tokens."""
        return self.env.build.section(layer, messages)

    def standing(self, query: Query) -> list[Message]:
        """The rules."""
        return list(self.rules)

    def window(self, query: Query, left: int) -> list[Message]:
        """As many of the latest messages as fit, calls with their results."""
        for start in range(len(self.recent) + 1):
            kept = whole(self.recent[start:])
            if self.size(kept, query) <= left:
                return kept
        return []

    def size(self, messages: Sequence[Message], query: Query) -> int:
        """Tokens of messages."""
        return self.env.build.tokens(messages)

    def summaries(self, query: Query) -> list[Message]:
        """The summary as a message, if there is one."""
        if not self.summary:
            return []
        text = fenced("summary", self.summary)
        return [composed("assistant", text, id="summary", derived_from=self.covered)]

    def extras(self, query: Query) -> list[Section]:
        """Further sections, as far as they fit."""
        return []

    def end_turn(self) -> None:
        if len(self.recent) > MOST:
            self.compact(self.recent[:-KEPT])

    def compact(self, old: list[Message]) -> None:
        """Summarise messages, unless the model writes nothing of use."""
        request = Request(
            task="summarise",
            messages=self.given(old),
            previous=self.summary,
            max_tokens=max(8, self.env.budget // 4),
            now=self.env.clock.now(),
        )
        try:
            reply = self.env.model.complete(request)
        except ModelError:
            return
        if self.accepts(reply, old):
            self.adopt(reply, old)

    def given(self, old: list[Message]) -> tuple[Message, ...]:
        """What the model reads."""
        return tuple(old)

    def accepts(self, reply: Reply, old: list[Message]) -> bool:
        """Whether a reply is a summary, and shorter than what it stands for."""
        text = reply.text
        return (
            bool(text.strip())
            and not reply.cut
            and text.replace("\n", "").isprintable()
            and not any(word in text.casefold() for word in _REFUSALS)
            and len(text) < sum(len(m.text) for m in old) + len(self.summary)
        )

    def adopt(self, reply: Reply, old: list[Message]) -> None:
        """Take a summary in the place of messages."""
        ids = tuple(m.id for m in old)
        self.summary, self.covered = reply.text, (*self.covered, *ids)
        self.recent = self.recent[len(old) :]
        self.compactions += 1
        self.env.log(Event(kind="compaction", sources=ids))

    def forget(self, request: Forget) -> ForgetOutcome:
        gone = {
            m.id
            for m in (*self.recent, *self.rules)
            if m.id in request.sources and m.principal == request.principal
        }
        self.recent = [m for m in self.recent if m.id not in gone]
        self.rules = [m for m in self.rules if m.id not in gone]
        return ForgetOutcome(supported=True, removed=tuple(sorted(gone)))


def whole(messages: Sequence[Message]) -> list[Message]:
    """Messages without calls that have no result behind them, and results that have no call."""
    kept: list[Message] = []
    place = 0
    while place < len(messages):
        message, end = messages[place], place + 1
        waiting = set(message.calls)
        while waiting and end < len(messages) and messages[end].results:
            if not waiting.issuperset(messages[end].results):
                break
            waiting.difference_update(messages[end].results)
            end += 1
        if message.results or waiting:
            place += 1
            continue
        kept += messages[place:end]
        place = end
    return kept
