"""AgentScope's short-term memory: a list of messages, and the one that compresses itself.

The package's `AutoContextMemory` has two lists, the working one that is compressed and the original
one that only grows; the document's replaces its list. `InMemoryMemory` has no compression.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from memsim.memory.codec import JSON, pack, reading, unpack
from memsim.memory.compaction import CompactionState, MemoryBlobs, forget
from memsim.memory.history.window import Window
from memsim.message import Message, TokenCounter, ToolUse, composed
from memsim.models import Model
from memsim.systems.agentscope.compression import Compression, CompressionEvent, CompressionResult
from memsim.systems.agentscope.compression_families import is_final
from memsim.systems.agentscope.offloads import BlobDraft, reload_messages

# The agent's plan, as its calls of planning tools tell it: AutoContext hints at it (1.0.12).

HINT = "<plan_aware_hint>\n{lines}\n</plan_aware_hint>"
DONE, RUNNING = "done", "in_progress"


@dataclass(slots=True)
class AgentPlan:
    """The agent's goal, its expected outcome, and subtasks with their states."""

    goal: str = ""
    outcome: str = ""
    subtasks: list[tuple[str, str]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Where it stands."""
        yield f"Goal: {self.goal}"
        running = [name for name, state in self.subtasks if state == RUNNING]
        if running:
            yield f"Current Progress: {', '.join(running)}"
        done = sum(state == DONE for _, state in self.subtasks)
        yield f"Progress: {done}/{len(self.subtasks)} subtasks completed"
        if self.outcome:
            yield f"Expected Outcome: {self.outcome}"


class PlanNotebook:
    """The plan that there is, by the calls that were made; a call that makes no sense is none."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """There is no plan."""
        self.plan: AgentPlan | None = None
        self._sources: list[str] = []
        self._principal = ""

    def hear(self, message: Message) -> None:
        """Take in what an agent's message does to the plan."""
        for block in message.blocks:
            if isinstance(block, ToolUse) and block.name in PLAN_CALLS:
                self._act(block.name, block.arguments, message)

    def reread(self, messages: Iterable[Message]) -> None:
        """Begin anew with these messages."""
        self.clear()
        for message in messages:
            self.hear(message)

    def hint(self) -> tuple[Message, ...]:
        """What the model is told of the plan; nothing where there is none."""
        if self.plan is None:
            return ()
        text = HINT.replace("{lines}", "\n".join(self.plan.lines()))
        told = composed(
            "user", text, id="plan", derived_from=tuple(self._sources), principal=self._principal
        )
        return (told,)

    def _act(self, call: str, arguments: str, message: Message) -> None:
        try:
            plan = _changed_plan(call, self.plan, json.loads(arguments))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            return
        if plan is None:
            self.clear()
            return
        if plan is not self.plan:
            self._sources.clear()
        self.plan = plan
        self._sources.append(message.id)
        self._principal = message.principal


PLAN_CALLS = frozenset(
    {
        "create_plan",
        "update_plan_info",
        "revise_current_plan",
        "update_subtask_state",
        "finish_subtask",
        "finish_plan",
    }
)


def _changed_plan(call: str, plan: AgentPlan | None, given: Any) -> AgentPlan | None:  # noqa: ANN401 - what an agent wrote
    """The plan after a call; None where that ends it."""
    if call == "finish_plan":
        return None
    if call == "create_plan":
        tasks = [_task(task) for task in given.get("subtasks") or []]
        goal = given.get("description") or given["name"]
        return AgentPlan(str(goal), str(given.get("expected_outcome") or ""), tasks)
    if plan is None:
        raise ValueError("there is no plan")
    if call == "update_plan_info":
        plan.goal = str(given.get("description") or given.get("name") or plan.goal)
        plan.outcome = str(given.get("expected_outcome") or plan.outcome)
        return plan
    place, tasks = _place(given), plan.subtasks
    if call == "update_subtask_state":
        tasks[place] = (tasks[place][0], str(given["state"]))
    elif call == "finish_subtask":
        tasks[place] = (tasks[place][0], DONE)
        if place + 1 < len(tasks):
            tasks[place + 1] = (tasks[place + 1][0], RUNNING)
    elif given["action"] == "delete":
        del tasks[place]
    elif given["action"] == "add":
        tasks.insert(place, _task(given["subtask"]))
    else:
        tasks[place] = _task(given["subtask"])
    return plan


def _place(given: Any) -> int:  # noqa: ANN401 - what an agent wrote
    place = given["subtask_idx"]
    if type(place) is not int or place < 0:
        raise ValueError(place)
    return place


def _task(told: Any) -> tuple[str, str]:  # noqa: ANN401 - what an agent wrote
    if isinstance(told, str):
        return told, "todo"
    return str(told["name"]), str(told.get("state") or "todo")


@dataclass(frozen=True, slots=True)
class ShortTermDraft:
    """A compression that is computed and not yet adopted."""

    done: CompressionResult
    blobs: BlobDraft
    window: Window

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the messages that were taken out or shortened."""
        return self.done.sources

    @property
    def detail(self) -> str:
        """What was done, in a phrase."""
        kinds = dict.fromkeys(event.event_type for event in self.done.events)
        return ", ".join(kinds) or self.done.detail


class ShortTermMemory:
    """Messages in order, compressed when they are too many if there is a `compressing`."""

    def __init__(
        self,
        counter: TokenCounter,
        compressing: Compression | None = None,
        plans: PlanNotebook | None = None,
    ) -> None:
        self._counter = counter
        self._compressing = compressing
        self.plans = plans or PlanNotebook()
        self.clear_all()

    def clear_all(self) -> None:
        """Forget everything, offloaded content and events too."""
        self.state = CompactionState()
        self.blobs = MemoryBlobs()
        self.events: list[CompressionEvent] = []
        self.revision = 0
        self.clear()

    def add_message(self, message: Message) -> None:
        """Add a message."""
        self.revision += 1
        self.window.add(message)
        if self._compressing is not None:
            self._estimate += self._compressing.counter.message(message)
            if self._compressing.families:
                self.original.append(message)
                self.plans.hear(message)

    def get_messages(self) -> tuple[Message, ...]:
        """The working messages; getting them compresses nothing."""
        return tuple(self.window)

    def delete_message(self, index: int) -> None:
        """Delete a working message by its place; a place that there is not is ignored."""
        messages = list(self.window)
        if 0 <= index < len(messages):
            del messages[index]
            self._put(messages)

    def clear(self) -> None:
        """Clear both lists; offloaded content and events stay."""
        self.original: list[Message] = []
        self.plans.clear()
        self._put([])

    def reload(self, uuid: str) -> tuple[Message, ...]:
        """The messages that were offloaded under a uuid; none where there are none."""
        return reload_messages(uuid, self.blobs)

    def interaction_messages(self) -> tuple[Message, ...]:
        """What users said and what they were finally answered, of all that ever was."""
        return tuple(m for m in self.original if m.role == "user" or is_final(m))

    @property
    def tokens(self) -> int:
        """The estimate of the working messages."""
        return self._estimate

    def compress_if_needed(self, model: Model, now: Callable[[], datetime]) -> bool:
        """Compress where there is too much; whether anything changed."""
        drafted = self.draft(model, now)
        if drafted is None:
            return False
        self.adopt(drafted)
        return drafted.done.changed

    def draft(self, model: Model, now: Callable[[], datetime]) -> ShortTermDraft | None:
        """What a compression would come to, with nothing changed; None where none is due."""
        compressing = self._compressing
        if compressing is None or not compressing.is_due(len(self.window), self._estimate):
            return None
        blobs = BlobDraft(self.blobs)
        done = compressing(self.get_messages(), self.state, model=model, blobs=blobs, now=now)
        return ShortTermDraft(
            done, blobs, self._window(done.history) if done.changed else self.window
        )

    def adopt(self, drafted: ShortTermDraft) -> None:
        """Make a draft the memory; it is of the messages as they are now."""
        self.state = drafted.done.state
        if drafted.done.changed:
            drafted.blobs.adopt()
            self.events.extend(drafted.done.events)
            self._put(drafted.done.history)

    def remove(self, ids: Collection[str]) -> tuple[str, ...]:
        """Take messages out of everything, and what was made from them; ids of what is gone."""
        known = {m.id for m in self.original} | {m.id for m in self.window}
        left = forget(self.get_messages(), self.state, ids, self.blobs)
        if left.removed or left.blobs:
            self.state = left.state
            self._put(left.history)
        self.original = [m for m in self.original if m.id not in ids]
        self.plans.reread(self.original)
        return tuple(i for i in ids if i in known)

    def save(self) -> dict[str, JSON]:
        """The whole state as JSON values."""
        return {
            "working": self.window.save(),
            "original": pack(self.original),
            "state": self.state.save(),
            "offloads": self.blobs.save(),
            "events": [asdict(event) for event in self.events],
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Take over a saved state in place of the present one.

        Raises:
            StateError: it is no such state.
        """
        with reading("a short-term memory is damaged"):
            self.clear_all()
            self._put(unpack(saved["working"]))
            self.original = unpack(saved["original"])
            self.plans.reread(self.original)
            self.state = CompactionState.loaded(saved["state"])
            self.blobs.load(saved["offloads"])
            self.events = [CompressionEvent(**event) for event in saved["events"]]

    def _put(self, messages: Collection[Message]) -> None:
        self.revision += 1
        self.window = self._window(messages)
        counts = self._compressing.counter if self._compressing is not None else None
        self._estimate = 0 if counts is None else counts.messages(messages)

    def _window(self, messages: Collection[Message]) -> Window:
        window = Window(self._counter)
        for message in messages:
            window.add(message)
        return window

    def __iter__(self) -> Iterator[Message]:
        return iter(self.window)
