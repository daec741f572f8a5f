"""Score one probe: its outcome, the reason, and its scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memsim.fast_dataclass import fast_init
from memsim.scenario.script import IN_CONTEXT
from memsim.scoring.answer_score import AnswerScore, judge_answer
from memsim.scoring.context_scores import Leak, Retention, answer_in_context, leaks, retained
from memsim.scoring.evidence import Ranks, evidence_scores, rank_scores, ranks
from memsim.scoring.outcomes import PASSED, UNMEASURED, Outcome, reason_of, whereabouts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memsim.scoring.outcomes import Reason, Whereabouts
    from memsim.trace import ProbeTrace, Trace


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeScore:
    """The score of one probe.

    Attributes:
        reason: why it failed, in one word; None when it did not, or its evidence cannot tell.
        whereabouts: where its evidence was; None without evidence.
        scores: by metric name, 0 to 1; None where it could not be scored. Those of a ranking are
            there only where something was ranked.
        ranks: where a ranker put the evidence; None where nothing was ranked.
        read_again: whether the first answer was wrong, and the answer from the evidence in the
            context alone was right and counts.
    """

    outcome: Outcome
    reason: Reason | None = None
    whereabouts: Whereabouts | None = None
    detail: str = ""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    leaks: tuple[Leak, ...] = ()
    retained: tuple[Retention, ...] = ()
    ranks: Ranks | None = None
    read_again: bool = False

    @property
    def passed(self) -> bool:
        """Whether the answer is right, or rightly says that it is unknown."""
        return self.outcome in PASSED


def score_probes(trace: Trace) -> tuple[ProbeScore, ...]:
    """Score each probe of a trace."""
    return tuple(score_probe(probe, trace.discarded) for probe in trace.probes)


def score_probe(trace: ProbeTrace, discarded: Mapping[str, str]) -> ProbeScore:
    """Score one probe."""
    judged = _judge(trace)
    visible = leaks(trace)
    kept = retained(trace)
    outcome = _worst_outcome(judged.outcome, leaked=bool(visible), kept=bool(kept))
    found = ranks(trace)
    shown = _answer_shown(trace)
    failed = outcome not in PASSED and outcome not in UNMEASURED
    told = failed and judged.outcome not in {"HALLUCINATED", "PASS", "ABSTAINED"}
    return ProbeScore(
        outcome=outcome,
        reason=reason_of(trace, discarded, value_shown=shown) if told else None,
        whereabouts=whereabouts(trace),
        detail=judged.detail,
        scores={
            **_answer_scores(trace, judged),
            "answer_in_context": None if shown is None else float(shown),
            **evidence_scores(trace),
            **(rank_scores(found) if found else {}),
            "confidence": None if trace.context is None else trace.context.confidence,
            "leaks": float(bool(visible)) if trace.hidden and trace.context else None,
            **_forgetting_scores(trace, judged.outcome, kept=bool(kept), visible=visible),
        },
        leaks=visible,
        retained=kept,
        ranks=found,
        read_again=judged.read_again,
    )


def _worst_outcome(judged: Outcome, *, leaked: bool, kept: bool) -> Outcome:
    if leaked:
        return "LEAK"
    return "RETAINED" if kept and judged not in UNMEASURED else judged


def _forgetting_scores(
    trace: ProbeTrace, judged: Outcome, *, kept: bool, visible: tuple[Leak, ...]
) -> dict[str, float | None]:
    """Right use, and use of what is no longer valid, where something asked for is not valid.

    That is a replaced value, a fact to be forgotten, or one that was not to be remembered.
    """
    asked = trace.probe.facts
    forgotten = {
        f.id for f in trace.hidden if f.id in asked and f.principal == trace.probe.principal
    }
    measured = judged not in UNMEASURED and trace.context is not None
    barred = float(kept) if trace.barred and measured else None
    if not (measured and (trace.superseded or trace.barred or forgotten)):
        return {"valid_use": None, "invalid_use": None, "retained": barred}
    leaked = any(leak.fact in forgotten for leak in visible)
    invalid = (
        kept
        or leaked
        or judged in {"STALE", "MIXED"}
        or (judged == "HALLUCINATED" and bool(forgotten))
    )
    valid = judged in PASSED and not invalid
    return {"valid_use": float(valid), "invalid_use": float(invalid), "retained": barred}


def counted_answer(trace: ProbeTrace) -> str:
    """The answer that counts: the second one where it alone is right, else the first."""
    second = trace.answer_again if _judge(trace).read_again else None
    return second or trace.answer or ""


_LED_ASTRAY: frozenset[Outcome] = frozenset({"MISS", "STALE", "MIXED"})
"""Outcomes of a first answer after which the second one may count."""


def _judge(trace: ProbeTrace) -> AnswerScore:
    if trace.probe.match == IN_CONTEXT and not trace.error and trace.context is not None:
        return _search(trace)
    if trace.error or trace.context is None or trace.answer is None:
        return AnswerScore(outcome="ERROR", detail=trace.error or "there is no answer")
    first = judge_answer(trace.probe, trace.answer, trace.superseded)
    if first.outcome not in _LED_ASTRAY or trace.answer_again is None:
        return first
    again = judge_answer(trace.probe, trace.answer_again, trace.superseded)
    if again.outcome != "PASS":
        return first
    return replace(again, locomo_f1=first.locomo_f1, read_again=True)


def _search(trace: ProbeTrace) -> AnswerScore:
    """Whether the context holds a message of the evidence, or the value in a text made from one."""
    there = [piece for piece in trace.evidence if piece.presence != "absent"]
    verbatim = any(piece.verbatim for piece in there)
    right = verbatim or (bool(there or not trace.evidence) and bool(_answer_shown(trace)))
    return AnswerScore(outcome="PASS" if right else "MISS", score=float(right), right=right)


def _answer_shown(trace: ProbeTrace) -> bool | None:
    probe = trace.probe
    if trace.context is None or probe.unanswerable or not probe.expect:
        return None
    return answer_in_context(probe, trace.context)


def _answer_scores(trace: ProbeTrace, judged: AnswerScore) -> dict[str, float | None]:
    scores: dict[str, float | None] = dict.fromkeys(
        ("recall", "answer_share", "locomo_f1", "stale", "false_answers", "false_abstentions")
    )
    if judged.outcome in UNMEASURED:
        return scores
    scores["locomo_f1"] = judged.locomo_f1
    if trace.probe.unanswerable:
        scores["false_answers"] = float(judged.outcome == "HALLUCINATED")
        return scores
    scores["recall"] = float(judged.outcome == "PASS")
    scores["answer_share"] = judged.score
    scores["false_abstentions"] = float(judged.abstained)
    if trace.superseded or trace.probe.forbid:
        scores["stale"] = float(judged.outcome in {"STALE", "MIXED"})
    return scores
