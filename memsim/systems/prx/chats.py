"""A sender's chat beside PRX's memory: the latest messages, and in 0.3.0 a summary of the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from memsim.context import Section
from memsim.memory.codec import JSON, reading
from memsim.memory.compaction import (
    Chain,
    CompactionOutcome,
    CompactionState,
    Condense,
    KeepRule,
    Means,
    SummaryInput,
    SummaryRequest,
    Target,
    Trim,
    forget,
)
from memsim.memory.history.window import Window
from memsim.memory.scope import ScopedPart
from memsim.message import Message, TokenCounter
from memsim.models import Model
from memsim.systems.prx.prompts import COMPACTION

HISTORY = 50
"""Messages of a sender's chat that are kept."""

RECENT = 20
"""Messages that a summary leaves as they are."""

TRANSCRIPT, SUMMARY = 12_000, 2000
"""Characters that the model is shown, and that it may write."""

FORM = "[Compaction summary]\n{text}"


def chat_compaction(limit: int) -> Chain:
    """What 0.3.0 does beyond so many messages; where it gets no summary, the oldest go without."""
    return Chain(
        steps=(
            Condense(
                shown=SummaryInput(total=TRANSCRIPT),
                # It is cut, whatever it is.
                asking=SummaryRequest(limit=SUMMARY // 4, checked=False, prompt=COMPACTION),
                form=FORM,
                voice="assistant",
                longest=SUMMARY,
                last=RECENT,
            ),
            Trim(to=Target(messages=limit)),
        ),
        to=Target(messages=limit),
    )


class Chat(ScopedPart):
    """What one sender and the assistant said to each other, `limit` messages at most.

    Older ones are summed up where it `compacts`; else they are dropped.
    """

    def __init__(self, counter: TokenCounter, *, limit: int = HISTORY, compacts: bool) -> None:
        self._counter = counter
        self._limit = limit
        self._step = chat_compaction(limit) if compacts else None
        self._window = self._new()
        self._state = CompactionState()

    def __contains__(self, source: object) -> bool:
        return source in self._window

    def __iter__(self) -> Iterator[Message]:
        """The messages, a summary of older ones among them."""
        return iter(self._window)

    def __len__(self) -> int:
        return len(self._window)

    def add(self, message: Message) -> tuple[Message, ...]:
        """Take a message in; the messages that left for it, oldest first."""
        return self._window.add(message)

    def section(self, budget: int) -> Section:
        """The latest messages that fit into a budget."""
        return self._window.section(budget)

    def compact(self, model: Model, now: datetime) -> CompactionOutcome | None:
        """Sum up what is old, where there is too much; None where there is not."""
        if self._step is None or len(self._window) <= self._limit:
            return None
        means = Means(
            counter=self._counter, now=now, model=model, keep=KeepRule(system=False, current=False)
        )
        behind = {m.id: m.derived_from for m in self if m.composed}
        done = self._step(tuple(self._window), self._state, means)
        self._take(done.history, done.state)
        # What a summary of a summary covers was said by somebody, and not by the summary.
        covered = (i for source in done.outcome.sources for i in behind.get(source, (source,)))
        return replace(done.outcome, sources=tuple(dict.fromkeys(covered)))

    def remove(self, ids: Collection[str]) -> tuple[str, ...]:
        """Forget messages, and summaries that were made of them; those of the ids that are gone."""
        known = {*self._behind(), *(m.id for m in self)}
        done = forget(tuple(self), self._state, ids)
        self._take(done.history, done.state)
        wanted = {*ids, *done.removed} & known
        return tuple(sorted(i for i in wanted if i not in self and not i.startswith("condensed:")))

    def save(self) -> JSON:
        return {"messages": self._window.save(), "compaction": self._state.save()}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        with reading("its chats are damaged"):
            messages, state = saved["messages"], saved["compaction"]
        window, known = self._new(), CompactionState.loaded(state)
        window.load(messages)
        self._window, self._state = window, known

    def _behind(self) -> Iterator[str]:
        for sources in self._state.behind.values():
            yield from sources

    def _take(self, history: tuple[Message, ...], state: CompactionState) -> None:
        self._window, self._state = self._new(), state
        for message in history:
            self._window.add(message)

    def _new(self) -> Window:
        return Window(self._counter, messages=None if self._step else self._limit)
