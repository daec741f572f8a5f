"""The ceiling: everything that was ever said."""

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
    State,
    Strategy,
    Surface,
)
from memsim.memory.codec import part
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Window
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
