"""Steps one after the other until there is little enough, and the trigger that starts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.compaction.outcome import Outcome
from memsim.memory.compaction.shape import Compaction, Means, State, Step, unchanged
from memsim.memory.compaction.sizes import Size
from memsim.memory.compaction.trigger import Target, Trigger

if TYPE_CHECKING:
    from memsim.memory.compaction.outcome import Kind
    from memsim.memory.compaction.shape import History


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Takes one step after the other, and none once the history is within its target.

    Where the target must be met, the last step is a `Trim` to it.

    Attributes:
        steps: gentlest first.
        to: the target; a chain without one takes every step.
        first: stop after the first step that changed something, as AgentScope does.
    """

    steps: tuple[Step, ...]
    to: Target | None = None
    first: bool = False
    name: str = "chain"

    def __call__(self, history: History, state: State, means: Means) -> Compaction:
        """Take the steps, as `Step` has it; raises what they raise, and changes nothing then."""
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
    history: History, state: State, *, trigger: Trigger | None, step: Step, means: Means
) -> Compaction:
    """Take a step where there is so much history that the trigger fires.

    Args:
        history: the messages as they are now, oldest first.
        state: what came of earlier compactions.
        trigger: beyond which size; the summary counts, so what is measured is always what earlier
            compactions left. None fires always.
        step: what to do then.
        means: what to work with.

    Raises:
        BudgetUnsatisfiable: what must stay is more than there is room for.
    """
    if trigger is not None:
        size = Size.of(history, means.counter, state.summary)
        if not trigger.beyond(size):
            return unchanged(step.name, history, state, means, "the trigger does not fire")
    return step(history, state, means)


def _after(done: Compaction, size: Size, means: Means) -> Size:
    return Size.of(done.history, means.counter, done.state.summary) if done.changed else size


def _whole(name: str, taken: list[Outcome], before: int, after: int) -> Outcome:
    kinds = {outcome.kind: outcome for outcome in taken}
    order: tuple[Kind, ...] = ("compaction", "failed", "refused", "nothing")
    kind: Kind = next((k for k in order if k in kinds), "nothing")
    sources = (i for o in taken if o.kind == "compaction" for i in o.sources)
    return Outcome(
        kind=kind,
        sources=tuple(dict.fromkeys(sources)),
        before=before,
        after=after,
        detail=kinds[kind].detail if kind in kinds else "it is within its target",
        step=name,
        calls=sum(outcome.calls for outcome in taken),
        steps=tuple(taken),
    )
