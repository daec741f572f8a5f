"""Compare by content words in any order (`match: tokens`, the default)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.scoring.answer_match import (
    AnswerMatch,
    leading_sentences,
    length_limit,
    match_words,
    too_long,
)

if TYPE_CHECKING:
    from memsim.scenario.script import Probe


ANY_LENGTH = True


def match(probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Compare by content words; of a long answer only the first sentences are read."""
    if too_long(answer, probe.expect):
        answer = leading_sentences(answer, length_limit(probe.expect))
        if not answer:
            return AnswerMatch(right=False, share=0.0, detail="the answer is too long to tell")
    return match_words(expected, answer, probe.ask)
