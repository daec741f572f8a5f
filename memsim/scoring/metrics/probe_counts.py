"""Evidence that was lost, probes that leaked, and probes that could not be scored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from memsim.scoring.metric import CaseRecords, Line, Measure, amount, measured, share, unmeasured
from memsim.scoring.metrics.evidence_shares import NO_EVIDENCE
from memsim.scoring.outcomes import UNMEASURED

METRICS = {
    "lost": amount("pieces of evidence that were not in the context of a question", "count"),
    "leaks": amount("probes that showed the asker what they may not see", "count"),
    "unscored": share("probes that could not be scored", "lower"),
}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Each count, over the probes to which it applies."""
    lines = records.probes
    return {"lost": _lost(lines), "leaks": _leaks(lines), "unscored": _unscored(lines)}


def _lost(lines: Sequence[Line]) -> Measure:
    pieces: dict[tuple[object, ...], bool] = {}
    for line in lines:
        if line["context"] is None or line["excluded"]:
            continue
        for piece in line["evidence"]:
            key = (line["case"], line["repeat"], piece["source"], piece["fact"])
            pieces[key] = piece["presence"] == "absent" or pieces.get(key, False)
    if not pieces:
        return unmeasured(NO_EVIDENCE)
    return measured(sum(pieces.values()), len(pieces))


def _leaks(lines: Sequence[Line]) -> Measure:
    eligible = [line for line in lines if line["scores"].get("leaks") is not None]
    if not eligible:
        return unmeasured("no probe was asked by someone kept from something")
    if not any(line["context"]["total"] for line in eligible):
        return unmeasured("nothing was remembered, so nothing could leak")
    return measured(math.fsum(line["scores"]["leaks"] for line in eligible), len(eligible))


def _unscored(lines: Sequence[Line]) -> Measure:
    if not lines:
        return unmeasured("no probe was asked")
    count = sum(line["outcome"] in UNMEASURED for line in lines)
    return measured(count / len(lines), len(lines))
