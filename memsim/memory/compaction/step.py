"""The shape that every step of a compaction has: history and state in, history and state out.

A step is a pure function of what it is given. It never changes its arguments, so whatever goes
wrong on the way, and whoever stops waiting, history and state are what they were before::

    done = step(history, state, means)
    history, state = done.history, done.state
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from memsim.memory.codec import JSON, reading
from memsim.memory.compaction.blobs import Blobs
from memsim.memory.compaction.outcome import CompactionOutcome, OutcomeKind, SummaryAttempt
from memsim.memory.compaction.plan import KeepRule
from memsim.memory.compaction.size import Size, Sizes, Target, Trigger
from memsim.memory.compaction.summary import Lineage, Summary, SummaryLine
from memsim.message import Message, Role, TokenCounter
from memsim.models import Model

History = tuple[Message, ...]

VERSION = 1
"""The version of what `CompactionState.save` writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionState:
    """What a compaction knows beside the history.

    Attributes:
        summary: the rolling summary; not part of the history.
        voices: roles of the messages that it was made from, sorted.
        covered: how many messages of the whole log a summary has taken in, counted from its start.
        held: places in the log, below `covered`, of messages that are in the history all the same.
        made: how many messages were composed in place of others.
        behind: by composed message, the originals that it may have been made from, for forgetting.
        told: by composed message, its lines, where the model knew what each was made from.
        failures: how often in a row a model failed, or wrote what was refused.
        settled: by step, the digest of a history that it need not be asked about again.
    """

    summary: Summary = field(default_factory=Summary)
    voices: tuple[Role, ...] = ()
    covered: int = 0
    held: tuple[int, ...] = ()
    made: int = 0
    behind: Mapping[str, Lineage] = field(default_factory=dict)
    told: Mapping[str, tuple[SummaryLine, ...]] = field(default_factory=dict)
    failures: int = 0
    settled: Mapping[str, str] = field(default_factory=dict)

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            "version": VERSION,
            "summary": self.summary.save(),
            "voices": list(self.voices),
            "covered": self.covered,
            "held": list(self.held),
            "made": self.made,
            "behind": {made: list(self.behind[made]) for made in sorted(self.behind)},
            "told": {
                made: [[line.text, list(line.sources)] for line in self.told[made]]
                for made in sorted(self.told)
            },
            "failures": self.failures,
            "settled": {step: self.settled[step] for step in sorted(self.settled)},
        }

    @classmethod
    def loaded(cls, saved: Any, log: int | None = None) -> CompactionState:  # noqa: ANN401 - from a file
        """The state that `save` wrote. Raises `StateError` if it wrote no such thing."""
        with reading("its compaction is damaged, or was written by a newer version"):
            if saved["version"] != VERSION:
                raise ValueError(saved["version"])
            state = cls(
                summary=Summary.loaded(saved["summary"]),
                voices=tuple("" + v for v in saved["voices"]),
                covered=_count(saved["covered"]),
                held=tuple(_count(place) for place in saved["held"]),
                made=_count(saved["made"]),
                behind={
                    made: Lineage(*("" + i for i in ids)) for made, ids in saved["behind"].items()
                },
                told={
                    made: tuple(SummaryLine("" + text, tuple(ids)) for text, ids in lines)
                    for made, lines in saved.get("told", {}).items()
                },
                failures=_count(saved["failures"]),
                settled={step: "" + digest for step, digest in saved["settled"].items()},
            )
        return state if log is None else state.clamped(log)

    def clamped(self, log: int) -> CompactionState:
        """The state for a log of so many messages, which may have lost some since."""
        covered = min(self.covered, log)
        return replace(self, covered=covered, held=tuple(p for p in self.held if p < covered))

    def uncovered(self, log: History) -> History:
        """What a log's history is: the messages held back, and all that no summary took in."""
        return (*(log[place] for place in self.held if place < len(log)), *log[self.covered :])


def _count(saved: Any) -> int:  # noqa: ANN401 - from a file
    if type(saved) is not int or saved < 0:
        raise ValueError(saved)
    return saved


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a step works with.

    Attributes:
        counter: token counts.
        now: the instant at which it works.
        model: writes summaries; None where no step needs one.
        blobs: where large content goes, of one session; None where no step needs it.
        keep: which messages must stay as they are.
        sizes: of the history that was measured last.
    """

    counter: TokenCounter
    now: datetime
    model: Model | None = None
    blobs: Blobs | None = None
    keep: KeepRule = field(default_factory=KeepRule)
    sizes: Sizes = field(default_factory=Sizes, repr=False, compare=False)

    def keeping(self, last: int | None) -> Means:
        """The same, with another number of latest messages that stay; None changes nothing."""
        return self if last is None else replace(self, keep=replace(self.keep, last=last))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """History and state after a compaction, and what came of it."""

    history: History
    state: CompactionState
    outcome: CompactionOutcome

    @property
    def changed(self) -> bool:
        """Whether there is less history now."""
        return self.outcome.kind == "compaction"


class CompactionStep(Protocol):
    """One way of turning history into less history."""

    @property
    def name(self) -> str:
        """What it is called in outcomes."""
        ...

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Turn a history into less of it.

        Raises `BudgetUnsatisfiable` if what must stay is more than there is room for.
        """
        ...


def unchanged(
    step: str, history: History, state: CompactionState, means: Means, detail: str, calls: int = 0
) -> Compaction:
    """A compaction that did nothing, and says why."""
    tokens = means.sizes.tokens(history, means.counter, state.summary)
    outcome = CompactionOutcome(
        kind="nothing",
        sources=(),
        before=tokens,
        after=tokens,
        detail=detail,
        step=step,
        calls=calls,
    )
    return Compaction(history=history, state=state, outcome=outcome)


