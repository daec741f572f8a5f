"""AEGIS as a strategy: what its pipeline reads and writes in each turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from memsim.context import Context
from memsim.context_checks import repair_context
from memsim.memory.codec import reading
from memsim.memory.forget_request import requested_message
from memsim.message import Message, TokenCounter, composed
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Location,
    Query,
    State,
    Strategy,
    Surface,
)
from memsim.systems.aegis.conversation import AegisConversation
from memsim.systems.aegis.episodes import AegisEpisode
from memsim.systems.aegis.pipeline import EpisodeOrigin, MemoryNodeInput, Pipeline, PipelineRules
from memsim.systems.aegis.storage import open_storage
from memsim.systems.aegis.working_memory import AegisLedger, AegisWorkingMemory, TooLargeError


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNode:
    """Writes the memory node's message."""

    counter: TokenCounter
    origins: Mapping[str, EpisodeOrigin]
    turn: int
    time: datetime

    def message(
        self, recalled: MemoryNodeInput, talk: AegisConversation | None, budget: int
    ) -> Message | None:
        """Write as much of what was recalled as fits: episodes are left out first, then notes."""
        count = len(recalled.found)
        tries = [(n, notes) for notes in (True, False) for n in range(count, -1, -1)]
        for episodes, notes in tries:
            text = recalled.text(episodes=episodes, scratchpad=notes)
            if not text:
                continue
            message = self._told(text, recalled, episodes, talk)
            if self.counter.message(message) <= budget:
                return message
        return None

    def _told(
        self, text: str, recalled: MemoryNodeInput, episodes: int, talk: AegisConversation | None
    ) -> Message:
        found = recalled.found[:episodes]
        made = [i for f in found for i in self.origins[f.episode.id].sources]
        made += [source for source, _ in talk.entities.values()] if talk else []
        return composed(
            "system",
            text,
            id=f"memory:{self.turn}",
            derived_from=tuple(dict.fromkeys(made)),
            time=self.time,
        )


