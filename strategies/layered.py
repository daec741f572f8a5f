"""A whole memory under test: six layers over one store, with every part to be switched off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

import memsim
from memsim.memory.audit import AuditTrail
from memsim.memory.history.working_memory import WorkingMemory
from memsim.memory.layered_params import LayeredParams
from memsim.memory.ledger import InjectionLedger
from memsim.memory.memory import Memory
from memsim.memory.parts import MemorySetup
from memsim.memory.permissions import ReadGrant
from memsim.memory.places import open_places
from memsim.memory.retention import RetentionPolicy, Terms


class Layered(memsim.Strategy):
    """Core, working, episodic, semantic, long-term and workspace memory over one store.

    A context holds the latest messages, a summary of those before, and what the asker may find.
    """

    parameters = LayeredParams

    def __init__(self, env: memsim.Environment, **params: Any) -> None:  # noqa: ANN401 - as `LayeredParams`
        super().__init__(env)
        given = LayeredParams(**params)
        options = given.memory_options()  # refuses wrong values before anything is opened
        self._places = open_places(given.store, env.folder, env.services, throwaway=True)
        setup = MemorySetup(
            store=self._places.store,
            model=env.model,
            counter=env.counter,
            embed=env.embed,
            now=env.clock.now,
            options=options,
            working=WorkingMemory(self._places.working),
            ledger=InjectionLedger(self._places.ledger),
            budget=env.budget,
            audit=AuditTrail(salt=env.random.randbytes(16)),
            workspace=env.folder() / "workspace" if given.pages else None,
            tell=lambda event: env.log(memsim.Event(**asdict(event))),
        )
        self._memory = Memory(setup)
        self._asked: list[tuple[memsim.Context, memsim.Query]] = []
        self._terms: Terms = {}

    def observe(self, message: memsim.Message) -> None:
        rule = message.role == "system" and message.text.strip()
        (self._memory.core.pin_rule if rule else self._memory.observe)(message)

    def context(self, query: memsim.Query) -> memsim.Context:
        principal, session = query.principal, query.session
        context = self._memory.context(
            query.text, principal=principal, session=session, budget=query.budget, turn=query.turn
        )
        self._asked = [*self._asked[-15:], (context, query)]
        return context

    def delivered(self, context: memsim.Context) -> None:
        # Others may have asked since. A context that was cut is of the latest question.
        queries = [q for asked, q in self._asked if asked is context] or [q for _, q in self._asked]
        for query in queries[-1:]:
            self._memory.delivered(context, principal=query.principal, session=query.session)

    def tools(self, principal: str) -> Sequence[memsim.ToolSpec]:
        return self._memory.tools(principal).specs()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        return self._memory.tools(principal).call(name, arguments)

    def end_turn(self) -> None:
        self._memory.end_turn()

    def elapse(self, now: datetime) -> None:
        self._memory.elapse(now)

    def retention(self, wanted: Terms | None = None) -> Terms:
        if wanted:
            self._terms, hygiene = dict(wanted), RetentionPolicy.of_terms(wanted)
            self._memory.options = replace(self._memory.options, hygiene=hygiene)
        return self._terms

    def grant(self, grant: memsim.Grant) -> None:
        memory, owner, viewer = self._memory, grant.owner, grant.viewer
        if grant.everything:
            (memory.revoke if grant.revoked else memory.grant)(
                ReadGrant(owner=owner, reader=viewer)
            )
        else:
            (memory.unshare if grant.revoked else memory.share)(owner, viewer, grant.sources)

    def forget(self, request: memsim.Forget) -> memsim.ForgetOutcome:
        who, memory = request.principal, self._memory
        sources = request.sources or memory.closest_message(who, request.text)
        erased = memory.forget(who, (*sources, *memory.requests(who, sources)))
        return memsim.ForgetOutcome(supported=True, removed=erased.messages)

    def surfaces(self, viewer: str | None = None) -> Iterator[memsim.Surface]:
        for held in self._memory.surfaces(viewer):
            yield memsim.Surface(
                tier=held.tier, sources=held.sources, text=held.text, live=held.live
            )

    def locate(self, source: str, query: memsim.Query) -> memsim.Location | None:
        # Only what the asker may see: where another's message is, is not for them to know.
        found = (held.tier for held in self.surfaces(query.principal) if source in held.sources)
        return next((memsim.Location(tier=tier) for tier in found), None)

    def save(self) -> memsim.State:
        return self._memory.save()

    def load(self, state: memsim.State) -> None:
        self._memory.load(state)

    def close(self) -> None:
        with closing(self._places):
            self._memory.close()
