"""What a mode tracks of itself: tasks, goals, decisions and so on, told from how they are said.

The document says that they are tracked, and not how; this is one way of doing so by rule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.models.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memsim.memory.systems.cogtrix.code import CodeState
    from memsim.memory.systems.cogtrix.reasoning import ReasoningState

LONGEST = 160
"""Characters of what is noted."""

_FIRST = r"(?:(?:please|now|next|then|ok(?:ay)?|so)[,:]?\s+)*"
_TASK = re.compile(
    rf"^{_FIRST}(?:(?:can|could|would) you\s+)?(?:please\s+)?"
    r"((?:fix|implement|add|refactor|debug|write|build|migrate|update"
    r"|rename|remove|investigate|find out|make)\b.+)",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"^(?:(?:ok(?:ay)?|done|right|so)[,.:]?\s+)?(?:(?:I|we)(?:'ve| have|'ve now)?\s+(?:just\s+)?)?"
    r"((?:fixed|added|implemented|modified|updated|identified|found|refactored|removed|wrote"
    r"|created|renamed|reproduced|reverted|patched|changed)\b.+)",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"^(?:modified|updated|created|changed|patched|renamed|added)\b", re.IGNORECASE
)
_BLOCKER = re.compile(
    r"\b(?:blocked (?:by|on)|waiting for|cannot proceed until)\s+(.+)", re.IGNORECASE
)

_OBJECTIVE = re.compile(
    r"\b(?:(?:our|my|the)\s+(?:main\s+|overall\s+|primary\s+)?(?:goal|objective|aim)\s+(?:is|:)"
    r"|(?:goal|objective):)\s*(?:to\s+)?(.+)",
    re.IGNORECASE,
)
_GOAL = re.compile(
    r"\b(?:sub-?goal|milestone|to-?do|step \d+)\s*(?:\d+\s*)?(?:is|:)\s*(.+)", re.IGNORECASE
)
_PHASE = re.compile(
    r"\b(?:phase)\s*(?:is|:)\s*(.+)|\b(?:in|into|enter) the (\w+) phase\b", re.IGNORECASE
)
_DECISION = re.compile(
    r"(?:\bdecision:|\b(?:I|we)(?:'ve|'ll| have| will)?\s+(?:decided?|decide)\s+(?:to|on|for|that)"
    r"|\b(?:let's|we(?:'ll| will)?|I(?:'ll| will)?)\s+(?:go|going) with"
    r"|\b(?:we|I)\s+(?:chose|choose|pick(?:ed)?|settled? on|agreed? on))\s*(.+)",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"[,;]?\s+(?:because|since|as it|so that|rationale:)\s+(.+)", re.IGNORECASE)
_CONSTRAINT = re.compile(
    r"\bconstraint\b|\bbudget is\b|\bdeadline is\b|\bat most\b|\bno more than\b|\bmust\b"
    r"|\bcan(?:no|')t exceed\b|\bnon-negotiable\b|\bteam (?:is|of)\b|\btimeline\b|\bnever\b",
    re.IGNORECASE,
)
_FIRM = re.compile(r"\bmust\b|\bnever\b|\bnon-negotiable\b", re.IGNORECASE)
_BUSINESS = re.compile(
    r"budget|deadline|timeline|team|cost|price|month|week|quarter|[$€£]\s?\d", re.IGNORECASE
)
_ALTERNATIVE = re.compile(
    r"\b(?:option(?:\s+(?:\w|\d+))?|alternative)\s*(?::|is)\s*(.+)"
    r"|\b(?:we could|alternatively,?(?: we could)?|consider(?:ing)?)\s+(.+)",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"\b(?:ruled? out|reject(?:ed)?|dead end|won't work|not an option)\b", re.IGNORECASE
)
_ASSUMPTION = re.compile(r"\bassum(?:e|ing|ption)(?:\s+is)?(?:\s+that|:)?\s+(.+)", re.IGNORECASE)


def track_code(
    state: CodeState, text: str, sources: tuple[str, ...], now: datetime, *, user: bool
) -> None:
    """Note the task that a user sets, and the steps that an assistant tells of."""
    for said in _sentences(text):
        if user:
            task = _TASK.match(said)
            if task and not said.endswith("?"):
                state.set_task(_short(task[1]), now, sources)
        elif step := _STEP.match(said):
            state.add_progress(_short(step[1]), sources)
            if _CHANGE.match(step[1]):
                state.record_change(_short(step[1]), now, sources)
        if blocker := _BLOCKER.search(said):
            state.add_blocker(_short(blocker[1]), sources)


def track_reasoning(
    state: ReasoningState, text: str, sources: tuple[str, ...], now: datetime
) -> None:
    """Note objective, goals, decisions, constraints, alternatives and assumptions."""
    for said in _sentences(text):
        if said.endswith("?"):
            continue
        _track_aims(state, said, sources)
        if found := _DECISION.search(said):
            decision, why = _parted(found[1])
            state.log_decision(f"D{len(state.decisions) + 1}", decision, why, now, sources)
        elif _REJECTED.search(said):
            state.mark_dead_end(_short(said), sources)
        elif _CONSTRAINT.search(said):
            state.add_constraint(_category(said), _short(said), sources)
        elif found := _ALTERNATIVE.search(said):
            state.add_alternative(_short(found[1] or found[2]), sources=sources)
        if found := _ASSUMPTION.search(said):
            state.add_assumption(_short(found[1]), sources)


def _track_aims(state: ReasoningState, said: str, sources: tuple[str, ...]) -> None:
    if found := _OBJECTIVE.search(said):
        state.set_objective(_short(found[1]), sources)
    elif found := _GOAL.search(said):
        state.add_goal(f"G{len(state.goals) + 1}", _short(found[1]), sources=sources)
    if found := _PHASE.search(said):
        state.set_single("phase", _short(found[1] or found[2]), sources)


def _category(said: str) -> str:
    if _BUSINESS.search(said):
        return "business"
    return "non_negotiables" if _FIRM.search(said) else "technical"


def _parted(text: str) -> tuple[str, str]:
    reason = _BECAUSE.search(text)
    if reason is None:
        return _short(text), ""
    return _short(text[: reason.start()]), _short(reason[1])


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from sentences(line)


def _short(text: str) -> str:
    return text.strip().rstrip(".!;,")[:LONGEST]
