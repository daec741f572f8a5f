"""AEGIS's pipeline as far as its memory goes: what each node reads, writes and puts in the prompt.

The memory node reads working memory and searches the episodes; the skill nodes put a skill's
content into the conversation unless the ledger says that it is there; what a conversation came to
is stored when it is over.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memsim.errors import ModelError
from memsim.memory.codec import JSON
from memsim.memory.compaction.summary import Summary, merge
from memsim.memory.history.working_memory import ENTITIES, SCRATCHPAD
from memsim.memory.layers.entities import decisions_in, entities_in
from memsim.memory.layers.episodic import tools_called
from memsim.message import Message, TokenCounter
from memsim.models import Embedder, Model, Request
from memsim.systems.aegis.conversation import AegisConversation
from memsim.systems.aegis.episodes import TOP, AegisEpisode, EpisodeHit, Episodes, episodes_text
from memsim.systems.aegis.prompts import EPISODE, NOTES
from memsim.systems.aegis.working_memory import (
    INJECTED,
    AegisLedger,
    AegisWorkingMemory,
    TooLargeError,
    skill_item,
)

WORKING_HEADER = "[Working Memory]"
"""What opens the working memory in the prompt; AEGIS's document does not say how it reads."""

LEAST = 0.1
"""Similarity below which the repaired AEGIS shows no episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AegisOptions:
    """Options of AEGIS; `strategies/aegis.py` says what each parameter means.

    Raises:
        ValueError: a number is out of its range.
    """

    agent: str = "agent"
    users: bool = False
    top: int = TOP
    index: Literal["ivfflat", "exact"] = "ivfflat"
    lists: int = 100
    probes: int = 1
    ttl: int = 86_400
    limit: int = 65_536
    entities: int = 20
    notes: bool = False
    summary: int = 200
    every: int = 0
    working: Literal["embedded", "redis"] = "embedded"
    episodes: Literal["embedded", "postgres"] = "embedded"
    fixed: bool = False

    def __post_init__(self) -> None:
        least = dict.fromkeys(("lists", "probes", "ttl", "limit", "summary"), 1)
        for name, least_of in (least | dict.fromkeys(("top", "entities", "every"), 0)).items():
            if getattr(self, name) < least_of:
                raise ValueError(f"{name} is {getattr(self, name)}: at least {least_of}")
        if not self.agent or len(self.agent) > 100:
            raise ValueError("agent is empty or longer than 100 characters")

    @property
    def least(self) -> float | None:
        """Similarity below which no episode is shown; None shows whatever is nearest."""
        return LEAST if self.fixed else None

    @property
    def by_user(self) -> bool:
        """Whether episodes are filtered by user as well as by agent."""
        return self.users or self.fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeOrigin:
    """Messages from which an episode was made.

    Attributes:
        sources: ids of the messages that something in its summary was taken from.
        all: ids of all messages that the model read for it.
        decided: ids of the messages in which its decisions stand.
    """

    sources: tuple[str, ...]
    all: tuple[str, ...]
    user: str
    decided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNodeInput:
    """Working memory of a conversation, and the episodes found for it, best first."""

    fields: dict[str, JSON] = field(default_factory=dict)
    found: tuple[EpisodeHit, ...] = ()

    def text(self, *, episodes: int | None = None, scratchpad: bool = True) -> str:
        """Write the system message with at most so many episodes; empty if it says nothing."""
        lines = list(self._working(scratchpad=scratchpad))
        parts = ["\n".join((WORKING_HEADER, *lines))] if lines else []
        parts += [told] if (told := episodes_text(self.found[:episodes])) else []
        return "\n\n".join(parts)

    def _working(self, *, scratchpad: bool) -> Iterable[str]:
        notes = self.fields.get(SCRATCHPAD)
        if scratchpad and notes:
            yield f"{SCRATCHPAD}: {notes if isinstance(notes, str) else json.dumps(notes)}"
        named = self.fields.get(ENTITIES)
        if isinstance(named, list) and named:
            yield f"{ENTITIES}: {'; '.join(map(_entity, named))}"


@dataclass(slots=True, kw_only=True)
class Pipeline:
    """The nodes of AEGIS's pipeline that touch its memory.

    `tell` is called with an event's kind, the ids of its messages and a detail.
    """

    working: AegisWorkingMemory
    ledger: AegisLedger
    episodes: Episodes
    rules: AegisOptions
    model: Model
    counter: TokenCounter
    embed: Callable[[], Embedder]
    now: Callable[[], datetime]
    tell: Callable[[str, Sequence[str], str], None]
    origins: dict[str, EpisodeOrigin] = field(default_factory=dict)
    """By episode, what it was made from; AEGIS's table has no such column."""

    def recall(self, talk: AegisConversation | None, text: str, user: str) -> MemoryNodeInput:
        """Run the memory node: working memory, and episodes for the user's latest message.

        It leaves no trace; `delivered` is what makes working memory last.
        """
        fields = {} if talk is None else self.working.peek(talk.id)
        return MemoryNodeInput(fields=fields, found=tuple(self._found(text, user)))

    def delivered(self, talk: AegisConversation) -> None:
        """Make working memory last, because the memory node has read it."""
        self.working.get(talk.id)

    def admits(self, talk: AegisConversation, skill: str, visible: Iterable[str]) -> bool:
        """Check before an injection that a skill is not in the ledger.

        AEGIS does not look at the messages that the model still sees (`visible`). A skill that has
        left the context stays out of it, unless this is repaired.
        """
        item, place = skill_item(skill), talk.places.get(skill)
        there = self.rules.fixed and place in set(visible)
        if self.rules.fixed and not there:
            self.ledger.evict(talk.id, item)
            # A shorter question would show the old copy again, beside the new one.
            talk.window.remove([place] if place else [])
        if there or self.ledger.has(talk.id, item):
            self.tell("skipped", (), f"{skill} has been injected before")
            return False
        return True

    def injected(self, talk: AegisConversation, skill: str, message: Message) -> None:
        """Mark a skill after its injection."""
        mark = self.ledger.claim if self.rules.fixed else self.ledger.mark
        if mark(talk.id, skill_item(skill), INJECTED):
            self.tell("injected", (message.id,), skill)

    def note(self, talk: AegisConversation, said: Sequence[Message]) -> None:
        """Write what a turn mentioned to working memory."""
        data: dict[str, JSON] = {}
        if self._mentioned(talk, said):
            data[ENTITIES] = [dict(entity) for _, entity in talk.entities.values()]
        if self.rules.notes and (facts := self._facts(said)):
            before = self.working.peek(talk.id).get(SCRATCHPAD)
            data[SCRATCHPAD] = "\n".join((*([before] if isinstance(before, str) else ()), *facts))
        if not data:
            return
        try:
            self.working.set(talk.id, data)
        except TooLargeError as error:
            ids = tuple(m.id for m in said)
            self.tell("oversize" if error.kept else "refused", ids, str(error))

    def conclude(self, talk: AegisConversation, *, over: bool = True) -> AegisEpisode | None:
        """Store an episode of the messages since the last one; None where there is none.

        `over` is false where the conversation is only long.
        """
        taken = tuple(talk.pending)
        if not any(m.role == "user" for m in taken):
            return None
        if not self.rules.fixed:
            # AEGIS has no second try: what no summary came of, no episode will ever tell of.
            talk.pending = []
            return self._concluded(talk, taken)
        if talk.refused == taken[-1].id:
            return None
        episode = self._concluded(talk, taken)
        if episode is None:
            talk.refused = taken[-1].id
            return None
        talk.pending = []
        if over:
            self.ledger.end(talk.id)
        return episode

    def conclude_all(self, talks: Iterable[AegisConversation], *, over: bool = True) -> None:
        """Conclude conversations, all of them over or long.

        Raises:
            ModelError: the model or the embedder failed. Repaired, it is logged instead, and the
                model is asked again when the next conversation is over.
        """
        for talk in talks:
            try:
                self.conclude(talk, over=over)
            except ModelError as error:
                if not self.rules.fixed:
                    raise
                self._failed(talk.pending, error)
                return

    def _concluded(
        self, talk: AegisConversation, taken: tuple[Message, ...]
    ) -> AegisEpisode | None:
        made, outcome = merge(
            taken,
            Summary(),
            model=self.model,
            counter=self.counter,
            limit=self.rules.summary,
            now=self.now(),
            prompt=EPISODE,
        )
        if not made.text.strip():
            self.tell(outcome.kind, outcome.sources, outcome.detail)
            return None
        decisions = dict(decisions_in(taken))
        episode = self._episode(talk, taken, made, list(decisions))
        vector = self.embed().embed([episode.summary])[0]
        self.origins[episode.id] = EpisodeOrigin(
            sources=made.sources,
            all=tuple(m.id for m in taken),
            user=talk.principal,
            decided=tuple(dict.fromkeys(decisions.values())),
        )
        self.episodes.store(episode, vector)
        self.tell("stored", outcome.sources, "what the conversation came to")
        return episode

    def _episode(
        self,
        talk: AegisConversation,
        taken: tuple[Message, ...],
        made: Summary,
        decisions: list[JSON],
    ) -> AegisEpisode:
        return AegisEpisode(
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{talk.id}\n{taken[-1].id}")),
            agent_id=self.rules.agent,
            user_id=talk.principal,
            conversation_id=talk.id,
            summary=made.text,
            key_decisions=decisions,
            entities_mentioned=self._entities_of(talk, taken),
            tools_called=list(tools_called(taken)),
            created_at=self.now(),
        )

    def _entities_of(self, talk: AegisConversation, taken: tuple[Message, ...]) -> list[JSON]:
        # Repaired, an episode goes with its messages, so it names nothing of any other.
        read = {m.id for m in taken}
        found = talk.entities.values()
        return [dict(entity) for source, entity in found if not self.rules.fixed or source in read]

    def _found(self, text: str, user: str) -> list[EpisodeHit]:
        if not self.rules.top or not text.strip():
            return []
        query = self.embed().embed([text])[0]
        found = self.episodes.search(
            query,
            self.rules.agent,
            user_id=user if self.rules.by_user else None,
            limit=self.rules.top,
        )
        least = self.rules.least
        return [f for f in found if least is None or (f.similarity or 0.0) >= least]

    def _mentioned(self, talk: AegisConversation, said: Sequence[Message]) -> bool:
        new = False
        for message in said:
            if message.role == "tool":
                continue
            for entity in entities_in(message.spoken):
                name = str(entity["id"])
                talk.entities.pop(name, None)
                talk.entities[name] = (message.id, entity)
                new = True
        for name in list(talk.entities)[: max(0, len(talk.entities) - self.rules.entities)]:
            del talk.entities[name]
        return new

    def _facts(self, said: Sequence[Message]) -> list[str]:
        own = tuple(m for m in said if m.role == "user")
        if not own:
            return []
        try:
            request = Request(task="extract", messages=own, now=self.now(), prompt=NOTES)
            reply = self.model.complete(request)
        except ModelError as error:
            if not self.rules.fixed:
                raise
            self._failed(own, error)
            return []
        return [line for line in reply.text.splitlines() if line.strip()]

    def _failed(self, messages: Iterable[Message], error: ModelError) -> None:
        self.tell("failed", tuple(m.id for m in messages), f"the model failed: {error}")


def _entity(entity: JSON) -> str:
    if not isinstance(entity, dict):
        return json.dumps(entity)
    return f"{entity.get('name') or entity.get('id')} ({entity.get('type')})"
