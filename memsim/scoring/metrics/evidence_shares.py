"""Shares of a question's evidence messages that stood in its context: `evidence_recall`, ..."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, share

METRICS = {
    "evidence_recall": share("evidence messages that stood in the context in their own words"),
    "evidence_any": share("probes with at least one evidence message in the context"),
    "evidence_all": share("probes with every evidence message in the context"),
    "evidence_derived": share("evidence messages in the context only in other words"),
}
NO_EVIDENCE = "no probe has valid evidence and a context"


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """The mean of each share."""
    return {name: records.mean(name, NO_EVIDENCE) for name in METRICS}