def surfaces_of(
    talk: AegisConversation, working: AegisWorkingMemory
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Where a conversation stands: a tier, ids of the messages, and a text, one after another."""
    shown = (*talk.systems, *talk.window)
    for message in shown:
        yield "window", message.verbatim, message.text
    in_window = {i for m in shown for i in m.verbatim}
    for message in talk.pending:
        if message.id not in in_window:
            yield "history", (message.id,), message.text
    if text := MemoryNodeInput(fields=working.peek(talk.id)).text():
        sources = tuple(dict.fromkeys(source for source, _ in talk.entities.values()))
        yield "working", sources, text


def decisions_text(episode: AegisEpisode) -> str:
    """The decisions of an episode, which no prompt shows."""
    found = episode.key_decisions
    return "\n".join(map(str, found)) if isinstance(found, list) else ""


def speakers_of(talk: AegisConversation) -> set[str]:
    """Everybody who takes part in a conversation."""
    return {talk.principal, *(m.principal for m in (*talk.systems, *talk.window, *talk.pending))}


LEAST = 0.1
"""Similarity below which the repaired AEGIS shows no episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AegisOptions:
    """Options of AEGIS; `strategies/aegis.py` says what each parameter means.

    Raises:
        ValueError: a number is out of its range.
    """

    agent: str
    users: bool
    top: int
    index: Literal["ivfflat", "exact"]
    lists: int
    probes: int
    ttl: int
    limit: int
    entities: int
    notes: bool
    summary: int
    every: int
    working: Literal["embedded", "redis"]
    episodes: Literal["embedded", "postgres"]
    fixed: bool

    def __post_init__(self) -> None:
        least = dict.fromkeys(("lists", "probes", "ttl", "limit", "summary"), 1)
        for name, least_of in (least | dict.fromkeys(("top", "entities", "every"), 0)).items():
            if getattr(self, name) < least_of:
                raise ValueError(f"{name} is {getattr(self, name)}: at least {least_of}")
        if not self.agent or len(self.agent) > 100:
            raise ValueError("agent is empty or longer than 100 characters")


class AegisSystem(Strategy):
    """AEGIS's memory as a strategy."""

    departs: ClassVar[Mapping[str, str]] = {
        "pair_closure": "a late result stands in the conversation in which it comes",
        "authority_non_elevation": "what it remembers is a system message, as documented",
        "provider_validity": "a late result may come first in its conversation",
        "within_budget": "it knows no budget, and system messages stand in every prompt",
    }

    def __init__(self, env: Environment, options: AegisOptions) -> None:
        super().__init__(env)
        fixed = options.fixed
        rules = PipelineRules(
            agent=options.agent,
            users=options.users or fixed,
            top=options.top,
            least=LEAST if fixed else None,
            entities=options.entities,
            notes=options.notes,
            summary=options.summary,
            fixed=fixed,
        )
        self._ttl, self._every = timedelta(seconds=options.ttl), options.every
        self._kept = open_storage(
            options.working,
            options.episodes,
            services=env.services,
            folder=env.folder,
            now=env.clock.now,
            embed=env.embed,
            lists=None if fixed or options.index == "exact" else options.lists,
            probes=options.probes,
            seed=env.random.getrandbits(32),
        )
        self._pipeline = Pipeline(
            AegisWorkingMemory(
                self._kept.hashes, ttl=options.ttl, limit=options.limit, fixed=fixed
            ),
            AegisLedger(self._kept.hashes),
            self._kept.episodes,
            rules=rules,
            model=env.model,
            counter=env.counter,
            embed=env.embed,
            now=env.clock.now,
            tell=self._told,
        )
        self._talks: dict[str, AegisConversation] = {}
        self._latest: dict[str, datetime] = {}
        self._turn: list[Message] = []
        self._session = ""
        self._visible: frozenset[str] = frozenset()
        self._users_said: dict[str, int] = {}
        self._said: dict[str, str] = {}

    def observe(self, message: Message) -> None:
        talk = self._talks.get(message.session)
        if talk is None:
            talk = AegisConversation(
                self._kept.prefix + message.session,
                message.principal,
                self.env.counter,
                self.env.budget,
            )
            self._talks[message.session] = talk
        if message.role == "user" and message.session != self._session:
            self._begun(message)
        self._session = message.session
        self._latest[message.session] = message.time
        shown = {i: None for m in talk.window for i in m.verbatim}
        added = talk.add(message, lambda skill, _: self._admits(talk, skill))
        for kept in talk.window:
            for source in kept.verbatim:
                shown.pop(source, None)
        if shown:
            self._told("dropped", tuple(shown), "window full")
        for skill in added:
            self._pipeline.injected(talk, skill, message)
            self._visible |= {f"skill:{message.id}"}
        self._turn.append(message)
        self._said[message.id] = message.principal

    def context(self, query: Query) -> Context:
        talk = self._talk(query)
        recalled = self._pipeline.recall(talk, query.text, query.principal)
        build = self.env.build
        system = build.section("system", talk.systems if talk else ())
        node = MemoryNode(
            counter=self.env.counter,
            origins=self._pipeline.origins,
            turn=query.turn,
            time=query.time,
        )
        memory = node.message(recalled, talk, query.budget - system.tokens)
        section = build.section("recalled", (memory,) if memory else ())
        left = max(0, query.budget - system.tokens - section.tokens)
        window = talk.window.section(left) if talk else build.section("window", ())
        context = build.context(system, section, window)
        fixed = self._pipeline.rules.fixed
        return repair_context(build, context, query.budget) if fixed else context

    def delivered(self, context: Context) -> None:
        talk = self._talks.get(self._session)
        if talk is not None:
            self._pipeline.delivered(talk)
            self._visible = frozenset(m.id for s in context.sections for m in s.messages)

    def end_turn(self) -> None:
        talk = self._talks.get(self._session)
        said, self._turn = self._turn, []
        if talk is None:
            return
        self._pipeline.note(talk, said)
        users = self._users_said.get(self._session, 0) + sum(m.role == "user" for m in said)
        if self._every and users >= self._every:
            self._pipeline.conclude_all((talk,), over=False)
            users = 0
        self._users_said[self._session] = users

    def elapse(self, now: datetime) -> None:
        self._pipeline.conclude_all(
            talk
            for session, talk in self._talks.items()
            if now - self._latest[session] >= self._ttl
        )

    def forget(self, request: Forget) -> ForgetOutcome:
        if not self._pipeline.rules.fixed:
            return ForgetOutcome()
        own = {
            m.id: m.text
            for talk in self._talks.values()
            for m in (*talk.pending, *talk.window)
            if m.principal == request.principal and not m.composed
        }
        mine = (i for i, who in self._said.items() if who == request.principal)
        own |= {i: "" for i in mine if i not in own}
        gone = set(requested_message(request.text, request.sources, own))
        for talk in self._talks.values():
            if talk.remove(gone):
                entities = [dict(entity) for _, entity in talk.entities.values()]
                self._pipeline.working.delete(talk.id)
                if entities:
                    with suppress(TooLargeError):
                        self._pipeline.working.set(talk.id, {"entities": entities})
        origins = self._pipeline.origins
        ids = [i for i, origin in origins.items() if gone.intersection(origin.all)]
        told = dict.fromkeys(s for i in ids for s in (*origins[i].sources, *origins[i].decided))
        self._pipeline.episodes.remove(ids)
        for i in ids:
            del origins[i]
        left = gone.union(*(s.sources for s in self.surfaces()))
        if lost := [source for source in told if source not in left]:
            self._told("purged", lost, "an episode told of them and of what was erased")
        return ForgetOutcome(supported=True, removed=tuple(i for i in own if i in gone))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        users = self._pipeline.rules.users
        for episode, _ in self._pipeline.episodes.rows():
            origin = self._pipeline.origins[episode.id]
            if viewer is None or not users or viewer == origin.user:
                yield Surface(tier="store", sources=origin.sources, text=episode.summary)
                if origin.decided:
                    yield Surface(
                        tier="store", sources=origin.decided, text=decisions_text(episode)
                    )
        for talk in self._talks.values():
            if viewer is None or viewer in speakers_of(talk):
                for tier, sources, text in surfaces_of(talk, self._pipeline.working):
                    yield Surface(tier=tier, sources=sources, text=text)

    def locate(self, source: str, query: Query) -> Location | None:
        found = super().locate(source, query)
        if found is None or found.tier not in {"store", "history"}:
            return found
        ranks = {
            i: rank
            for rank, f in enumerate(self._recalled(query).found, 1)
            for i in self._pipeline.origins[f.episode.id].sources
        }
        detail = "" if source in ranks or found.tier != "store" else "not found by the index"
        return Location(tier=found.tier, rank=ranks.get(source), detail=detail)

    def save(self) -> State:
        return {
            "kept": self._kept.save(),
            "talks": {session: talk.save() for session, talk in self._talks.items()},
            "latest": {session: moment.isoformat() for session, moment in self._latest.items()},
            "origins": [
                [i, list(o.sources), list(o.all), o.user, list(o.decided)]
                for i, o in self._pipeline.origins.items()
            ],
            "session": self._session,
            "visible": [*sorted(self._visible)],
            "users": dict(self._users_said),
            "said": [[i, who] for i, who in self._said.items()],
        }

    def load(self, state: State) -> None:
        with reading("it is not AEGIS's memory"):
            saved: dict[str, Any] = dict(state)
        with reading("it is not AEGIS's memory"):
            talks = {
                session: AegisConversation.loaded(talk, self.env.counter, self.env.budget)
                for session, talk in saved["talks"].items()
            }
            latest = {s: datetime.fromisoformat(t) for s, t in saved["latest"].items()}
            origins = {
                i: EpisodeOrigin(
                    sources=tuple(sources), all=tuple(every), user=user, decided=tuple(settled)
                )
                for i, sources, every, user, settled in saved["origins"]
            }
            visible = frozenset(saved["visible"])
            users = {s: 0 + count for s, count in saved["users"].items()}
            session = "" + saved["session"]
            said = {"" + i: "" + who for i, who in saved["said"]}
            self._kept.load(saved["kept"])
        self._visible, self._users_said, self._session = visible, users, session
        self._said = said
        self._talks, self._latest, self._pipeline.origins = talks, latest, origins
        self._turn = []

    def close(self) -> None:
        self._kept.close()

    def _admits(self, talk: AegisConversation, skill: str) -> bool:
        return self._pipeline.admits(talk, skill, self._visible)

    def _begun(self, message: Message) -> None:
        self._pipeline.conclude_all(
            talk
            for session, talk in self._talks.items()
            if session != message.session and talk.principal == message.principal
        )

    def _recalled(self, query: Query) -> MemoryNodeInput:
        return self._pipeline.recall(self._talk(query), query.text, query.principal)

    def _talk(self, query: Query) -> AegisConversation | None:
        talk = self._talks.get(query.session)
        closed = self._pipeline.rules.fixed and talk and query.principal not in talk.speakers
        return None if closed else talk

    def _told(self, kind: str, sources: Sequence[str], detail: str) -> None:
        self.env.log(Event(kind=kind, sources=tuple(sources), detail=detail))
