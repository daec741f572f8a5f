"""What a memory makes of what was said: facts at the end of a turn, an episode when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.happening import Happening
from memsim.memory.layers import decisions, entities
from memsim.memory.layers.episodic import Episode, tools_called
from memsim.memory.layers.semantic import Stated
from memsim.models import Request, provenance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from memsim.memory.entry import Entry
    from memsim.memory.happening import Tell
    from memsim.memory.layers.episodic import Episodic
    from memsim.memory.layers.semantic import Semantic
    from memsim.message import Message
    from memsim.models import Model, Reply


class Learner:
    """Extracts facts, and concludes conversations.

    Args:
        model: reads what was said.
        semantic: takes the facts.
        episodic: takes the episodes.
        tell: is told which facts were superseded.
    """

    def __init__(self, model: Model, semantic: Semantic, episodic: Episodic, tell: Tell) -> None:
        self._model = model
        self._semantic = semantic
        self._episodic = episodic
        self._tell = tell

    def facts(
        self, owner: str, session: str, said: Sequence[Message], now: datetime
    ) -> list[Entry]:
        """Keep the facts that a user stated in a conversation.

        Args:
            owner: whose messages are read; others are passed over.
            session: the conversation, which decides who may see the facts.
            said: what was said in it.
            now: the present.

        Returns:
            The facts that are new, or have been stated anew.

        Raises:
            ModelError: the model failed.
            StoreError: the store failed.
        """
        own = tuple(m for m in said if m.principal == owner and m.role == "user")
        return self._extract(owner, session, own, now) if own else []

    def conclude(
        self, owner: str, session: str, said: Iterable[Message], limit: int, now: datetime
    ) -> Entry | None:
        """Keep what a conversation came to; nothing where the model has nothing to say.

        Args:
            owner: whose the episode is; only what they and their assistant said is read.
            session: the conversation.
            said: its messages.
            limit: tokens that the summary may have.
            now: the present.

        Raises:
            ModelError: the model failed.
            StoreError: the store failed.
        """
        own = tuple(m for m in said if m.principal == owner)
        if not own:
            return None
        ids = tuple(m.id for m in own)
        before = self._episodic.of(owner, session)
        # What has left the window since stands in the episode as it was, and is carried on.
        carried = before if before and not set(before.sources).issubset(ids) else None
        reply = self._model.complete(
            Request(
                task="summarise",
                messages=own,
                previous=carried.summary if carried else "",
                max_tokens=limit,
                now=now,
            )
        )
        if not reply.text.strip():
            return None
        began = carried or Episode(summary="")
        settled = (decision for decision, _ in decisions.decisions_in(own))
        episode = Episode(
            summary=reply.text,
            key_decisions=_latest((*began.key_decisions, *settled), decisions.MOST),
            entities=_latest((*began.entities, *_mentioned(own)), entities.MOST),
            tools_called=tuple(dict.fromkeys((*began.tools_called, *tools_called(own)))),
            sources=tuple(dict.fromkeys((*began.sources, *ids))),
        )
        return self._episodic.conclude(owner, session, episode, now, ended=own[-1].time)

    def _extract(
        self, owner: str, session: str, own: tuple[Message, ...], now: datetime
    ) -> list[Entry]:
        reply = self._model.complete(Request(task="extract", messages=own, now=now))
        new, old = self._semantic.record(owner, session, [*_stated(reply, own)])
        if old:
            sources = tuple(dict.fromkeys(i for e in old for i in e.sources))
            self._tell(Happening(kind="superseded", sources=sources))
        return new


def _stated(reply: Reply, own: Sequence[Message]) -> Iterator[Stated]:
    """Each fact once for each time at which it was said; where that is unknown, for the last."""
    times = {m.id: m.time for m in own}
    origins = provenance(reply, {}) or {}
    for line in reply.text.splitlines():
        if line.strip():
            sources = origins.get(line) or tuple(times)
            said = {times[i] for i in origins.get(line, ()) if i in times} or {own[-1].time}
            for time in sorted(said):
                yield Stated(text=line, sources=sources, time=time)


def _mentioned(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if message.role != "tool":
            yield from (str(e["name"]) for e in entities.entities_in(message.spoken))


def _latest(said: Iterable[str], most: int) -> tuple[str, ...]:
    """Each once, where it was said last; so many at most, the latest."""
    return tuple(dict.fromkeys(reversed([*said])))[:most][::-1]