def changed(
    step: str,
    old: tuple[History, CompactionState],
    new: tuple[History, CompactionState],
    means: Means,
    sources: tuple[str, ...],
    *,
    detail: str = "",
    calls: int = 0,
    smaller: bool = True,
) -> Compaction:
    """A compaction that made the history smaller; as it was where the new one is not.

    With `smaller` switched off the new one stands even so, as designs have it that never look.
    """
    before = means.sizes.tokens(old[0], means.counter, old[1].summary)
    after = Size.of(new[0], means.counter, new[1].summary).tokens
    if smaller and after >= before:
        detail = f"the history would have {after} tokens after it, and has {before}"
        return unchanged(step, *old, means, detail, calls)
    outcome = CompactionOutcome(
        kind="compaction",
        sources=sources,
        before=before,
        after=after,
        detail=detail,
        step=step,
        calls=calls,
    )
    return Compaction(history=new[0], state=_holding(old, new), outcome=outcome)


def _holding(
    old: tuple[History, CompactionState], new: tuple[History, CompactionState]
) -> CompactionState:
    # A step that knows nothing of a log may have taken out what was held back from it.
    state = new[1]
    if not state.held or state.held is not old[1].held:
        return state
    left = {m.id for m in new[0]}
    pairs = zip(state.held, old[0], strict=False)
    return replace(state, held=tuple(place for place, m in pairs if m.id in left))


def declined(
    step: str,
    history: History,
    state: CompactionState,
    means: Means,
    asked: SummaryAttempt,
    sources: tuple[str, ...],
) -> Compaction:
    """A compaction for which a model gave nothing fit to use: only the failure is counted."""
    counted = replace(settled(step, state, history), failures=state.failures + 1)
    done = unchanged(step, history, counted, means, asked.detail, asked.calls)
    return replace(done, outcome=replace(done.outcome, kind=asked.kind, sources=sources))


def is_settled(step: str, state: CompactionState, history: History) -> bool:
    """Whether this very history was dealt with already."""
    return state.settled.get(step) == digest_of(history)


def digest_of(history: History) -> str:
    """A digest of a history's ids and texts: whether anything has come since."""
    digest = hashlib.blake2b(digest_size=16)
    for message in history:
        for part in (message.id, message.role, message.text):
            encoded = part.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
    return digest.hexdigest()


def settled(step: str, state: CompactionState, history: History) -> CompactionState:
    """The state with a note that this history was dealt with."""
    return replace(state, settled={**state.settled, step: digest_of(history)})


def rejoin(done: Compaction, before: History, live: History) -> Compaction:
    """A compaction of an earlier history, for the history that grew while it was made.

    `before` is the earlier history, as it was given to the step; `live` begins with it. Raises
    `ValueError` if it does not, so that what was compacted is no longer what there is.
    """
    if live[: len(before)] != before:
        raise ValueError("the history has changed where it was being compacted, not only grown")
    return replace(done, history=(*done.history, *live[len(before) :]))


# Steps one after the other until there is little enough, and the trigger that starts them.


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Takes one step after the other, and none once the history is within its target.

    Where the target must be met, the last step is a `Trim` to it. `to` is the target; a chain
    without one takes every step. With `first` it stops after the first step that changed something,
    as AgentScope does.
    """

    steps: tuple[CompactionStep, ...]
    to: Target | None = None
    first: bool = False
    name: str = "chain"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Take the steps as one `CompactionStep`; a failed step leaves the history as it was."""
        start = Size.of(history, means.counter, state.summary)
        size, taken = start, []
        for step in self.steps:
            if self.to is not None and not self.to.beyond(size):
                break
            done = step(history, state, means)
            taken.append(done.outcome)
            history, state, size = done.history, done.state, _after(done, size, means)
            if self.first and done.changed:
                break
        outcome = _whole(self.name, taken, start.tokens, size.tokens)
        return Compaction(history=history, state=state, outcome=outcome)


def compact(
    history: History,
    state: CompactionState,
    *,
    trigger: Trigger | None,
    step: CompactionStep,
    means: Means,
) -> Compaction:
    """Take a step where there is so much history that the trigger fires.

    `trigger` is the size beyond which it fires; None fires always. The summary counts, so what is
    measured is always what earlier compactions left. Raises `BudgetUnsatisfiable` if what must stay
    is more than there is room for.
    """
    if trigger is not None:
        size = Size.of(history, means.counter, state.summary)
        if not trigger.beyond(size):
            return unchanged(step.name, history, state, means, "the trigger does not fire")
    return step(history, state, means)


def _after(done: Compaction, size: Size, means: Means) -> Size:
    return Size.of(done.history, means.counter, done.state.summary) if done.changed else size


def _whole(name: str, taken: list[CompactionOutcome], before: int, after: int) -> CompactionOutcome:
    kinds = {outcome.kind: outcome for outcome in taken}
    order: tuple[OutcomeKind, ...] = ("compaction", "failed", "refused", "nothing")
    kind: OutcomeKind = next((k for k in order if k in kinds), "nothing")
    sources = (i for o in taken if o.kind == "compaction" for i in o.sources)
    return CompactionOutcome(
        kind=kind,
        sources=tuple(dict.fromkeys(sources)),
        before=before,
        after=after,
        detail=kinds[kind].detail if kind in kinds else "it is within its target",
        step=name,
        calls=sum(outcome.calls for outcome in taken),
        steps=tuple(taken),
    )
