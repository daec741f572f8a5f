"""The agent of the offline model: uses any memory's tools by fixed rules.

What it does for the latest user message, round by round:

=============  =====================================================================================
message        rounds
=============  =====================================================================================
statements     store them; a dated one goes to the day's page, several to a tool that takes a list,
               a standing instruction to the notes of the conversation as well
correction     search what it replaces; look it up by its key; update it, or store the new statement
               and forget the old one
forget         search what is meant; look it up by its key; forget it
question       reload what a reference in the context stands for, if the words beside it tell of
               the question, else search; without an answer, read the notes, search the earlier
               sessions, read on in what was reloaded, and use other searches if nothing was found;
               look up what was shown in part
=============  =====================================================================================

After at most `STEPS` rounds of at most `CALLS` calls it answers from all that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from memsim.models.offline.agent_turn import AgentTurn
from memsim.models.offline.planned_call import PlannedCall, tool_use
from memsim.models.offline.search_policy import search_calls
from memsim.models.offline.store_policy import forget_calls, keep_calls
from memsim.models.offline.tool_purpose import WRITING

if TYPE_CHECKING:
    from memsim.message import Message, ToolUse
    from memsim.models import Request

STEPS: Final = 3
"""Rounds of calls for one message; the round after them answers."""

CALLS: Final = 4
"""Calls of one round."""

NOTED: Final = "Noted."
"""The reply if there is nothing to store, to search or to answer."""


class AgentAction(NamedTuple):
    """A step of the agent: words, calls, and the messages on which the words are based."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    sources: tuple[str, ...] = ()


def act(request: Request) -> AgentAction:
    """The next step after the last user message: tool calls, or an answer after their results."""
    at = _last_user(request.messages, request.round)
    if at is None:
        return AgentAction(NOTED)
    turn = AgentTurn(request, at)
    # A script may have gone on: what was said before its calls was worked on then.
    went_on = any(m.calls for m in turn.messages[at + 1 :])
    calls = [] if went_on or request.round >= STEPS else _next_calls(turn)
    if calls:
        return AgentAction("", tuple(tool_use(call, turn.message) for call in calls[:CALLS]))
    said = turn.answer
    return AgentAction(said.text, sources=said.sources) if said else AgentAction(NOTED)


def _last_user(messages: Sequence[Message], rounds: int) -> int | None:
    end = len(messages) - 2 * rounds
    return next((n for n in range(end - 1, -1, -1) if messages[n].role == "user"), None)


def _next_calls(turn: AgentTurn) -> list[PlannedCall]:
    if any(usage.purpose in WRITING for usage in turn.usages):
        if turn.to_forget:
            return forget_calls(turn)
        if turn.facts:
            return keep_calls(turn)
    return search_calls(turn) if turn.questions else []
