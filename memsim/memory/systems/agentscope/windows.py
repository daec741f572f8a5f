"""How AgentScope keeps a history within its limits: the document's ways, and the package's.

The document names three ways that stand for themselves, and a progressive one that merges first,
then summarises, then offloads, as long as it is too much. The package has six families of
strategies, of which the first that changes something is the only one to work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.compaction import (
    Asking,
    Condense,
    Keep,
    Means,
    MergeAdjacent,
    Offload,
    State,
    Step,
    Trim,
)
from memsim.memory.compaction.sizes import Size
from memsim.memory.compaction.trigger import Limits
from memsim.memory.systems.agentscope.events import CompressionEvent, Used, events_of
from memsim.memory.systems.agentscope.offloads import tag
from memsim.models import Reply, Request

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memsim.memory.compaction import Blobs
    from memsim.memory.systems.agentscope.config import AutoContextConfig, Strategy
    from memsim.memory.systems.agentscope.families import Family
    from memsim.message import Message
    from memsim.models import Model
    from memsim.tokens import TokenCounter

    History = tuple[Message, ...]

UNGUARDED = Keep(system=False, current=False, pairs=False)
"""The package protects nothing of its own accord."""

REFERRING = "<summary>\n{text}\n</summary>\n{reference}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """What came of a compression.

    Attributes:
        history, state: afterwards.
        events: of each change, in order.
        sources: ids of the messages that were taken out or shortened.
        detail: why nothing changed.
        calls: how often a model was asked.
    """

    history: History
    state: State
    events: tuple[CompressionEvent, ...] = ()
    sources: tuple[str, ...] = ()
    detail: str = ""
    calls: int = 0

    @property
    def changed(self) -> bool:
        """Whether there was anything to do, and it was done."""
        return bool(self.sources)


@dataclass(frozen=True, slots=True)
class Compressing:
    """Compresses a history once it is too much.

    Attributes:
        limits: beyond which it is.
        counter: the estimate that they are meant in.
        families: the package's; empty for the document's steps.
        steps: the document's, gentlest first, as long as it is too much.
    """

    limits: Limits
    counter: TokenCounter
    families: tuple[Family, ...] = ()
    steps: tuple[Step, ...] = ()
    keep: Keep = UNGUARDED

    def is_due(self, messages: int, tokens: int) -> bool:
        """Whether a history is too much."""
        return bool(self.limits.beyond(Size(messages=messages, characters=0, tokens=tokens)))

    def __call__(
        self,
        history: History,
        state: State,
        *,
        model: Model,
        blobs: Blobs,
        now: Callable[[], datetime],
    ) -> Compressed:
        """Compress a history.

        Args:
            history: the messages as they are now, oldest first.
            state: what came of earlier compressions.
            model: writes summaries.
            blobs: where large content goes.
            now: the present instant, by which events are dated and models timed.
        """
        timed = Timed(model, now)
        means = Means(counter=self.counter, now=now(), model=timed, blobs=blobs, keep=self.keep)
        if self.families:
            return self._first(history, state, means, timed)
        return self._progressive(history, state, means)

    def _first(self, history: History, state: State, means: Means, timed: Timed) -> Compressed:
        detail = ""
        for family in self.families:
            done = family.step(history, state, means)
            if done.changed:
                moment = int(means.now.timestamp() * 1000)
                new = done.history
                events = events_of(family, history, new, timed.used, self.counter, moment)
                return Compressed(
                    history=new,
                    state=done.state,
                    events=tuple(events),
                    sources=done.outcome.sources,
                    detail=done.outcome.step,
                    calls=len(timed.used),
                )
            detail = done.outcome.detail or detail
            if done.outcome.kind == "failed":
                state = done.state
                break  # what a model raises leaves the whole compression
        return Compressed(history=history, state=state, detail=detail, calls=len(timed.used))

    def _progressive(self, history: History, state: State, means: Means) -> Compressed:
        sources: list[str] = []
        detail, calls = "", 0
        for step in self.steps:
            tokens = self.counter.messages(history)
            if not self.is_due(len(history), tokens):
                break
            done = step(history, state, means)
            history, state = done.history, done.state
            calls += done.outcome.calls
            if done.changed:
                sources.extend(done.outcome.sources)
            else:
                detail = done.outcome.detail
        return Compressed(
            history=history,
            state=state,
            sources=tuple(dict.fromkeys(sources)),
            detail=detail,
            calls=calls,
        )


class Timed:
    """A model of which is noted what each call took.

    Args:
        model: answers.
        now: the present instant.
    """

    def __init__(self, model: Model, now: Callable[[], datetime]) -> None:
        self._model = model
        self._now = now
        self.used: list[Used] = []

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def complete(self, request: Request) -> Reply:
        """What the model says.

        Raises:
            ModelError: it failed.
        """
        begun = self._now()
        reply = self._model.complete(request)
        took = (self._now() - begun).total_seconds()
        self.used.append(Used(input=reply.usage.input, output=reply.usage.output, time=took))
        return reply


def documented(
    strategy: Strategy,
    config: AutoContextConfig,
    counter: TokenCounter,
    limit: int,
    *,
    smaller: bool = False,
) -> Compressing | None:
    """The document's compression; None for none.

    Args:
        strategy: which way.
        config: the thresholds.
        counter: the document's estimate.
        limit: tokens that a summary may have.
        smaller: do nothing that makes no less of the history, which the document does not look at.
    """
    limits = Limits(messages=config.msg_threshold - 1, tokens=config.token_threshold)
    steps = _steps(strategy, config, limit, smaller=smaller)
    if not steps:
        return None
    return Compressing(limits=limits, counter=counter, steps=steps, keep=Keep())


def _steps(
    strategy: Strategy, config: AutoContextConfig, limit: int, *, smaller: bool
) -> tuple[Step, ...]:
    last = config.last_keep
    summarise = Condense(
        asking=Asking(limit=limit, checked=smaller),
        form=REFERRING,
        offload=True,
        reference=tag,
        last=last,
        name="summarise",
    )
    offload = Offload(
        over=config.large_payload_threshold,
        preview=config.offload_single_preview,
        reference=tag,
        smaller=smaller,
    )
    merge = MergeAdjacent(last=last, smaller=smaller)
    # A tail by number: what is left of the older ones is dropped, whatever its tokens are.
    truncate = Trim(to=Limits(messages=last), last=last, firm=False)
    ways: dict[str, tuple[Step, ...]] = {
        "none": (),
        "truncation": (truncate,),
        "summarisation": (summarise,),
        "offloading": (offload,),
        "progressive": (merge, summarise, offload),
    }
    return ways[strategy]


def packaged(
    config: AutoContextConfig, counter: TokenCounter, families: tuple[Family, ...]
) -> Compressing:
    """The package's compression, which is due as soon as a threshold is reached."""
    limits = Limits(messages=config.msg_threshold - 1, tokens=config.token_threshold - 1)
    return Compressing(limits=limits, counter=counter, families=families)
