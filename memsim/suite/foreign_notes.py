"""Collect what one has to know of a black box's numbers: its notes, and texts without a source."""

from __future__ import annotations

from memsim.adapters.black_box import notes_in
from memsim.trace import Trace


def notes_of(trace: Trace) -> tuple[str, ...]:
    """The notes that a strategy logged in its turns, each once."""
    return tuple(dict.fromkeys(note for turn in trace.turns for note in notes_in(turn.events)))


def credit_counts(trace: Trace) -> dict[str, int]:
    """How many texts black boxes recalled for probes, and how many could not be credited."""
    contexts = [p.context for p in trace.probes if p.inspection == "black-box" and p.context]
    texts = [m for c in contexts for s in c.sections if s.layer == "recalled" for m in s.messages]
    if not texts:
        return {}
    lost = sum(m.composed and not m.quotes and not m.derived_from for m in texts)
    return {"recalled_texts": len(texts), "uncredited": lost}
