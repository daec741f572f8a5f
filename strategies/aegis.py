"""AEGIS's layers of memory: what is at hand, what earlier talks came to, what was injected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

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
from memsim.memory.erasure import meant
from memsim.memory.repairing import repaired
from memsim.memory.state import reading
from memsim.memory.systems.aegis.opening import Kept, open_kept
from memsim.memory.systems.aegis.pipeline import Origin, Pipeline, Recalled, Rules
from memsim.memory.systems.aegis.showing import MemoryNode, decided, heard_by, kept_of
from memsim.memory.systems.aegis.talk import Talk
from memsim.memory.systems.aegis.working import AegisLedger, AegisWorking, TooLargeError

Switch = Literal["on", "off"]


class Aegis(Strategy):
    """Working memory, episodes and an injection ledger, as AEGIS documents them.

    The model reads the system prompt, one system message with what is at hand and what the nearest
    earlier conversations came to, then this conversation. A skill that the model asks for enters
    the conversation once. A conversation is over, and becomes an episode, when its user begins
    another, or nothing was said in it for as long as working memory lasts.

    Some of it is not to its users' good, and is the default all the same, being the design: other
    users' episodes are found unless `users` says otherwise, and the index, made on an empty table,
    sees a hundredth of it. AEGIS knows no budget: here older messages give way, and a skill that
    has left the context this way is not injected again.

    Args:
        agent: the agent's name, by which episodes are filtered.
        users: whether they are filtered by user as well.
        top: episodes that are shown.
        index: `ivfflat` for AEGIS's index, `exact` for none.
        lists: lists of the index.
        probes: lists that a search reads.
        ttl: seconds that working memory lasts unused.
        limit: bytes of a conversation's working memory, as Redis reports them.
        entities: entities that a conversation keeps, those mentioned last.
        notes: whether facts are extracted from every turn, and written to the scratchpad.
        summary: tokens that an episode's summary may have.
        every: user's messages after which an episode is stored though the conversation goes on;
            0 for never.
        working: where working memory and ledger are kept; `redis` needs a server, whose address is
            in MEMSIM_REDIS_URL.
        episodes: where episodes are kept; `postgres` needs a server with pgvector, whose address is
            in MEMSIM_POSTGRES_URL.
        fixed: repairs AEGIS's defects: filters by user and by a least similarity, searches every
            row, refuses what is too large before it is written, keeps types, claims a skill in one
            step, injects it again once it has left the context, and forgets on request.

    Raises:
        ValueError: a number is out of its range, or a word means nothing here.

    What of AEGIS's document is held by which test:

    * working memory is the hash working_memory:{conversation_id} -> test_keys
    * it lasts 24 hours, 86,400 seconds -> test_a_day_from_the_last_use
    * every read and every write make it last again -> test_a_day_from_the_last_use
    * 64 KB at most, 65,536 bytes -> test_the_limit_is_64_kb
    * the size is MEMORY USAGE, checked after every write -> test_the_limit_is_64_kb
    * what is too large is written all the same, and raises a ValueError
      -> test_the_write_succeeds_and_raises
    * complex values are JSON, texts stand as they are -> test_values
    * scratchpad, entities, well_api, entity_id and entity_type_key are its fields -> test_fields
    * get gives all fields -> test_fields
    * set merges, and does not replace -> test_set_merges
    * delete takes fields out, or everything -> test_delete
    * scratchpad and entities have calls of their own; None and [] where they are missing
      -> test_scratchpad_and_entities
    * ttl_seconds takes the place of the day, for the whole key -> test_ttl_seconds
    * the table episodic_memories has ten columns, as defined -> test_the_table
    * its index is IVFFlat, cosine, 100 lists -> test_the_table
    * vectors have 1,536 numbers -> test_the_table
    * the embedder is OpenAI's text-embedding-3-small, where it is named -> test_the_embedder
    * similarity is 1 minus the cosine distance -> test_similarity
    * episodes are filtered by agent -> test_filters
    * they are filtered by user where one is given -> test_filters
    * the best k come first, by similarity -> test_similarity
    * the search is approximate -> test_the_index_hides_rows
    * the query is the user's latest message -> test_the_query_is_the_latest_message
    * an episode has the decisions, the entities and the tools of its conversation
      -> test_an_episode_tells_what_was_decided
    * three episodes are shown -> test_three_are_shown
    * under the header, each as similarity with two digits and summary -> test_the_format
    * episodes persist across sessions -> test_episodes_persist
    * the ledger is the hash skill:ledger:{conversation_id} -> test_keys
    * it has no TTL -> test_the_ledger_lasts
    * items are called skill:{skill_id} -> test_a_skill_is_injected_once
    * the mark is `injected`; `1` where none is said -> test_marks
    * check, inject, mark -> test_check_inject_mark
    * a skill asked for again is not injected again -> test_a_skill_is_injected_once
    * a skill's content is system messages -> test_a_skill_is_injected_once
    * skills, entities and artifacts are tracked -> test_the_ledger_takes_any_item
    * evict lets it be injected again -> test_evict
    * get_all gives the whole ledger -> test_marks
    * RedisManager has get, set with `ex`, and delete -> test_the_manager_has_texts
    * RedisManager has ledger_has, ledger_mark, ledger_get_all and the ledger's key
      -> test_the_manager_has_the_ledger
    * the memory node reads working memory, then searches episodes -> test_the_order_of_nodes
    * the ledger is used later, by the skill node -> test_the_order_of_nodes
    * its message stands after the system prompt and before the first user's message
      -> test_the_position
    * GET, PUT and DELETE of /working-memory/{conversation_id} -> test_the_service_working_memory
    * status 413 over the size limit -> test_the_service_says_413
    * POST /episodic/store and /episodic/search, GET /episodic/{conversation_id}
      -> test_the_service_episodes
    * GET /ledger/{conversation_id}, POST check, mark and evict -> test_the_service_ledger
    * the service listens on port 8002 -> test_the_service_listens
    * Redis holds working memory and ledger -> test_a_real_redis
    * PostgreSQL with pgvector holds the episodes -> test_a_real_postgres

    * defect, repaired by `fixed`: a conversation of which no summary came is in no episode
      -> test_a_conversation_whose_summary_fails_is_lost

    What `memsim check` finds against the design, with the conversation that shows it:

    * breaks I1 pair_closure, repaired by `fixed`: a late result stands in the conversation in
      which it comes (the call `m2` in one, its result `m3` in the next)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I6 authority_non_elevation, repaired by `fixed`: what it remembers is a system
      message, as documented (`memory:2`, made of what a user said)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I9 provider_validity, repaired by `fixed`: a late result comes first in its
      conversation (`m3`, once its call's id is used again there)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I15 within_budget, repaired by `fixed`: it knows no budget, and system messages stand
      in every prompt (44 tokens of them at a budget of 40)
      -> test_what_it_breaks_holds_once_it_is_repaired
    """

    departs: ClassVar[Mapping[str, str]] = {
        "pair_closure": "a late result stands in the conversation in which it comes",
        "authority_non_elevation": "what it remembers is a system message, as documented",
        "provider_validity": "a late result may come first in its conversation",
        "within_budget": "it knows no budget, and system messages stand in every prompt",
    }

    def __init__(
        self,
        env: Environment,
        *,
        agent: str = "agent",
        users: Switch = "off",
        top: int = 3,
        index: Literal["ivfflat", "exact"] = "ivfflat",
        lists: int = 100,
        probes: int = 1,
        ttl: int = 86_400,
        limit: int = 65_536,
        entities: int = 20,
        notes: Switch = "off",
        summary: int = 200,
        every: int = 0,
        working: Literal["embedded", "redis"] = "embedded",
        episodes: Literal["embedded", "postgres"] = "embedded",
        fixed: bool = False,
    ) -> None:
        super().__init__(env)
        _at_least(1, lists=lists, probes=probes, ttl=ttl, limit=limit, summary=summary)
        _at_least(0, top=top, entities=entities, every=every)
        if not agent or len(agent) > 100:
            raise ValueError("agent is empty or longer than 100 characters")
        rules = Rules(
            agent=agent,
            users=users == "on" or fixed,
            top=top,
            least=LEAST if fixed else None,
            entities=entities,
            notes=notes == "on",
            summary=summary,
            fixed=fixed,
        )
        self._ttl, self._every = timedelta(seconds=ttl), every
        self._kept: Kept = open_kept(
            working,
            episodes,
            services=env.services,
            folder=env.folder,
            now=env.clock.now,
            embed=env.embed,
            lists=None if fixed or index == "exact" else lists,
            probes=probes,
            seed=env.random.getrandbits(32),
        )
        self._pipeline = Pipeline(
            AegisWorking(self._kept.hashes, ttl=ttl, limit=limit, fixed=fixed),
            AegisLedger(self._kept.hashes),
            self._kept.episodes,
            rules=rules,
            model=env.model,
            counter=env.counter,
            embed=env.embed,
            now=env.clock.now,
            tell=self._told,
        )
        self._talks: dict[str, Talk] = {}
        self._latest: dict[str, datetime] = {}
        self._turn: list[Message] = []
        self._session = ""
        self._visible: frozenset[str] = frozenset()
        self._users_said: dict[str, int] = {}
        self._said: dict[str, str] = {}

    def observe(self, message: Message) -> None:
        talk = self._talks.get(message.session)
        if talk is None:
            talk = Talk(
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
        return repaired(build, context, query.budget) if fixed else context

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
        gone = set(meant(request.text, request.sources, own))
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
                    yield Surface(tier="store", sources=origin.decided, text=decided(episode))
        for talk in self._talks.values():
            if viewer is None or viewer in heard_by(talk):
                for tier, sources, text in kept_of(talk, self._pipeline.working):
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
                session: Talk.loaded(talk, self.env.counter, self.env.budget)
                for session, talk in saved["talks"].items()
            }
            latest = {s: datetime.fromisoformat(t) for s, t in saved["latest"].items()}
            origins = {
                i: Origin(
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

    def _admits(self, talk: Talk, skill: str) -> bool:
        return self._pipeline.admits(talk, skill, self._visible)

    def _begun(self, message: Message) -> None:
        self._pipeline.conclude_all(
            talk
            for session, talk in self._talks.items()
            if session != message.session and talk.principal == message.principal
        )

    def _recalled(self, query: Query) -> Recalled:
        return self._pipeline.recall(self._talk(query), query.text, query.principal)

    def _talk(self, query: Query) -> Talk | None:
        talk = self._talks.get(query.session)
        closed = self._pipeline.rules.fixed and talk and query.principal not in talk.speakers
        return None if closed else talk

    def _told(self, kind: str, sources: Sequence[str], detail: str) -> None:
        self.env.log(Event(kind=kind, sources=tuple(sources), detail=detail))


LEAST = 0.1
"""Similarity below which the repaired AEGIS shows no episode."""


def _at_least(least: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if number < least:
            raise ValueError(f"{name} is {number}: at least {least}")
