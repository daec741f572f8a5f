"""Score a replay by rule, from its trace alone.

No model is asked. A score is a share from 0 to 1, or None when there was nothing to measure. What
could not be measured is counted as such, and is never a zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.scoring.answer_score import AnswerScore, judge_answer
from memsim.scoring.metric import Measure, Metric
from memsim.scoring.metrics import JUDGED, METRICS, summarise
from memsim.scoring.outcomes import (
    OUTCOMES,
    PASSED,
    UNMEASURED,
    WHEREABOUTS,
    Outcome,
    Reason,
    Whereabouts,
    discards,
)
from memsim.scoring.probes import ProbeScore, score_probe
from memsim.scoring.trace_records import record, turn_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memsim.trace import Trace

__all__ = [
    "JUDGED",
    "METRICS",
    "OUTCOMES",
    "PASSED",
    "SCORING_VERSION",
    "UNMEASURED",
    "WHEREABOUTS",
    "AnswerScore",
    "CaseScore",
    "Measure",
    "Metric",
    "Outcome",
    "ProbeScore",
    "Reason",
    "Whereabouts",
    "judge_answer",
    "record",
    "score_case",
    "score_probes",
    "summarise",
    "turn_record",
]

SCORING_VERSION = 1
"""Raise this number when a change gives other scores for the same trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScore:
    """The scores and metrics of a case."""

    probes: tuple[ProbeScore, ...]
    metrics: Mapping[str, Measure]
    error: str = ""

    @property
    def values(self) -> dict[str, float | None]:
        """The values of the metrics, without reasons and notes."""
        return {name: measure.value for name, measure in self.metrics.items()}


def score_probes(trace: Trace) -> tuple[ProbeScore, ...]:
    """Score each probe of a trace."""
    absent = (e.source for p in trace.probes for e in p.evidence if e.presence == "absent")
    discarded = discards(trace.turns, absent)
    return tuple(score_probe(probe, discarded) for probe in trace.probes)


def score_case(trace: Trace, probes: tuple[ProbeScore, ...] | None = None) -> CaseScore:
    """Score a case."""
    scores = score_probes(trace) if probes is None else probes
    lines = [record(t, s, "") for t, s in zip(trace.probes, scores, strict=True)]
    turns = (turn_record(turn, "") for turn in trace.turns)
    return CaseScore(probes=scores, metrics=summarise(lines, turns), error=trace.error)
