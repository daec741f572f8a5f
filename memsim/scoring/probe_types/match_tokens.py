"""Compare by content words in any order (`match: tokens`, the default)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.scoring.answer_match import AnswerMatch, match_words

if TYPE_CHECKING:
    from memsim.scenario.script import Probe


def match(_probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Compare by content words."""
    return match_words(expected, answer)
