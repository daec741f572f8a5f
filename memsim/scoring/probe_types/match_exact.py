"""Compare whole answers, word by word (`match: exact`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.scoring.answer_match import AnswerMatch
from memsim.scoring.answer_text import read_words

if TYPE_CHECKING:
    from memsim.scenario.script import Probe


def match(_probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Compare all words; case and punctuation do not count."""
    right = read_words(expected).tokens == read_words(answer).tokens
    return AnswerMatch(right=right, share=float(right))
