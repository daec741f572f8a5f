"""What compaction invariants are tried on: every step that there is, and what they have in hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from memsim.clock import Clock
from memsim.errors import BudgetUnsatisfiable
from memsim.memory.compaction import (
    Chain,
    Compaction,
    CompactionState,
    CompactionStep,
    Condense,
    Deduplicate,
    KeepRule,
    Means,
    MemoryBlobs,
    MergeAdjacent,
    Offload,
    RollingSummary,
    ShortenResults,
    Snippets,
    SummaryRequest,
    Target,
    Trim,
    plan,
)
from memsim.memory.compaction.condense import earlier_rounds, tool_runs
from memsim.message import Message, Text
from memsim.testing.case_tokens import COUNTER
from memsim.testing.check_cases import Case
from memsim.testing.model_behaviours import BehavingModel

SHORT = SummaryRequest(limit=60)


def steps(budget: int) -> dict[str, CompactionStep]:
    """Every kind of step, by name."""
    parts: dict[str, CompactionStep] = {
        "trim": Trim(to=Target(tokens=budget), firm=False),
        "merge": MergeAdjacent(),
        "condense": Condense(asking=SHORT),
        "condense tools": Condense(select=tool_runs(more_than=1), asking=SHORT, regions=9),
        "condense rounds": Condense(select=earlier_rounds, asking=SHORT, regions=9, offload=True),
        "without a model": Condense(asking=SHORT, fallback=Snippets()),
        "rolling": RollingSummary(asking=SHORT),
        "offload": Offload(over=150, preview=20),
        "shorten": ShortenResults(over=150, head=20, tail=20),
        "deduplicate": Deduplicate(least=1),
    }
    return {**parts, "chain": Chain(steps=tuple(parts.values()), to=Target(tokens=budget))}


@dataclass(slots=True)
class Bench:
    """One step, what it is given, and what came of it.

    Attributes:
        history: originals with unique ids, every result behind its call.
        done: None where it said that the budget cannot be kept.
    """

    name: str
    step: CompactionStep
    history: tuple[Message, ...]
    keep: KeepRule
    model: BehavingModel
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    done: Compaction | None = None
    refused: BudgetUnsatisfiable | None = None

    @property
    def means(self) -> Means:
        """What the step works with."""
        now = self.history[-1].time if self.history else Clock().now()
        return Means(counter=COUNTER, now=now, model=self.model, blobs=self.blobs, keep=self.keep)

    def run(self) -> Bench:
        """Take the step."""
        try:
            self.done = self.step(self.history, CompactionState(), self.means)
        except BudgetUnsatisfiable as error:
            self.refused = error
        return self

    @property
    def must_stay(self) -> tuple[Message, ...]:
        """What the rules keep byte for byte, found without the step's own plan."""
        kept = {m.id for m in self.history if m.role == "system" or m.id in self.keep.pins}
        users = [m.id for m in self.history if m.role == "user"]
        kept.update(users[-1:])
        kept.update(m.id for m in self.history[len(self.history) - self.keep.last :])
        return tuple(m for m in self.history if m.id in kept)

    @property
    def tail(self) -> tuple[Message, ...]:
        """The tail as the plan has it."""
        return self.history[plan(self.history, self.keep, COUNTER).start :]


def history_of(case: Case) -> tuple[Message, ...]:
    """A case's messages as one conversation: each call's id is its own."""
    made: list[Message] = []
    current: dict[str, str] = {}
    for message in case.messages:
        for call in message.calls:
            current[call] = f"{call}@{message.id}"
        blocks = tuple(
            block if isinstance(block, Text) else replace(block, id=current.get(block.id, block.id))
            for block in message.blocks
        )
        made.append(replace(message, blocks=blocks))
    return tuple(made)


_LATEST: list[tuple[Case, tuple[Bench, ...]]] = []
"""What came of the latest case, which many look at one after the other."""


def benches(case: Case, *names: str) -> Iterator[Bench]:
    """A case on every step, or on those that are named; each step has been taken."""
    if not _LATEST or _LATEST[0][0] is not case:
        made = tuple(bench(case, name, step).run() for name, step in steps(case.budget).items())
        _LATEST[:] = [(case, made)]
    yield from (b for b in _LATEST[0][1] if not names or b.name in names)


def forget() -> None:
    """Take the steps of the latest case anew, as whoever has changed a step needs it."""
    _LATEST.clear()


def bench(case: Case, name: str, step: CompactionStep) -> Bench:
    """A case on a step that has not been taken yet."""
    return Bench(
        name=name,
        step=step,
        history=history_of(case),
        keep=KeepRule(last=case.tail, pins=frozenset(case.pins)),
        model=BehavingModel(case.behaviour, COUNTER, Clock()),
    )
