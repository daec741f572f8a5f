"""Compare by LoCoMo's own token F1 (`match: locomo`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.scoring.answer_match import AnswerMatch
from memsim.scoring.locomo_f1 import locomo_f1

if TYPE_CHECKING:
    from memsim.scenario.script import Probe

LOCOMO_ENOUGH = 0.5
"""F1 from which an answer is right."""


def match(probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Compare by the F1 of the probe's LoCoMo category."""
    f1 = locomo_f1(probe.labels.get("category", "single-hop"), (expected,), answer)
    return AnswerMatch(right=f1 >= LOCOMO_ENOUGH, share=f1)
