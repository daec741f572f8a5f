"""The floor and the ceilings that every memory is measured against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from memsim import (
    Context,
    Environment,
    Forget,
    ForgetOutcome,
    Location,
    Message,
    Query,
    Section,
    State,
    Strategy,
    Surface,
)
from memsim.memory.codec import part, reading
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Window
from memsim.memory.recall.search import Recollection
from memsim.memory.scope import MemoryScopes


class FullContext(Strategy):
    """Everything that was ever said, verbatim: the most that a model could know.

    Only where all of it does not fit into the budget are the oldest messages left out.

    Args:
        scope: `shared`: everybody sees everything; `principal`: each sees what was theirs.
    """

    control = "ceiling"

    def __init__(
        self, env: Environment, *, scope: Literal["shared", "principal"] = "shared"
    ) -> None:
        super().__init__(env)
        self._said = MemoryScopes(scope, lambda: Window(env.counter))

    def observe(self, message: Message) -> None:
        self._said.of(message.principal).add(message)

    def context(self, query: Query) -> Context:
        section = self._said.seen_by(query.principal).section(query.budget)
        return Context(sections=(section,) if section.messages else ())

    def forget(self, request: Forget) -> ForgetOutcome:
        said = self._said.of(request.principal)
        gone = said.remove(
            requested_message(request.text, request.sources, said.own(request.principal))
        )
        return ForgetOutcome(supported=True, removed=tuple(m.id for m in gone))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for said in self._said.visible(viewer):
            for message in said:
                yield Surface(tier="window", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        if source not in self._said.seen_by(query.principal):
            return None
        return Location(
            tier="window", detail="" if source in self.context(query).verbatim else "over budget"
        )

    def save(self) -> State:
        return {"said": self._said.save()}

    def load(self, state: State) -> None:
        self._said.load(part(state, "said"))


class NoMemory(Strategy):
    """Nothing but what was said in the turn itself: what any memory must beat."""

    control = "floor"

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._turn = Window(env.counter)
        self._number = 0

    def observe(self, message: Message) -> None:
        if message.turn != self._number:
            self._turn, self._number = Window(self.env.counter), message.turn
        if self._turn.answers_here(message):
            self._turn.add(message)

    def context(self, query: Query) -> Context:
        said = Window(self.env.counter)
        for message in self._turn:
            if query.turn == self._number and message.principal == query.principal:
                said.add(message)
        section = said.section(query.budget)
        return Context(sections=(section,) if section.messages else ())

    def forget(self, request: Forget) -> ForgetOutcome:
        own = self._turn.own(request.principal)
        gone = self._turn.remove(requested_message(request.text, request.sources, own))
        return ForgetOutcome(supported=True, removed=tuple(m.id for m in gone))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for message in self._turn:
            if viewer in {None, message.principal}:
                yield Surface(tier="window", sources=(message.id,), text=message.text)

    def save(self) -> State:
        return {"turn": self._number, "said": self._turn.save()}

    def load(self, state: State) -> None:
        said = Window(self.env.counter)
        with reading("its turn is damaged"):
            said.load(part(state, "said"))
            number = state["turn"]
            if not isinstance(number, int):
                raise TypeError(number)
        self._turn, self._number = said, number


class Oracle(Strategy):
    """The messages that hold the answer, and nothing else: what perfect recall would be worth.

    It is told which they are, by nothing but their ids. Tool calls stay with their results.
    """

    control = "evidence"

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._said = Window(env.counter)
        self._lines = Recollection(env.counter)

    def observe(self, message: Message) -> None:
        self._said.add(message)

    def context(self, query: Query) -> Context:
        section = self._evidence(query)
        return Context(sections=(section,) if section.messages else ())

    def _evidence(self, query: Query) -> Section:
        said, known = self._said, [i for i in query.evidence if i in self._said]
        whole = {m.id: m for i in known for m in said.partners(i)}
        section = self.env.build.section(
            "recalled", sorted(whole.values(), key=lambda m: said.place(m.id))
        )
        if section.tokens <= query.budget:
            return section
        # What is larger than the budget is quoted where it speaks to the question.
        return self._lines.section(
            [said.get(i) for i in known],
            question=query.text,
            budget=query.budget,
            order=said.place,
            id=f"recalled:{query.turn}",
            time=query.time,
        )

    def forget(self, request: Forget) -> ForgetOutcome:
        own = self._said.own(request.principal)
        gone = self._said.remove(requested_message(request.text, request.sources, own))
        return ForgetOutcome(supported=True, removed=tuple(m.id for m in gone))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for message in self._said:
            yield Surface(tier="store", sources=(message.id,), text=message.text)

    def save(self) -> State:
        return {"said": self._said.save()}

    def load(self, state: State) -> None:
        said = Window(self.env.counter)
        with reading("its messages are damaged"):
            said.load(part(state, "said"))
        self._said = said
