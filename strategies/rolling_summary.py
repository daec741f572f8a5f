"""A summary of what was said, and the latest messages verbatim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

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
from memsim.memory.codec import part
from memsim.memory.forget_request import requested_message
from memsim.memory.history.summary_buffer import SummaryBuffer
from memsim.memory.scope import MemoryScopes


class RollingSummary(Strategy):
    """A summary that takes in the oldest messages whenever the verbatim ones grow too long.

    After each turn, as LangChain's summary buffer memory does it. A summary that is empty, no text,
    or no shorter than what it replaces is refused; the messages then stay, and are tried again.

    Args:
        keep: tokens that stay verbatim; 60 % of the budget by default.
        summary: tokens that the summary may have; 25 % of the budget by default.
        scope: `shared`: one summary for everybody; `principal`: one for each.

    Raises:
        ValueError: a limit is below 1, or the scope is neither.
    """

    departs: ClassVar[Mapping[str, str]] = {
        "authority_non_elevation": "LangChain's summary is a system message"
    }

    def __init__(
        self,
        env: Environment,
        *,
        keep: int | None = None,
        summary: int | None = None,
        scope: Literal["shared", "principal"] = "shared",
    ) -> None:
        super().__init__(env)
        kept = env.budget * 3 // 5 if keep is None else keep
        limit = env.budget // 4 if summary is None else summary
        for name, value in (("keep", keep), ("summary", summary)):
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}: at least 1")
        self._buffers = MemoryScopes(
            scope, lambda: SummaryBuffer(env.counter, keep=kept, limit=limit)
        )

    def observe(self, message: Message) -> None:
        window = self._buffers.of(message.principal).window
        if not window.answers_here(message):
            # No provider takes a result whose call is not there any more.
            late = Event(kind="dropped", sources=(message.id,), detail="its call left before it")
            self.env.log(late)
            return
        window.add(message)

    def context(self, query: Query) -> Context:
        buffer = self._buffers.seen_by(query.principal)
        return Context(sections=buffer.sections(query.budget))

    def end_turn(self) -> None:
        for buffer in self._buffers:
            before = buffer.summary.sources
            done = buffer.compact(self.env.model, self.env.clock.now())
            self._faded(before, buffer)
            if done is not None:
                kind = "compaction" if done.kind == "compaction" else "compaction-refused"
                sizes = {"before": done.before, "after": done.after}
                self.env.log(Event(kind=kind, sources=done.sources, detail=done.detail, **sizes))

    def _faded(self, before: tuple[str, ...], buffer: SummaryBuffer) -> None:
        # A summary that is written anew drops what it had taken in before.
        left = frozenset(buffer.summary.sources)
        gone = tuple(source for source in before if source not in left)
        if gone:
            self.env.log(Event(kind="faded", sources=gone, detail="no line of the summary is left"))

    def forget(self, request: Forget) -> ForgetOutcome:
        buffer = self._buffers.of(request.principal)
        ids = requested_message(request.text, request.sources, buffer.own(request.principal))
        return ForgetOutcome(supported=True, removed=buffer.remove(ids, request.principal))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for buffer in self._buffers.visible(viewer):
            for line in buffer.summary.lines:
                yield Surface(tier="summary", sources=line.sources, text=line.text)
            for message in buffer.window:
                yield Surface(tier="window", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        buffer, shown = self._buffers.seen_by(query.principal), self.context(query)
        if source in buffer.window:
            detail = "" if source in shown.verbatim else "over budget"
            return Location(tier="window", detail=detail)
        if source in buffer.summary.sources:
            detail = "" if source in shown.derived else "over budget"
            return Location(tier="summary", detail=detail)
        return None

    def save(self) -> State:
        return {"buffers": self._buffers.save()}

    def load(self, state: State) -> None:
        self._buffers.load(part(state, "buffers"))
