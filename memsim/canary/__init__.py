"""Secrets to plant and to search for, so that leaks of a memory can be counted.

`mint` makes secrets, and `Matcher` finds them in texts. `ask`, `rank` and `weigh` find out whether
a value is known without its token. `unplanted` are control secrets that must never be found.
"""

from __future__ import annotations

from memsim.canary.choice import ChoiceResult, ask, rank, weigh
from memsim.canary.decode import as_text
from memsim.canary.match import CanaryHit, Matcher, Tier
from memsim.canary.mint import Canary, fingerprint, is_control, mint, unplanted
from memsim.canary.normalise import normalise

__all__ = [
    "Canary",
    "CanaryHit",
    "ChoiceResult",
    "Matcher",
    "Tier",
    "as_text",
    "ask",
    "fingerprint",
    "is_control",
    "mint",
    "normalise",
    "rank",
    "unplanted",
    "weigh",
]
