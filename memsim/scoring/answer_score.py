"""Judge one answer by rule: whether it gives the expected value, or an outdated one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.fast_dataclass import fast_init
from memsim.scoring.answer_match import ENOUGH, AnswerMatch, occurrences, too_long
from memsim.scoring.answer_text import AnswerWords, read_words
from memsim.scoring.locomo_f1 import CATEGORIES, locomo_f1
from memsim.scoring.outcomes import Outcome, outcome_of_answer
from memsim.scoring.polarity import abstains, says_old
from memsim.scoring.probe_types import probe_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.scenario.script import Probe


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerScore:
    """The score of an answer.

    Attributes:
        score: share of the expected answer that is given, 0 to 1; None where it cannot be scored.
        locomo_f1: LoCoMo's score; None for probes without one of its categories.
        read_again: whether the first answer was wrong, and this is the one from the evidence in the
            context alone.
    """

    outcome: Outcome
    score: float | None = None
    right: bool = False
    abstained: bool = False
    locomo_f1: float | None = None
    detail: str = ""
    read_again: bool = False


def judge_answer(probe: Probe, answer: str, superseded: Sequence[str] = ()) -> AnswerScore:
    """Judge an answer by rule."""
    abstained = abstains(answer)
    f1 = _f1(probe, answer)
    if probe.unanswerable:
        outcome, detail = _judge_unanswerable(answer, abstained=abstained)
        return AnswerScore(outcome=outcome, abstained=abstained, locomo_f1=f1, detail=detail)
    if not probe.expect:
        return AnswerScore(outcome="UNSCORED", locomo_f1=f1, detail="nothing is expected")
    match = _match(probe, answer)
    old = (*probe.forbid, *superseded)
    found, as_current = _weigh(probe.expect, old, read_words(answer), match)
    return AnswerScore(
        outcome=outcome_of_answer(found=found, old_as_current=as_current),
        score=match.share if found or not match.right else 0.0,
        right=found,
        abstained=abstained and not found,
        locomo_f1=f1,
        detail="" if found else match.detail,
    )


def _judge_unanswerable(answer: str, *, abstained: bool) -> tuple[Outcome, str]:
    if abstained:
        return "ABSTAINED", ""
    if not answer.strip():
        return "UNSCORED", "the answer is empty"
    return "HALLUCINATED", ""


def _f1(probe: Probe, answer: str) -> float | None:
    category = probe.labels.get("category", "")
    if category not in CATEGORIES:
        return None
    return locomo_f1(category, probe.expect, answer)


def _match(probe: Probe, answer: str) -> AnswerMatch:
    kind = probe_type(probe.match)
    if not kind.any_length and too_long(answer, probe.expect, every=kind.needs_every):
        return AnswerMatch(right=False, share=0.0, detail="the answer is too long to tell")
    matches = [kind.match(probe, expected, answer) for expected in probe.expect]
    if kind.needs_every:
        share = sum(m.share for m in matches) / len(matches)
        missing = next((m.detail for m in matches if not m.right), "")
        return AnswerMatch(right=all(m.right for m in matches), share=share, detail=missing)
    return max(matches, key=lambda m: (m.right, m.share))


def _weigh(
    expected: Sequence[str], old: Sequence[str], given: AnswerWords, match: AnswerMatch
) -> tuple[bool, bool]:
    """Whether the expected value is given, and whether an old one is given as current."""
    current = [span for text in expected for span in occurrences(read_words(text), given)]
    stale = [s for text in old for s in _old_spans(read_words(text), expected, given, current)]
    if not stale:
        return match.right, False
    # Beside an old value a part of the current one is not enough: both may share it.
    right = match.right and (bool(current) or match.share > ENOUGH)
    if right and current and all(_inside(c, stale) for c in current):
        right = False
    as_current = any(not says_old(given, *span, loosely=right) for span in stale)
    past = [span for span in current if says_old(given, *span, loosely=False)]
    if right and as_current and current and len(past) == len(current):
        return False, True
    return right, as_current


def _old_spans(
    old: AnswerWords,
    expected: Sequence[str],
    given: AnswerWords,
    current: Sequence[tuple[int, int]],
) -> list[tuple[int, int]]:
    if any(read_words(text).stems == old.stems for text in expected):
        return []
    return [span for span in occurrences(old, given) if not _inside(span, current)]


def _inside(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in spans)
