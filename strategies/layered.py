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
from memsim.memory.audit import AuditTrail
from memsim.memory.deletion import original_of
from memsim.memory.events import MemoryEvent
from memsim.memory.history.working import WorkingMemory
from memsim.memory.layers.episodic import all_words
from memsim.memory.ledger import InjectionLedger
from memsim.memory.memory import Memory
from memsim.memory.options import MemoryOptions, RecallPolicy, RetentionPolicy
from memsim.memory.permissions import ReadGrant as Permit
from memsim.memory.places import StoreKind, open_places

Switch = Literal["on", "off"]
Terms = Mapping[str, tuple[timedelta, timedelta | None]]


class Layered(Strategy):
    """Core, working, episodic, semantic, long-term and workspace memory over one store.

    The latest messages of the conversation, a summary of what was before them, and whatever else
    speaks to the question, found by words and by meaning among what the asker may see.

    Args:
        window: latest messages of the conversation that are shown, as far as they fit; the very
            last always, by its beginning and end where it is very long.
        k: earlier messages that are recalled at most, as far as they fit.
        floor: share of the best message's relevance below which none is quoted.
        fusion: how the ranking by words and the one by meaning become one.
        vector: what the meaning counts, 0 to 1; the words count the rest.
        depth: best of each ranking that are looked at.
        least: relevance, as `fusion` gives it, below which nothing is taken; none for no bound.
        least_cosine: cosine below which the meaning has no say for a message.
        least_bm25: score below which its words have none.
        neighbours: share of its relevance that a message lends to those around it, 0 to 1.
        lenders: most relevant messages that lend at all.
        halving: tokens at which a message has to be twice as relevant as a short one; 0 for none.
        named: what relevance is multiplied with where the question names who said it.
        dated: what it is multiplied with where the question names the day.
        half_life: days after which relevance is halved; none when age does not matter.
        superseded: whether what was superseded is dropped, ranks below its successor, or is kept.
        share: share of the room for what is recalled that is used at most.
        summary: whether what leaves the window is summarised.
        offload: whether large content of the latest messages goes elsewhere once it was answered,
            and a reference with its beginning stands in its place.
        shorten: whether the results of tools are shown by beginning and end then.
        deduplicate: whether of what one speaker says twice on a day, word for word, the latest
            messages show the first alone.
        facts: whether facts are extracted, and later ones supersede earlier ones.
        episodes: whether each conversation that is over is concluded in a summary of its own.
        episode_tokens: tokens that such a summary may have.
        recall: whether earlier messages are found for each question.
        once: whether each is brought up once in a conversation, as for a host that leaves what was
            recalled in its history.
        entities: whether what a conversation is about is noted in working memory, and named in its
            contexts.
        vectors: whether they are found by meaning as well.
        acl: whether everybody sees only what is theirs, shared with them, or said in their
            conversations.
        mode: who stores and recalls: the framework, the agent by its tools, or both. By the agent
            alone, no fact is extracted, no conversation concluded and nothing recalled unasked.
        workspace: whether there are pages, which are files: for agents that have tools, or in any
            case, or never. Without, what an agent notes is kept under keys.
        hygiene: whether old entries are archived and erased by category, as `RetentionPolicy` says.
        window_share: share of the budget that the latest messages may take.
        summary_share: share of it that the summary may take.
        recall_share: share of it that what is recalled may take.
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
        fusion: Literal["soft", "zscore", "weights", "rrf"] = "soft",
        vector: float = 0.3,
        depth: int = 64,
        least: float | None = None,
        least_cosine: float | None = None,
        least_bm25: float | None = None,
        neighbours: float = 0.5,
        lenders: int = 24,
        halving: int = 150,
        named: float = 1.3,
        dated: float = 2.0,
        half_life: float | None = None,
        superseded: Literal["drop", "below", "keep"] = "drop",
        share: float = 1.0,
        summary: Switch = "off",
        offload: Switch = "on",
        shorten: Switch = "on",
        deduplicate: Switch = "off",
        facts: Switch = "on",
        episodes: Switch = "on",
        episode_tokens: int = 160,
        recall: Switch = "on",
        once: Switch = "off",
        entities: Switch = "off",
        vectors: Switch = "on",
        acl: Switch = "on",
        mode: Literal["framework", "agent", "both"] = "framework",
        workspace: Literal["agents", "on", "off"] = "agents",
        hygiene: Switch = "off",
        window_share: float = 0.15,
        summary_share: float = 0.1,
        recall_share: float = 0.5,
        store: StoreKind = "memory",
    ) -> None:
        super().__init__(env)
        if k is not None and k < 1:
            raise ValueError(f"k is {k}: at least 1, or none for as many as fit")
        policy = RecallPolicy(
            fusion=fusion,
            vector=vector,
            depth=depth,
            least=least,
            least_cosine=least_cosine,
            least_bm25=least_bm25,
            neighbours=neighbours,
            lenders=lenders,
            halving=halving,
            named=named,
            dated=dated,
            half_life=None if half_life is None else _days("half_life", half_life),
            superseded=superseded,
            floor=floor,
            share=share,
            limit=k,
        )
        options = MemoryOptions(
            window=window,
            policy=policy,
            summary=_on("summary", summary),
            offload=_on("offload", offload),
            shorten=_on("shorten", shorten),
            deduplicate=_on("deduplicate", deduplicate),
            facts=_on("facts", facts),
            episodes=_on("episodes", episodes),
            episode_tokens=episode_tokens,
            recall=_on("recall", recall),
            once=_on("once", once),
            entities=_on("entities", entities),
            vectors=_on("vectors", vectors),
            acl=_on("acl", acl),
            mode=mode,
            hygiene=RetentionPolicy() if _on("hygiene", hygiene) else None,
            window_share=window_share,
            summary_share=summary_share,
            recall_share=recall_share,
        )
        pages = workspace == "on" or (workspace == "agents" and mode != "framework")
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
            workspace=env.folder() / "workspace" if pages else None,
            tell=self._told,
        )
        self._asked: Query | None = None
        self._terms: Terms = {}

    def observe(self, message: Message) -> None:
        if message.role == "system" and message.text.strip():
            self._pin(message)
        else:
            self._memory.observe(message)

    def context(self, query: Query) -> Context:
        self._asked = query  # whose it is, should it be delivered
        return self._memory.context(
            query.text,
            principal=query.principal,
            session=query.session,
            budget=query.budget,
            turn=query.turn,
        )

    def delivered(self, context: Context) -> None:
        if self._asked is not None:
            whose, where = self._asked.principal, self._asked.session
            self._memory.delivered(context, principal=whose, session=where)

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
        meant = request.sources or self._memory.closest_message(request.principal, request.text)
        asking = self._memory.requests(request.principal, meant)
        erased = self._memory.forget(request.principal, (*meant, *asking))
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
                for message in session.offloaded():
                    yield Surface(tier="offloaded", sources=(message.id,), text=message.text)

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
        # What whoever runs the agent says always holds, whatever is compacted around it: for the
        # principal on whose behalf it is said, since nobody's rules are to bind somebody else.
        self._memory.core.pin(
            message.principal,
            message.id,
            message.text,
            now=message.time,
            kind="rule",
            role="system",
            sources=(message.id,),
        )

    def _told(self, happening: MemoryEvent) -> None:
        self.env.log(
            Event(
                kind=happening.kind,
                sources=happening.sources,
                before=happening.before,
                after=happening.after,
                detail=happening.detail,
            )
        )


def _policy(terms: Terms) -> RetentionPolicy:
    """What is to be kept no longer than it is served is erased, the rest put away until then."""
    ends = {name: until for name, (_, until) in terms.items()}
    served = {name: min(term, ends[name] or term) for name, (term, _) in terms.items()}
    return RetentionPolicy(
        retention=served,
        erased=frozenset(name for name in terms if ends[name] == served[name]),
        archive_after=None,
        purge_after=None,
        purged=ends,
    )


def _days(name: str, days: float) -> timedelta:
    try:
        return timedelta(days=days)
    except OverflowError:
        raise ValueError(f"{name} is {days}: fewer days") from None


def _on(name: str, word: str) -> bool:
    if word not in {"on", "off"}:
        raise ValueError(f"{name} is {word!r}: it is 'on' or 'off'")
    return word == "on"
