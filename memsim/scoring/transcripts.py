"""Writes what an agent did with a memory's tools, round by round.

::

    "agent": [{"round": 1, "said": "Let me see.", "calls": [
                  {"tool": "memory_search", "arguments": "{...}", "outcome": "done",
                   "result": "Found 2 memories: ...", "cut": 120}]},
              {"round": 2, "said": "It is in the cupboard."}]

Rounds are counted from 1 for each message or question; round 0 is what the script calls. A `note`
tells why an agent was stopped. `cut` counts the characters of an answer that had no room. Of every
text the first 4,000 characters are kept, and it is told how many more there were. What is empty is
left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.trace import AgentRound, ToolCall

    Record = dict[str, object]

KEPT = 4_000
"""Characters that are kept of a text."""


def agent_record(rounds: Sequence[AgentRound]) -> Record:
    """The field of a turn's or a probe's record; nothing where no tools were offered."""
    return {"agent": [_round(each) for each in rounds]} if rounds else {}


def _round(each: AgentRound) -> Record:
    made: Record = {"round": each.number}
    if each.said:
        made["said"] = _kept(each.said)
    if each.calls:
        made["calls"] = [_call(call) for call in each.calls]
    if each.note:
        made["note"] = _kept(each.note)
    return made


def _call(call: ToolCall) -> Record:
    made: Record = {
        "tool": _kept(call.name),
        "arguments": _kept(call.arguments),
        "outcome": call.outcome,
    }
    if call.result:
        made["result"] = _kept(call.result)
    if call.cut:
        made["cut"] = call.cut
    return made


def _kept(text: str) -> str:
    more = len(text) - KEPT
    return text if more <= 0 else f"{text[:KEPT]} [{more:,} more characters]"
