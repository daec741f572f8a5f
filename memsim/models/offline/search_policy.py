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
    from memsim.models.offline.tool_results import ContextReference

_BEHIND: Final = 0.6
"""Share of a question's words that must stand beside a reference, for what is behind it."""


def search_calls(turn: AgentTurn) -> list[PlannedCall]:
    """The next calls for a message that asks something."""
    question = " ".join(turn.questions)
    if turn.request.round == 0:
        near = [
            page_call(usage, ref.reference)
            for usage in turn.of("reload")[:1]
            for ref in _wanted(turn)
        ]
        first = near or [find_call(usage, question) for usage in turn.of("search")[:1]]
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
    """The next search tool that was not used yet, or else the whole list."""
    used = {call.usage.tool.name for call in turn.done}
    left = [u for u in (*turn.of("search"), *turn.of("list")) if u.tool.name not in used]
    return [find_call(usage, question) for usage in left[:1]]


def _wanted(turn: AgentTurn) -> list[ContextReference]:
    """The reference whose surroundings speak of the question, or nothing."""
    asked = frozenset(content(" ".join(turn.questions)))
    least = max(1.0, _BEHIND * len(asked))
    shown = turn.messages[: turn.at]
    found = [r for r in context_references(shown) if shared_words(r.beside, asked) >= least]
    return sorted(found, key=lambda r: -shared_words(r.beside, asked))[:1]


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
