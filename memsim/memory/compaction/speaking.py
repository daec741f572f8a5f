"""Who a composed message speaks as: what users said never gains authority by being summarised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memsim.memory.compaction.fences import fenced
from memsim.message import composed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.memory.compaction.shape import State
    from memsim.message import Message, Role

Voice = Literal["user", "assistant", "least", "system"]
"""Who a summary speaks as.

`user`: as the user, or as the assistant where no user's words are in it. `assistant`: always so.
`least`: as the user where nobody else's words are in it, otherwise as the assistant. `system`:
above its sources, as some published designs have it; only to measure these.
"""

AUTHORITY: dict[Role, int] = {"tool": 0, "assistant": 1, "user": 2, "system": 3}


def speaker(voice: Voice, sources: Iterable[Role]) -> Role:
    """The role of a message that was made from messages of these roles."""
    if voice in {"assistant", "system"}:
        return "system" if voice == "system" else "assistant"
    ranks = [AUTHORITY[role] for role in sources]
    most = min(ranks, default=0) if voice == "least" else max(ranks, default=0)
    return "user" if most >= AUTHORITY["user"] else "assistant"


def summary_message(state: State, voice: Voice = "user") -> Message | None:
    """The rolling summary as a message; None while there is none."""
    if not state.summary.lines:
        return None
    return composed(
        speaker(voice, state.voices),
        fenced("summary", state.summary.text),
        id=f"summary:{state.summary.compactions}",
        derived_from=state.summary.sources,
        time=state.summary.time,
    )
