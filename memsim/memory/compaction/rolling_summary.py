"""The rolling summary: what falls out of the latest messages is merged into it, batch by batch.

Of a log of all messages, each place is covered by the summary, held back though it is older,
pending until there are enough of them, or in the retained tail; and in exactly one of these
(`spread`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from memsim.memory.compaction.outcome import SummaryAttempt
from memsim.memory.compaction.plan import CompactionPlan, KeepRule, plan
from memsim.memory.compaction.prompt import SummaryRequest, ask
from memsim.memory.compaction.step import (
    Compaction,
    CompactionState,
    History,
    Means,
    changed,
    declined,
    is_settled,
    settled,
    unchanged,
)
from memsim.memory.compaction.summary import absorb_reply
from memsim.message import Message, TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Whether messages say enough to be worth a summary.

    What counts are users' messages, and assistants' that have words and call no tool. Either
    threshold is enough.
    """

    messages: int = 4
    characters: int = 5000

    def opens(self, messages: tuple[Message, ...]) -> bool:
        """Whether these messages say enough."""
        telling = [m for m in messages if is_telling(m)]
        return len(telling) >= self.messages or sum(len(m.text) for m in telling) >= self.characters


def is_telling(message: Message) -> bool:
    """Whether a message says something itself, beside calling tools and their answers."""
    return message.role == "user" or (
        message.role == "assistant" and bool(message.text.strip()) and not message.calls
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingSummary:
    """Merges what must not stay verbatim into the rolling summary.

    A model that fails, or writes what is refused, changes nothing but the count of failures, and is
    not asked again before another message has come. Where `asking` is not checked, only a blank
    text is refused, and a summary may be longer than what it replaces.

    Attributes:
        batch: so many messages have to be pending.
        gate: whether they say enough; None lets everything through.
        asking: how the model is asked.
        last: so many of the latest messages stay; None for as many as the means say.
        shown: what the model is given of the messages; None for all of it.
    """

    batch: int = 1
    gate: Gate | None = None
    asking: SummaryRequest = field(default_factory=SummaryRequest)
    last: int | None = None
    shown: Callable[[History], History] | None = None
    name: str = "rolling summary"

    def flush(self) -> RollingSummary:
        """The same for what is pending, however little it is."""
        return replace(self, batch=1, gate=None)

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Merge messages into the summary, as `Step` has it."""
        means = means.keeping(self.last)
        planned = plan(history, means.keep, means.counter)
        taken = tuple(history[place] for place in planned.taken)
        given = taken if self.shown is None else self.shown(taken)
        reason = self._too_little(taken, given)
        if not reason and is_settled(self.name, state, history):
            reason = "nothing has come since the last attempt"
        if reason:
            return unchanged(self.name, history, state, means, reason)
        sources = tuple(m.id for m in taken)
        asked = ask(given, state.summary.text, self.asking, means)
        if asked.reply is not None and not asked.reply.text.strip():
            asked = replace(asked, reply=None, kind="refused", detail="the summary is empty")
        if asked.reply is None:
            return declined(self.name, history, state, means, asked, sources)
        merged = replace(
            covering(state, planned),
            summary=absorb_reply(asked.reply, given, state.summary, means.now),
            voices=tuple(sorted({*state.voices, *(m.role for m in given)})),
            failures=0,
        )
        left = tuple(history[p] for p in (*planned.held, *range(planned.start, len(history))))
        new = (left, settled(self.name, merged, left))
        old = (history, state)
        smaller = self.asking.checked
        done = changed(self.name, old, new, means, sources, calls=asked.calls, smaller=smaller)
        if done.changed:
            return done
        refused = SummaryAttempt(
            reply=None, kind="refused", detail=done.outcome.detail, calls=asked.calls
        )
        return declined(self.name, history, state, means, refused, sources)

    def _too_little(self, taken: History, given: History) -> str:
        if len(taken) < max(1, self.batch):
            return f"{len(taken)} of {self.batch} messages are pending"
        if self.gate is not None and not self.gate.opens(taken):
            return "the pending messages say too little"
        return "" if given else "the model would be shown nothing"


def covering(state: CompactionState, planned: CompactionPlan) -> CompactionState:
    """The state once all that is planned is covered: its places in the log move on."""
    before = min(len(state.held), planned.start)
    held = tuple(_in_log(state, before, place) for place in planned.held)
    return replace(state, covered=state.covered + planned.start - before, held=held)


def _in_log(state: CompactionState, before: int, place: int) -> int:
    return state.held[place] if place < before else state.covered + place - before


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Where each place of a log stands; each in exactly one of the four, ascending."""

    covered: tuple[int, ...]
    held: tuple[int, ...]
    pending: tuple[int, ...]
    retained: tuple[int, ...]


def spread(log: History, state: CompactionState, keep: KeepRule, counter: TokenCounter) -> Spread:
    """Where each place of a log stands.

    `keep` says which messages must stay. A state that covers more than there is, is clamped.
    """
    state = state.clamped(len(log))
    planned = plan(state.uncovered(log), keep, counter)
    before = min(len(state.held), planned.start)
    held = {*state.held, *(_in_log(state, before, place) for place in planned.held)}
    pending = {_in_log(state, before, place) for place in planned.taken}
    behind = {*range(state.covered)} - held - pending
    return Spread(
        covered=tuple(sorted(behind)),
        held=tuple(sorted(held - pending)),
        pending=tuple(sorted(pending)),
        retained=tuple(p for p in range(state.covered, len(log)) if p not in held | pending),
    )
