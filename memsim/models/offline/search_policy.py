"""How the offline agent looks for an answer: the ways to it, the cheapest first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from memsim.language.text import content
from memsim.models import IDK
from memsim.models.offline.agent_turn import shown_entries
from memsim.models.offline.planned_call import (
    PlannedCall,
    find_call,
    key_call,
    notes_call,
    page_call,
)
from memsim.models.offline.tool_results import context_references, next_place, shared_words
from memsim.models.offline.tool_schema import parameters

if TYPE_CHECKING:
    from memsim.models.offline.agent_turn import AgentTurn

_BEHIND: Final = 0.4
"""Share of a question's words that must stand beside a reference, for what is behind it."""


def search_calls(turn: AgentTurn) -> list[PlannedCall]:
    """The next calls for a message that asks something."""
    question = " ".join(turn.questions)
    if turn.request.round == 0:
        # What a reference stands for is one text, and a search gives pieces of many.
        first = _behind_references(turn) or [find_call(u, question) for u in turn.of("search")[:1]]
        if first:
            return first
    if turn.answer is None or turn.is_answered:
        return []
    if turn.answer.text != IDK and (whole := _look_up(turn)):
        return whole
    if not any(call.purpose in {"read notes", "search sessions"} for call in turn.done):
        more = [
            *_reading_on(turn),
            *(notes_call(usage) for usage in turn.of("read notes")[:1]),
            *(find_call(usage, question) for usage in turn.of("search sessions")[:1]),
        ]
        if more:
            return [*more, *_search_more(turn, question)]
    return [*_reading_on(turn), *_look_up(turn), *_search_more(turn, question)]


def _search_more(turn: AgentTurn, question: str) -> list[PlannedCall]:
    """The next search tool that was not used yet, or else the whole list.

    Where a search found something, another over the same memory would give it once more.
    """
    if any(call.found_something for call in turn.tried("search")):
        return []
    used = {call.usage.tool.name for call in turn.done}
    left = [u for u in (*turn.of("search"), *turn.of("list")) if u.tool.name not in used]
    return [find_call(usage, question) for usage in left[:1]]


def _behind_references(turn: AgentTurn) -> list[PlannedCall]:
    """Reload what stands behind a reference, if the words beside it speak of the question."""
    asked = frozenset(content(" ".join(turn.questions)))
    shown = context_references(turn.messages[: turn.at])
    best = max(shown, key=lambda r: shared_words(r.beside, asked), default=None)
    if best is None or shared_words(best.beside, asked) < max(1.0, _BEHIND * len(asked)):
        return []
    return [page_call(usage, best.reference) for usage in turn.of("reload")[:1]]


def _reading_on(turn: AgentTurn) -> list[PlannedCall]:
    reloaded = turn.tried("reload")
    place = next_place(reloaded[-1].text) if reloaded else None
    if place is None:
        return []
    usage, used = reloaded[-1].usage, json.loads(reloaded[-1].arguments)
    named = (p.name for p in parameters(usage.tool) if p.role in {"reference", "key"})
    reference = next((str(used[n]) for n in named if n in used), "")
    return [page_call(usage, reference, place)]


def _look_up(turn: AgentTurn) -> list[PlannedCall]:
    """The entry that was shown in part and speaks of the question most, by its key."""
    get = turn.of("get")[:1]
    asked = frozenset(content(" ".join(turn.questions)))
    cut = [e for e in shown_entries(turn) if e.cut and shared_words(e.text, asked)]
    best = max(cut, key=lambda e: shared_words(e.text, asked), default=None)
    if best is None or turn.tried("get"):
        return []
    return [key_call(usage, best) for usage in get]
