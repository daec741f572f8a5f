"""Count the texts that a foreign memory recalled, and those without a source."""

from __future__ import annotations

from memsim.trace import Trace


def credit_counts(trace: Trace, *, foreign: bool) -> dict[str, int]:
    """How many texts a foreign memory recalled for probes, and how many were not credited."""
    if not foreign:
        return {}
    contexts = [probe.context for probe in trace.probes if probe.context]
    texts = [m for c in contexts for s in c.sections if s.layer == "recalled" for m in s.messages]
    lost = sum(m.composed and not m.quotes and not m.derived_from for m in texts)
    return {"recalled_texts": len(texts), "uncredited": lost}
