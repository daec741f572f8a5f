"""AEGIS's layers of memory: what is at hand, what earlier talks came to, what was injected."""

from __future__ import annotations

from typing import ClassVar, Literal

from memsim import Environment, Strategy
from memsim.systems.aegis.pipeline import AegisOptions
from memsim.systems.aegis.system import AegisSystem

Switch = Literal["on", "off"]


class Aegis(AegisSystem, Strategy):
    """Working memory, episodes and an injection ledger, as AEGIS documents them.

    The model reads the system prompt, one system message with what is at hand and what the nearest
    earlier conversations came to, then this conversation. A skill that the model asks for enters
    the conversation once. A conversation is over, and becomes an episode, when its user begins
    another, or nothing was said in it for as long as working memory lasts.

    Some defaults follow the design against its users: episodes of other users are found unless
    `users` is on, and the index, made on an empty table, sees a hundredth of them. AEGIS knows no
    budget: here older messages give way, and a skill that has left the context is not injected
    again.

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
    """

    reproduces: ClassVar[str] = "aegis"

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
        options = AegisOptions(
            agent=agent,
            users=users == "on",
            top=top,
            index=index,
            lists=lists,
            probes=probes,
            ttl=ttl,
            limit=limit,
            entities=entities,
            notes=notes == "on",
            summary=summary,
            every=every,
            working=working,
            episodes=episodes,
            fixed=fixed,
        )
        super().__init__(env, options)
