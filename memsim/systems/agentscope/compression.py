"""How AgentScope keeps a history within its limits: the document's ways, and the package's.

The document names three ways that stand for themselves, and a progressive one that merges first,
then summarises, then offloads, as long as it is too much. The package has six families of
strategies, of which the first that changes something is the only one to work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memsim.memory.compaction import (
    Blobs,
    CompactionState,
    CompactionStep,
    Condense,
    KeepRule,
    Means,
    MergeAdjacent,
    Offload,
    SummaryRequest,
    Trim,
)
from memsim.memory.compaction.size import Limits, Size
from memsim.message import Message, TokenCounter
from memsim.models import Model, Reply, Request
from memsim.systems.agentscope.compression_families import Family
from memsim.systems.agentscope.offloads import tag
from memsim.systems.agentscope.prompts import DOCUMENTED
from memsim.systems.agentscope.thresholds import AutoContextConfig, WindowStrategy

History = tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionEvent:
    """One compression as the package notes it.

    Its timestamp is in milliseconds, its time in seconds. Without a call of the model, tokens are
    those before and after. Ids are None at either end, and of content that was offloaded.
    """

    event_type: str
    timestamp: int
    compressed_message_count: int
    previous_message_id: str | None
    next_message_id: str | None
    compressed_message_id: str | None
    input_token: int
    output_token: int
    time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """What one call of a model took."""

    input: int
    output: int
    time: float


def events_of(
    family: Family,
    old: History,
    new: History,
    used: Sequence[ModelUse],
    counter: TokenCounter,
    now: int,
) -> list[CompressionEvent]:
    """List the events of a family's step, in the order in which it works; `now` in milliseconds."""
    changes = list(_replaced(old, new))
    if not family.onwards:
        changes.reverse()
    events: list[CompressionEvent] = []
    for at, (first, stop, place) in enumerate(changes):
        # What has been worked on is new already on one side, and still old on the other.
        before, after = (new, old) if family.onwards else (old, new)
        left = place - 1 if family.onwards else first - 1
        right = stop if family.onwards else place + 1
        offload = ModelUse(
            input=counter.message(old[first]), output=counter.message(new[place]), time=0.0
        )
        meta = used[at] if family.asks else offload
        events.append(
            CompressionEvent(
                event_type=family.event,
                timestamp=now,
                compressed_message_count=stop - first,
                previous_message_id=id_of(before[left]) if left >= 0 else None,
                next_message_id=id_of(after[right]) if right < len(after) else None,
                compressed_message_id=id_of(new[place]) if family.asks else None,
                input_token=meta.input,
                output_token=meta.output,
                time=meta.time,
            )
        )
    return events


def id_of(message: Message) -> str:
    """The id of a message for events; what took the place of one has an id of its own there."""
    return f"{message.id}:made" if message.composed and ":" not in message.id else message.id


def _replaced(old: History, new: History) -> Iterator[tuple[int, int, int]]:
    at = 0
    for place, message in enumerate(new):
        if at < len(old) and old[at] is message:
            at += 1
            continue
        first, at = at, at + 1
        if message.id != old[first].id:
            following = new[place + 1] if place + 1 < len(new) else None
            while at < len(old) and old[at] is not following:
                at += 1
        yield first, at, place


UNGUARDED = KeepRule(system=False, current=False, pairs=False)
"""The package protects nothing of its own accord."""

