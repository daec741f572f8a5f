"""The judge's verdicts, and how far they agree with the rules and with each other."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, mean_of, share
from memsim.scoring.votes import flipped, votes_in

METRICS = {
    "judged": share("probes that the judge was asked about and whose answer it found right"),
    "judge_agreement": share("probes of which the judge and the rules say the same"),
    "judge_flips": share("probes on which the judge's own opinions differ", "lower"),
    "judge_unread": share("probes on which no majority of its opinions was a verdict", "lower"),
}
NEEDS_JUDGE = True
_NO_VERDICT = "no answer has a verdict of the judge"


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """The shares over the probes that the judge was asked about; nothing without a judge."""
    asked = [line for line in records.probes if "judged" in line["scores"]]
    if not asked:
        return {}
    votes = [votes_in(line["judge"]) for line in asked if line.get("judge")]
    flips = [float(f) for opinions in votes if (f := flipped(opinions)) is not None]
    scored = [line["scores"] for line in asked if line["scores"]["judged"] is not None]
    agreed = [float(s["judged"] == s["recall"]) for s in scored if s["recall"] is not None]
    unread = [float(line["scores"]["judged"] is None) for line in asked if line.get("judge")]
    return {
        "judged": records.mean("judged", _NO_VERDICT),
        "judge_agreement": mean_of(agreed, _NO_VERDICT),
        "judge_flips": mean_of(flips, "no answer has two opinions that could be read"),
        "judge_unread": mean_of(unread, "the judge was not asked"),
    }
