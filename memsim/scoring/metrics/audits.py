"""Scores without the gold answers and citations that an audit of the dataset found wrong."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, share, unmeasured
from memsim.scoring.metrics.answers import REASONS, UNANSWERED
from memsim.scoring.metrics.evidence_shares import NO_EVIDENCE

AUDITED_WRONG = "audited-wrong"
"""The label of a gold answer, or a citation, that an audit found wrong."""

METRICS = {
    "recall_masked": share("recall without gold answers that an audit found wrong"),
    "locomo_f1_masked": share("LoCoMo F1 without gold answers that an audit found wrong"),
    "evidence_recall_masked": share("evidence recall without citations that an audit found wrong"),
}
_MASKED = {
    "recall_masked": ("recall", "gold", UNANSWERED),
    "locomo_f1_masked": ("locomo_f1", "gold", REASONS["locomo_f1"]),
    "evidence_recall_masked": ("evidence_recall", "citation", NO_EVIDENCE),
}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """The mean of each score over the probes that the audit left in."""
    labels = {label for line in records.probes for label in line["labels"]}
    found: dict[str, Measure] = {}
    for name, (score, label, reason) in _MASKED.items():
        if label not in labels:
            found[name] = unmeasured("no audit of the dataset was given")
        else:
            kept = [x for x in records.probes if x["labels"].get(label) != AUDITED_WRONG]
            found[name] = CaseRecords(kept).mean(score, reason)
    return found
