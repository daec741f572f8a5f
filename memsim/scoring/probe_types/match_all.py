"""Find every expected text as a sequence of words (`match: all`)."""

from __future__ import annotations

from memsim.scoring.probe_types.match_any import match

__all__ = ["NEEDS_EVERY", "match"]

NEEDS_EVERY = True
