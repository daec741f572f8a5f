"""The agent's plan, as its calls of planning tools tell it: AutoContext hints at it (1.0.12).

What these calls say is kept from the model that compresses; where the plan stands is told instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memsim.message import ToolUse, composed

if TYPE_CHECKING:
    from memsim.message import Message

HINT = "<plan_aware_hint>\n{lines}\n</plan_aware_hint>"
DONE, RUNNING = "done", "in_progress"


@dataclass(slots=True)
class Plan:
    """What the agent is about.

    Attributes:
        goal: what it is for.
        outcome: what is to come of it.
        subtasks: each with its name and state.
    """

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
        self.plan: Plan | None = None
        self._sources: list[str] = []
        self._principal = ""

    def hear(self, message: Message) -> None:
        """Take in what an agent's message does to the plan."""
        for block in message.blocks:
            if isinstance(block, ToolUse) and (act := _ACTS.get(block.name)):
                self._act(act, block.arguments, message)

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

    def _act(self, act: Any, arguments: str, message: Message) -> None:  # noqa: ANN401 - one of `_ACTS`
        try:
            given = json.loads(arguments)
            plan = act(self.plan, given)
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


def _created(_before: Plan | None, given: Any) -> Plan:  # noqa: ANN401 - what an agent wrote
    tasks = [_task(task) for task in given.get("subtasks") or []]
    goal = given.get("description") or given["name"]
    return Plan(str(goal), str(given.get("expected_outcome") or ""), tasks)


def _told(plan: Plan | None, given: Any) -> Plan:  # noqa: ANN401 - what an agent wrote
    plan = _there(plan)
    plan.goal = str(given.get("description") or given.get("name") or plan.goal)
    plan.outcome = str(given.get("expected_outcome") or plan.outcome)
    return plan


def _revised(plan: Plan | None, given: Any) -> Plan:  # noqa: ANN401 - what an agent wrote
    plan, place = _there(plan), _place(given)
    if given["action"] == "delete":
        del plan.subtasks[place]
    elif given["action"] == "add":
        plan.subtasks.insert(place, _task(given["subtask"]))
    else:
        plan.subtasks[place] = _task(given["subtask"])
    return plan


def _moved(plan: Plan | None, given: Any) -> Plan:  # noqa: ANN401 - what an agent wrote
    plan, place = _there(plan), _place(given)
    plan.subtasks[place] = (plan.subtasks[place][0], str(given["state"]))
    return plan


def _finished(plan: Plan | None, given: Any) -> Plan:  # noqa: ANN401 - what an agent wrote
    plan, place = _there(plan), _place(given)
    plan.subtasks[place] = (plan.subtasks[place][0], DONE)
    after = place + 1
    if after < len(plan.subtasks):
        plan.subtasks[after] = (plan.subtasks[after][0], RUNNING)
    return plan


def _over(_plan: Plan | None, _given: Any) -> None:  # noqa: ANN401 - what an agent wrote
    return None


_ACTS = {
    "create_plan": _created,
    "update_plan_info": _told,
    "revise_current_plan": _revised,
    "update_subtask_state": _moved,
    "finish_subtask": _finished,
    "finish_plan": _over,
}


def _there(plan: Plan | None) -> Plan:
    if plan is None:
        raise ValueError("there is no plan")
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
