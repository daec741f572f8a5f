"""AEGIS as a strategy: what its pipeline reads and writes in each turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, ClassVar

from memsim.context import Context
from memsim.context_checks import repair_context
from memsim.memory.codec import load_whole, reading
from memsim.memory.forget_request import requested_message
from memsim.message import Message, composed
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
from memsim.systems.aegis.pipeline import AegisOptions, EpisodeOrigin, MemoryNodeInput, Pipeline
from memsim.systems.aegis.storage import open_storage
from memsim.systems.aegis.working_memory import AegisLedger, AegisWorkingMemory, TooLargeError


def memory_message(
    recalled: MemoryNodeInput,
    talk: AegisConversation | None,
    origins: Mapping[str, EpisodeOrigin],
    fits: Callable[[Message], bool],
    query: Query,
) -> Message | None:
    """Write as much of what was recalled as fits: episodes are left out first, then notes."""
    mentioned = [source for source, _ in talk.entities.values()] if talk else []
    tries = [(n, notes) for notes in (True, False) for n in range(len(recalled.found), -1, -1)]
    for episodes, notes in tries:
        text = recalled.text(episodes=episodes, scratchpad=notes)
        if not text:
            continue
        made = [i for f in recalled.found[:episodes] for i in origins[f.episode.id].sources]
        message = composed(
            "system",
            text,
            id=f"memory:{query.turn}",
            derived_from=tuple(dict.fromkeys((*made, *mentioned))),
            time=query.time,
        )
        if fits(message):
            return message
    return None


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


def speakers_of(talk: AegisConversation) -> set[str]:
    """Everybody who takes part in a conversation."""
    return {talk.principal, *(m.principal for m in (*talk.systems, *talk.window, *talk.pending))}


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
        hashes = self._kept.hashes
        self._pipeline = Pipeline(
            working=AegisWorkingMemory(
                hashes, ttl=options.ttl, limit=options.limit, fixed=options.fixed
            ),
            ledger=AegisLedger(hashes),
            episodes=self._kept.episodes,
            rules=options,
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
        if message.id in self._said:
            return
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
            self._pipeline.conclude_all(
                other
                for session, other in self._talks.items()
                if session != message.session and other.principal == message.principal
            )
        self._session = message.session
        self._latest[message.session] = message.time
        shown = {i: None for m in talk.window for i in m.verbatim}
        added = talk.add(message, lambda skill: self._pipeline.admits(talk, skill, self._visible))
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
        build = self.env.build
        system = build.section("system", talk.systems if talk else ())
        room = query.budget - system.tokens
        memory = memory_message(
            self._recalled(query),
            talk,
            self._pipeline.origins,
            lambda message: self.env.counter.message(message) <= room,
            query,
        )
        section = build.section("recalled", (memory,) if memory else ())
        window = (
            talk.window.section(max(0, room - section.tokens))
            if talk
            else build.section("window", ())
        )
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
        for source in gone:
            self._said.pop(source, None)
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
        users = self._pipeline.rules.by_user
        for episode, _ in self._pipeline.episodes.rows():
            origin = self._pipeline.origins[episode.id]
            if viewer is None or not users or viewer == origin.user:
                yield Surface(tier="store", sources=origin.sources, text=episode.summary)
                if origin.decided:
                    decisions = episode.key_decisions
                    text = "\n".join(map(str, decisions)) if isinstance(decisions, list) else ""
                    yield Surface(tier="store", sources=origin.decided, text=text)
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
        load_whole(state, load=self._load, save=self.save, otherwise="it is not AEGIS's memory")

    def _load(self, state: State) -> None:
        with reading("it is not AEGIS's memory"):
            saved: dict[str, Any] = dict(state)
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

    def _recalled(self, query: Query) -> MemoryNodeInput:
        return self._pipeline.recall(self._talk(query), query.text, query.principal)

    def _talk(self, query: Query) -> AegisConversation | None:
        talk = self._talks.get(query.session)
        closed = self._pipeline.rules.fixed and talk and query.principal not in talk.speakers
        return None if closed else talk

    def _told(self, kind: str, sources: Sequence[str], detail: str) -> None:
        self.env.log(Event(kind=kind, sources=tuple(sources), detail=detail))
