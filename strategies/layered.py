"""A whole memory under test: six layers over one store, with every part to be switched off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from memsim import (
    Context,
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Message,
    Query,
    State,
    Strategy,
    Surface,
    ToolSpec,
)
from memsim.memory.acl import Grant as Permit
from memsim.memory.audit import AuditTrail
from memsim.memory.derived import original_of
from memsim.memory.happening import Happening
from memsim.memory.hygiene import Policy
from memsim.memory.layers.episodic import all_words
from memsim.memory.ledger import InjectionLedger
from memsim.memory.memory import Memory
from memsim.memory.options import MemoryOptions
from memsim.memory.retrieval.policy import RecallPolicy
from memsim.memory.stores.opening import StoreKind, open_places
from memsim.memory.working import WorkingMemory

Switch = Literal["on", "off"]
Terms = Mapping[str, tuple[timedelta, timedelta | None]]


class Layered(Strategy):
    """Core, working, episodic, semantic, long-term and workspace memory over one store.

    The latest messages of the conversation, a summary of what was before them, and whatever else
    speaks to the question, found by words and by meaning among what the asker may see.

    Args:
        window: latest messages of the conversation that are always there.
        k: earlier messages that are recalled at most, as far as they fit.
        floor: share of the best message's relevance below which none is quoted.
        summary: whether what leaves the window is summarised.
        facts: whether facts are extracted, and later ones supersede earlier ones.
        episodes: whether each conversation that is over is concluded in a summary of its own.
        recall: whether earlier messages are found for each question.
        vectors: whether they are found by meaning as well.
        acl: whether everybody sees only what is theirs, shared with them, or said in their
            conversations.
        mode: who stores and recalls: the framework, the agent by its tools, or both. By the agent
            alone, no fact is extracted, no conversation concluded and nothing recalled unasked.
        store: where entries are kept. Replays keep them in memory, which is fastest; what is found
            is the same in every store that compares exactly. `postgres` and `redis` need a server,
            whose address is in MEMSIM_POSTGRES_URL or MEMSIM_REDIS_URL.

    Raises:
        ValueError: a number is out of its range, or a word means nothing here.
    """

    def __init__(
        self,
        env: Environment,
        *,
        window: int = 4,
        k: int | None = None,
        floor: float = 0.45,
        summary: Switch = "off",
        facts: Switch = "on",
        episodes: Switch = "on",
        recall: Switch = "on",
        vectors: Switch = "on",
        acl: Switch = "on",
        mode: Literal["framework", "agent", "both"] = "framework",
        store: StoreKind = "memory",
    ) -> None:
        super().__init__(env)
        options = MemoryOptions(
            window=window,
            policy=RecallPolicy(limit=k, floor=floor),
            summary=_on("summary", summary),
            facts=_on("facts", facts),
            episodes=_on("episodes", episodes),
            recall=_on("recall", recall),
            vectors=_on("vectors", vectors),
            acl=_on("acl", acl),
            mode=mode,
        )
        self._places = open_places(store, env.folder, env.services, throwaway=True)
        self._memory = Memory(
            self._places.store,
            model=env.model,
            counter=env.counter,
            embed=env.embed,
            now=env.clock.now,
            options=options,
            working=WorkingMemory(self._places.working),
            ledger=InjectionLedger(self._places.ledger),
            budget=env.budget,
            audit=AuditTrail(salt=env.random.randbytes(16)),
            workspace=None
            if mode == "framework" or store == "memory"
            else env.folder() / "workspace",
            tell=self._told,
        )
        self._speaker = ""
        self._terms: Terms = {}

    def observe(self, message: Message) -> None:
        self._speaker = message.principal
        if message.role == "system" and message.text.strip():
            self._pin(message)
        else:
            self._memory.observe(message)

    def context(self, query: Query) -> Context:
        return self._memory.context(
            query.text,
            principal=query.principal,
            session=query.session,
            budget=query.budget,
            turn=query.turn,
        )

    def delivered(self, context: Context) -> None:
        if self._speaker:
            self._memory.delivered(context, principal=self._speaker)

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return self._memory.tools(principal).specs()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        return self._memory.tools(principal).call(name, arguments)

    def end_turn(self) -> None:
        self._memory.end_turn()

    def elapse(self, now: datetime) -> None:
        self._memory.elapse(now)

    def retention(self, wanted: Terms | None = None) -> Terms:
        if wanted:
            self._terms = dict(wanted)
            self._memory.options = replace(self._memory.options, hygiene=_policy(wanted))
        return self._terms

    def grant(self, grant: Grant) -> None:
        if grant.everything:
            allow = self._memory.revoke if grant.revoked else self._memory.grant
            allow(Permit(owner=grant.owner, reader=grant.viewer))
            return
        change = self._memory.unshare if grant.revoked else self._memory.share
        change(grant.owner, grant.viewer, grant.sources)

    def forget(self, request: Forget) -> ForgetOutcome:
        meant = request.sources or self._memory.meant(request.principal, request.text)
        erased = self._memory.forget(request.principal, meant)
        removed = (source for e in erased.entries if (source := original_of(e)) is not None)
        return ForgetOutcome(supported=True, removed=tuple(dict.fromkeys(removed)))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for entry in self._memory.entries(viewer):
            yield Surface(tier=entry.layer, sources=entry.sources, text=all_words(entry))
        if viewer is None:
            for record in self._memory.audit.records():
                yield Surface(tier="audit", text=str(record))
        for name, session in self._memory.conversations:
            if viewer is None or self._memory.may_see(viewer, name):
                for line in session.summary_lines():
                    yield Surface(tier="summary", sources=line.sources, text=line.text)
                for message in session.window:
                    yield Surface(tier="window", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        # Where another's message is, is nobody's business.
        for surface in self.surfaces(query.principal):
            if source in surface.sources:
                return Location(tier=surface.tier)
        return None

    def save(self) -> State:
        return self._memory.save()

    def load(self, state: State) -> None:
        self._memory.load(state)

    def close(self) -> None:
        try:
            self._memory.close()
        finally:
            self._places.close()

    def _pin(self, message: Message) -> None:
        # What whoever runs the agent says always holds, whatever is compacted around it.
        self._memory.core.pin(
            message.principal,
            message.id,
            message.text,
            now=message.time,
            kind="rule",
            role="system",
            sources=(message.id,),
        )

    def _told(self, happening: Happening) -> None:
        self.env.log(
            Event(
                kind=happening.kind,
                sources=happening.sources,
                before=happening.before,
                after=happening.after,
                detail=happening.detail,
            )
        )


def _policy(terms: Terms) -> Policy:
    """What is to be kept no longer than it is served is erased, the rest put away until then."""
    ends = {name: until for name, (_, until) in terms.items()}
    served = {name: min(term, ends[name] or term) for name, (term, _) in terms.items()}
    return Policy(
        retention=served,
        erased=frozenset(name for name in terms if ends[name] == served[name]),
        archive_after=None,
        purge_after=None,
        purged=ends,
    )


def _on(name: str, word: str) -> bool:
    if word not in {"on", "off"}:
        raise ValueError(f"{name} is {word!r}: it is 'on' or 'off'")
    return word == "on"
