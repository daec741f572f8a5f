"""Collect what one has to know of a black box's numbers: its notes, and texts without a source."""

from __future__ import annotations

from memsim.adapters.black_box import FOREIGN, notes_in
from memsim.trace import Trace


def notes_of(trace: Trace) -> tuple[str, ...]:
    """The notes that a strategy logged in its turns, each once."""
    return tuple(dict.fromkeys(note for turn in trace.turns for note in notes_in(turn.events)))


def credit_counts(trace: Trace) -> dict[str, int]:
    """How many texts a foreign memory recalled for probes, and how many were not credited."""
    if not any(event.kind == FOREIGN for turn in trace.turns for event in turn.events):
        return {}
    contexts = [probe.context for probe in trace.probes if probe.context]
    texts = [m for c in contexts for s in c.sections if s.layer == "recalled" for m in s.messages]
    lost = sum(m.composed and not m.quotes and not m.derived_from for m in texts)
    return {"recalled_texts": len(texts), "uncredited": lost}
