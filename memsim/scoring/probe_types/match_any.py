"""Find one of the expected texts as a sequence of words (`match: any`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.scoring.answer_match import AnswerMatch, match_sequence

if TYPE_CHECKING:
    from memsim.scenario.script import Probe


def match(_probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Find one expected text."""
    return match_sequence(expected, answer)
