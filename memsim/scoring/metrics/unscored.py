"""Share of the probes that could not be scored (`unscored`)."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, measured, share, unmeasured
from memsim.scoring.outcomes import UNMEASURED

METRICS = {"unscored": share("probes that could not be scored", "lower")}


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Count the probes whose outcome is no measurement."""
    lines = records.probes
    count = sum(line["outcome"] in UNMEASURED for line in lines)
    found = measured(count / len(lines), len(lines)) if lines else None
    return {"unscored": found or unmeasured("no probe was asked")}
