"""The latest messages, and nothing before them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from memsim import (
    Context,
    Environment,
    Event,
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


class SlidingWindow(Strategy):
    """The latest messages; what leaves the window is gone.

    Messages leave oldest first, a tool call never without its results. However large the window,
    no more of it is sent than fits into the budget.

    Args:
        messages: how many are kept.
        tokens: how many tokens are kept, in place of a number of messages.
        scope: `shared`: one window for everybody; `principal`: one for each.

    Raises:
        ValueError: a limit is below 1, or the scope is neither.
    """

    def __init__(
        self,
        env: Environment,
        *,
        messages: int = 20,
        tokens: int | None = None,
        scope: Literal["shared", "principal"] = "shared",
    ) -> None:
        super().__init__(env)
        if (messages if tokens is None else tokens) < 1:
            name = "messages" if tokens is None else "tokens"
            raise ValueError(f"{name} is {messages if tokens is None else tokens}: at least 1")
        limit = messages if tokens is None else None
        self._windows = MemoryScopes(
            scope, lambda: Window(env.counter, messages=limit, tokens=tokens)
        )

    def observe(self, message: Message) -> None:
        window = self._windows.of(message.principal)
        if not window.answers_here(message):
            # No provider takes a result whose call is not there any more.
            late = Event(kind="dropped", sources=(message.id,), detail="its call left before it")
            self.env.log(late)
            return
        dropped = window.add(message)
        if dropped:
            ids = tuple(m.id for m in dropped)
            self.env.log(Event(kind="dropped", sources=ids, detail="window full"))

    def context(self, query: Query) -> Context:
        section = self._windows.seen_by(query.principal).section(query.budget)
        return Context(sections=(section,) if section.messages else ())

    def forget(self, request: Forget) -> ForgetOutcome:
        window = self._windows.of(request.principal)
        gone = window.remove(
            requested_message(request.text, request.sources, window.own(request.principal))
        )
        return ForgetOutcome(supported=True, removed=tuple(m.id for m in gone))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for window in self._windows.visible(viewer):
            for message in window:
                yield Surface(tier="window", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        if source not in self._windows.seen_by(query.principal):
            return None
        shown = source in self.context(query).verbatim
        return Location(tier="window", detail="" if shown else "over budget")

    def save(self) -> State:
        return {"windows": self._windows.save()}

    def load(self, state: State) -> None:
        self._windows.load(part(state, "windows"))
