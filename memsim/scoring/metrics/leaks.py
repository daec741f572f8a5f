"""Probes that showed the asker what they may not see (`leaks`)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, amount, measured, unmeasured

METRICS = {"leaks": amount("probes that showed the asker what they may not see", "count")}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Count the probes with a leak, of those whose asker is kept from something."""
    eligible = [line for line in records.probes if line["scores"].get("leaks") is not None]
    if not eligible:
        return {"leaks": unmeasured("no probe was asked by someone kept from something")}
    if not any(line["context"]["total"] for line in eligible):
        return {"leaks": unmeasured("nothing was remembered, so nothing could leak")}
    leaked = math.fsum(line["scores"]["leaks"] for line in eligible)
    return {"leaks": measured(leaked, len(eligible))}
