"""The other ceiling: the evidence alone."""

from __future__ import annotations

from collections.abc import Iterator

from memsim import (
    Context,
    Environment,
    Forget,
    ForgetOutcome,
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
