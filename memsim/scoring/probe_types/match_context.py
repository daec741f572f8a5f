"""Look for the value in what was sent; no answer is asked for (`match: context`)."""

from __future__ import annotations

from memsim.scoring.probe_types.match_any import match

__all__ = ["match"]
