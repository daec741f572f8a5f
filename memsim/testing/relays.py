"""Relays: strategies that pass every call on to another one, and make some calls more often.

Each of these is something that happens in a product, and changes nothing that a memory shows: a
retry, a second reader, a restart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.errors import BudgetUnsatisfiable
from memsim.strategy import Environment, Query, Strategy

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.context import Context
    from memsim.message import Message
    from memsim.models import ToolSpec
    from memsim.strategy import (
        Forget,
        ForgetOutcome,
        Grant,
        Location,
        Retention,
        State,
        Surface,
    )
    from memsim.testing.worlds import Subject

MakeStrategy = Callable[[Environment], Strategy]


class Relay(Strategy):
    """Passes every call on as it is."""

    def __init__(self, make: MakeStrategy, env: Environment) -> None:
        super().__init__(env)
        self._make = make
        self.inner = make(env)

    def observe(self, message: Message) -> None:
        self.inner.observe(message)

    def context(self, query: Query) -> Context:
        return self.inner.context(query)

    def delivered(self, context: Context) -> None:
        self.inner.delivered(context)

    def end_turn(self) -> None:
        self.inner.end_turn()

    def elapse(self, now: datetime) -> None:
        self.inner.elapse(now)

    def retention(self, wanted: Retention | None = None) -> Retention:
        return self.inner.retention(wanted)

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return self.inner.tools(principal)

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        return self.inner.call_tool(name, arguments, principal)

    def forget(self, request: Forget) -> ForgetOutcome:
        return self.inner.forget(request)

    def grant(self, grant: Grant) -> None:
        self.inner.grant(grant)

    def surfaces(self, viewer: str | None = None) -> Iterable[Surface]:
        return self.inner.surfaces(viewer)

    def locate(self, source: str, query: Query) -> Location | None:
        return self.inner.locate(source, query)

    def save(self) -> State:
        return self.inner.save()

    def load(self, state: State) -> None:
        self.inner.load(state)

    def close(self) -> None:
        self.inner.close()


class EndsTwice(Relay):
    """Ends every turn twice, and one before anything was said."""

    def __init__(self, make: MakeStrategy, env: Environment) -> None:
        super().__init__(make, env)
        self.inner.end_turn()

    def end_turn(self) -> None:
        self.inner.end_turn()
        self.inner.end_turn()


class HearsTwice(Relay):
    """Hears every message twice, and at the end of a turn again all that its context shows."""

    def __init__(self, make: MakeStrategy, env: Environment) -> None:
        super().__init__(make, env)
        self._query: Query | None = None

    def observe(self, message: Message) -> None:
        self.inner.observe(message)
        self.inner.observe(message)

    def context(self, query: Query) -> Context:
        self._query = query
        return self.inner.context(query)

    def end_turn(self) -> None:
        with suppress(BudgetUnsatisfiable):
            sections = () if self._query is None else self.inner.context(self._query).sections
            for message in [m for s in sections for m in s.messages if not m.composed]:
                self.inner.observe(message)
        self._query = None
        self.inner.end_turn()


class AskedOften(Relay):
    """Is read between all other calls: by others, with other budgets, and by every reading call."""

    def __init__(self, make: MakeStrategy, env: Environment, *, readings: Sequence[str]) -> None:
        super().__init__(make, env)
        self._readings = readings
        self._people: dict[str, str] = {}
        self._turn = 0

    def observe(self, message: Message) -> None:
        self.inner.observe(message)
        self._people[message.principal] = message.session
        self._turn = message.turn

    def context(self, query: Query) -> Context:
        context = self.inner.context(query)
        self._read(query)
        return context

    def end_turn(self) -> None:
        self._read()
        self.inner.end_turn()

    def _read(self, query: Query | None = None) -> None:
        asked = query or Query(
            text="Where is the order?",
            principal="",
            session="",
            time=self.env.clock.now(),
            turn=self._turn,
            budget=self.env.budget,
        )
        for who, session in [*self._people.items()]:
            own = replace(asked, principal=who, session=session)
            for one in (own, replace(own, budget=own.budget // 2, text="What is the code?")):
                self._ask(one)
            self.inner.tools(who)
        if "surfaces" in self._readings:
            list(self.inner.surfaces())
        if "save" in self._readings:
            self.inner.save()

    def _ask(self, query: Query) -> None:
        with suppress(BudgetUnsatisfiable):
            self.inner.context(query).ranked()


class Restarts(Relay):
    """Is saved, closed and loaded into a new instance after every turn, or after one of them."""

    def __init__(self, make: MakeStrategy, env: Environment, *, after: int = 0) -> None:
        super().__init__(make, env)
        self._after = after
        self._ended = 0

    def end_turn(self) -> None:
        self.inner.end_turn()
        self._ended += 1
        if self._after in {0, self._ended}:
            self._restart()

    def _restart(self) -> None:
        state = json.loads(json.dumps(self.inner.save(), allow_nan=False))
        self.inner.close()
        self.inner = self._make(self.env)
        self.inner.load(state)


def relayed(subject: Subject, kind: Callable[..., Relay], **given: object) -> Subject:
    """The same subject, called by way of a relay."""
    return replace(subject, make=lambda env: kind(subject.make, env, **given))
