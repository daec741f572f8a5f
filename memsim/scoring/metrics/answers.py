"""Shares of probes by their answers, such as `recall`: by rule, without a model."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, share

METRICS = {
    "recall": share("answerable probes answered rightly, nothing forbidden given"),
    "answer_share": share("part of the expected answer that was given"),
    "locomo_f1": share("LoCoMo's token F1, on probes with one of its categories"),
    "answer_in_context": share("probes whose expected answer stood in the context"),
    "stale": share("probes of changed facts answered with an old value as current", "lower"),
    "false_answers": share("unanswerable probes that were answered all the same", "lower"),
    "false_abstentions": share("answerable probes answered by not knowing", "lower"),
}
UNANSWERED = "no answerable probe was answered"
REASONS = {
    "stale": "no probe asks for a fact that has an old value",
    "locomo_f1": "no probe has one of LoCoMo's categories",
    "false_answers": "no unanswerable probe was answered",
    "answer_in_context": "no context was given for an answerable probe",
}
"""Why a score has no value, where it is not `UNANSWERED`."""


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """The mean of each score."""
    return {name: records.mean(name, REASONS.get(name, UNANSWERED)) for name in METRICS}
