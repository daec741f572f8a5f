"""Compare numbers by value, within a tolerance (`match: number`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.scoring.answer_match import MOST_VALUES, AnswerMatch
from memsim.scoring.answer_text import AnswerWords, read_words
from memsim.scoring.polarity import denied

if TYPE_CHECKING:
    from memsim.scenario.script import Probe

_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "bn": 1e9}
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(k|m|bn?)?")


def match(probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Compare as numbers."""
    return match_number(expected, answer, tolerance=probe.tolerance, asked=probe.ask)


def match_number(expected: str, answer: str, *, tolerance: float, asked: str = "") -> AnswerMatch:
    """Compare as numbers.

    Args:
        expected: a text with one number.
        answer: may say more; numbers of the question do not count unless they are the expected one.
        tolerance: allowed difference, as a share of the expected number.
        asked: the question.
    """
    wanted = _numbers(read_words(expected), ())
    if not wanted:
        return AnswerMatch(right=False, share=0.0, detail=f"{expected!r} is no number")
    given = read_words(answer)
    found = _numbers(given, denied(given))
    close = [n for n in found if abs(n - wanted[0]) <= tolerance * abs(wanted[0])]
    others = set(found) - set(_numbers(read_words(asked), ()))
    if len(others - set(close)) + 1 > MOST_VALUES:
        return AnswerMatch(right=False, share=0.0, detail=f"offers {len(others)} numbers")
    return AnswerMatch(right=bool(close), share=float(bool(close)))


def _numbers(words: AnswerWords, hidden: frozenset[int] | tuple[()]) -> list[float]:
    found = []
    for place, token in enumerate(words.tokens):
        match = _NUMBER.fullmatch(token)
        if match and place not in hidden and len(token) <= 20:
            found.append(float(match.group(1)) * _SCALES.get(match.group(2) or "", 1.0))
    return found