REFERRING = "<summary>\n{text}\n</summary>\n{reference}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """History and state after a compression; `sources` were taken out or shortened by it."""

    history: History
    state: CompactionState
    events: tuple[CompressionEvent, ...] = ()
    sources: tuple[str, ...] = ()
    detail: str = ""

    @property
    def changed(self) -> bool:
        """Whether there was anything to do, and it was done."""
        return bool(self.sources)


@dataclass(frozen=True, slots=True)
class Compression:
    """Compresses a history beyond `limits`, by the package's families or the document's steps."""

    limits: Limits
    counter: TokenCounter
    families: tuple[Family, ...] = ()
    steps: tuple[CompactionStep, ...] = ()
    keep: KeepRule = UNGUARDED

    def is_due(self, messages: int, tokens: int) -> bool:
        """Whether a history is too much."""
        return bool(self.limits.beyond(Size(messages=messages, characters=0, tokens=tokens)))

    def __call__(
        self,
        history: History,
        state: CompactionState,
        *,
        model: Model,
        blobs: Blobs,
        now: Callable[[], datetime],
    ) -> CompressionResult:
        """Compress a history, oldest message first; `now` dates events and times the model."""
        timed = TimedModel(model, now)
        means = Means(counter=self.counter, now=now(), model=timed, blobs=blobs, keep=self.keep)
        if self.families:
            return self._first(history, state, means, timed)
        return self._progressive(history, state, means)

    def _first(
        self, history: History, state: CompactionState, means: Means, timed: TimedModel
    ) -> CompressionResult:
        detail = ""
        for family in self.families:
            done = family.step(history, state, means)
            if done.changed:
                moment = int(means.now.timestamp() * 1000)
                new = done.history
                events = events_of(family, history, new, timed.used, self.counter, moment)
                return CompressionResult(
                    history=new,
                    state=done.state,
                    events=tuple(events),
                    sources=done.outcome.sources,
                    detail=done.outcome.step,
                )
            detail = done.outcome.detail or detail
            if done.outcome.kind == "failed":
                state = done.state
                break  # what a model raises leaves the whole compression
        return CompressionResult(history=history, state=state, detail=detail)

    def _progressive(
        self, history: History, state: CompactionState, means: Means
    ) -> CompressionResult:
        sources: list[str] = []
        detail = ""
        for step in self.steps:
            tokens = self.counter.messages(history)
            if not self.is_due(len(history), tokens):
                break
            done = step(history, state, means)
            history, state = done.history, done.state
            if done.changed:
                sources.extend(done.outcome.sources)
            else:
                detail = done.outcome.detail
        return CompressionResult(
            history=history,
            state=state,
            sources=tuple(dict.fromkeys(sources)),
            detail=detail,
        )


class TimedModel:
    """A model that notes what each of its calls took."""

    def __init__(self, model: Model, now: Callable[[], datetime]) -> None:
        self._model = model
        self._now = now
        self.used: list[ModelUse] = []

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def complete(self, request: Request) -> Reply:
        """Ask the model. Raises ModelError where it failed."""
        begun = self._now()
        reply = self._model.complete(request)
        took = (self._now() - begun).total_seconds()
        self.used.append(ModelUse(input=reply.usage.input, output=reply.usage.output, time=took))
        return reply


def documented_compression(
    strategy: WindowStrategy,
    config: AutoContextConfig,
    counter: TokenCounter,
    limit: int,
    *,
    smaller: bool = False,
) -> Compression | None:
    """Make the document's compression; None for none.

    With `smaller`, a step that does not shorten the history is not taken, as in the document it is.
    """
    last = config.last_keep
    summarise = Condense(
        asking=SummaryRequest(limit=limit, checked=smaller, prompt=DOCUMENTED),
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
    ways: dict[str, tuple[CompactionStep, ...]] = {
        "none": (),
        "truncation": (truncate,),
        "summarisation": (summarise,),
        "offloading": (offload,),
        "progressive": (merge, summarise, offload),
    }
    if not ways[strategy]:
        return None
    limits = Limits(messages=config.msg_threshold - 1, tokens=config.token_threshold)
    return Compression(limits=limits, counter=counter, steps=ways[strategy], keep=KeepRule())


def packaged_compression(
    config: AutoContextConfig, counter: TokenCounter, families: tuple[Family, ...]
) -> Compression:
    """The package's compression, which is due as soon as a threshold is reached."""
    limits = Limits(messages=config.msg_threshold - 1, tokens=config.token_threshold - 1)
    return Compression(limits=limits, counter=counter, families=families)
