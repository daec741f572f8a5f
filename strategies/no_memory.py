"""The floor: nothing but the turn itself."""

from __future__ import annotations

from collections.abc import Iterator

from memsim import (
    Context,
    Environment,
    Forget,
    ForgetOutcome,
    Message,
    Query,
    State,
    Strategy,
    Surface,
)
from memsim.memory.codec import part, reading
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Window


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
