"""What a memory makes of what was said: facts at the end of a turn, an episode when it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from memsim.errors import ModelError
from memsim.language.text import split_head
from memsim.memory.compaction.outcome import reply_fault
from memsim.memory.entry import Entry, read_message
from memsim.memory.events import EventListener, MemoryEvent
from memsim.memory.layers import entities
from memsim.memory.layers.episodic import Episode, Episodic, calls_of, read_spoken
from memsim.memory.layers.fact_statements import statement_line, statements, tool_rows
from memsim.memory.layers.semantic import FactStatement, Semantic
from memsim.message import Message
from memsim.models import Model, Reply, Request, provenance


class FactExtractor:
    """Extracts facts, and concludes conversations."""

    def __init__(
        self,
        model: Model,
        semantic: Semantic,
        episodic: Episodic,
        count: Callable[[str], int],
        tell: EventListener,
    ) -> None:
        self._model = model
        self._semantic = semantic
        self._episodic = episodic
        self._count = count
        self._tell = tell

    def facts(
        self, owner: str, session: str, said: Sequence[Message], now: datetime
    ) -> list[Entry]:
        """Keep the facts that a user stated in a conversation, and the values that tools gave.

        Messages of others than `owner` are passed over. Returns the facts that are new, or have
        been stated anew. Raises `ModelError` if the model failed, or `StoreError` if the store
        failed.
        """
        own = tuple(m for m in said if m.principal == owner and m.role == "user")
        given = [*_given(m for m in said if m.principal == owner)]
        return self._extract(owner, session, own, given, now) if own or given else []

    def conclude(
        self, owner: str, session: str, said: Iterable[Sequence[Entry]], limit: int, now: datetime
    ) -> Entry | None:
        """Have what was said in a conversation stand in its episode, with what stands there.

        Where the model's summary is not fit to use, the one before is kept, and the rest is taken
        in; where there is none before, nothing is, and the messages may be read again. Only what
        `owner` and their assistant said is read. `said` are the messages that stand in no episode
        yet, oldest first, in parts that are read one after the other; `limit` is in tokens.
        Returns None where there is none. Raises `ModelError` if the model failed at the first
        part, or `StoreError` if the store failed.
        """
        before = self._episodic.of(owner, session)
        episode, ended = before, None
        sources: dict[str, None] = {}
        for part in said:
            own = [entry for entry in part if entry.owner == owner]
            try:
                longer = self._longer(episode, own, limit, now) if own else None
            except ModelError:
                if episode is before:
                    raise
                break
            if longer is None:
                break
            episode, ended = longer, ended or own[-1].created
            sources |= dict.fromkeys(entry.sources[0] for entry in own)
        if episode is None or episode is before:
            return None
        # At the end, since a conversation may have 100,000 messages.
        episode = replace(episode, sources=tuple(dict.fromkeys((*episode.sources, *sources))))
        return self._episodic.conclude(owner, session, episode, now, ended=ended)

    def _longer(
        self, before: Episode | None, own: Sequence[Entry], limit: int, now: datetime
    ) -> Episode | None:
        """An episode with more messages, but without their ids.

        None where the first summary of it will not do.
        """
        began = before or Episode(summary="")
        summary = self._summary(own, began.summary, limit, now)
        if not summary and before is None:
            return None
        spoken = [read_spoken(entry) for entry in own]
        settled = (decision for decision, _ in entities.decisions_in(spoken))
        called = (name for entry in own for name in calls_of(entry))
        return Episode(
            summary=summary or began.summary,
            key_decisions=_latest((*began.key_decisions, *settled), entities.MOST_DECISIONS),
            entities=_latest((*began.entities, *_mentioned(spoken)), entities.MOST),
            tools_called=tuple(dict.fromkeys((*began.tools_called, *called))),
            sources=began.sources,
        )

    def _summary(self, own: Sequence[Entry], previous: str, limit: int, now: datetime) -> str:
        """What the model makes of messages and an earlier summary; empty where it will not do."""
        messages = tuple(map(read_message, own))
        reply = self._model.complete(
            Request(
                task="summarise", messages=messages, previous=previous, max_tokens=limit, now=now
            )
        )
        tokens = self._count(reply.text)
        # It stands beside what was said and not in its place, and may be longer than that.
        fault = reply_fault(reply, tokens, limit, tokens + 1)
        if not fault:
            return reply.text
        sources = tuple(dict.fromkeys(m.id for m in messages))
        self._tell(MemoryEvent(kind="compaction-refused", sources=sources, detail=fault))
        return ""

    def _extract(
        self,
        owner: str,
        session: str,
        own: tuple[Message, ...],
        given: Sequence[FactStatement],
        now: datetime,
    ) -> list[Entry]:
        stated = self._stated_in(own, now) if own else []
        new, old = self._semantic.record(owner, session, [*stated, *given])
        if old:
            sources = tuple(dict.fromkeys(i for e in old for i in e.sources))
            self._tell(MemoryEvent(kind="superseded", sources=sources))
        return new

    def _stated_in(self, own: tuple[Message, ...], now: datetime) -> list[FactStatement]:
        """What a model extracts from messages, and what it passes over if it goes by rules."""
        reply = self._model.complete(Request(task="extract", messages=own, now=now))
        stated = [*_stated(reply, own)]
        # A model that does not name the sources of a line writes in words of its own.
        return stated if reply.line_sources is None else [*stated, *_passed_over(stated, own)]


def _stated(reply: Reply, own: Sequence[Message]) -> Iterator[FactStatement]:
    """Each fact once for each time at which it was said; where that is unknown, for the last."""
    times = {m.id: m.time for m in own}
    origins = provenance(reply, {}) or {}
    for line in reply.text.splitlines():
        if line.strip():
            sources = origins.get(line) or tuple(times)
            said = {times[i] for i in origins.get(line, ()) if i in times} or {own[-1].time}
            for time in sorted(said):
                yield FactStatement(
                    text=line, sources=sources, time=time, reworded=line not in origins
                )


def _passed_over(
    stated: Sequence[FactStatement], own: Sequence[Message]
) -> Iterator[FactStatement]:
    """What messages state by rules beside what a model extracted from them.

    A model that does not say where a line comes from writes in words of its own, and is trusted.
    """
    said = {
        (source, split_head(fact.text)[0].strip()) for fact in stated for source in fact.sources
    }
    for message in own:
        for sentence in statements(message):
            if (message.id, sentence) not in said:
                line = statement_line(message, sentence)
                yield FactStatement(text=line, sources=(message.id,), time=message.time)


def _given(messages: Iterable[Message]) -> Iterator[FactStatement]:
    """The values that tools gave: each replaces what the same call gave before."""
    for row in tool_rows([*messages]):
        yield FactStatement(
            text=row.line, sources=(row.message.id,), time=row.message.time, subject=row.subject
        )


def _mentioned(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        yield from (str(e["name"]) for e in entities.entities_in(message.spoken))


def _latest(said: Iterable[str], most: int) -> tuple[str, ...]:
    """Each once, where it was said last; so many at most, the latest."""
    return tuple(dict.fromkeys(reversed([*said])))[:most][::-1]
