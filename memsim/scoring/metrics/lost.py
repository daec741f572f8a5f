"""Pieces of evidence that were not in the context of a question (`lost`)."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, amount, measured, unmeasured
from memsim.scoring.metrics.evidence_shares import NO_EVIDENCE

METRICS = {"lost": amount("pieces of evidence that were not in the context of a question", "count")}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Count a piece once, however many probes ask for it."""
    pieces: dict[tuple[object, ...], bool] = {}
    for line in records.probes:
        if line["context"] is None or line["excluded"]:
            continue
        for piece in line["evidence"]:
            key = (line["case"], line["repeat"], piece["source"], piece["fact"])
            pieces[key] = piece["presence"] == "absent" or pieces.get(key, False)
    found = measured(sum(pieces.values()), len(pieces)) if pieces else unmeasured(NO_EVIDENCE)
    return {"lost": found}
