"""Right use of memory less use of what is no longer valid: `forgetting_aware` and `retained`.

Only probes count for which something asked for has become invalid: a value was replaced, a fact was
to be forgotten, or it was not to be remembered. Their score is::

    forgetting_aware = max(0, share of right use - share of invalid use)

Use is right if the answer passes and nothing invalid is used. Use is invalid if an answer is STALE
or MIXED, or if a fact was used or kept that was to be forgotten or not to be remembered. The form
is that of FAMA in Memora (arXiv 2604.20006), with rules in place of its judge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from memsim.scoring.metric import CaseRecords, Measure, measured, share, unmeasured

METRICS = {
    "forgetting_aware": share("right use less use of what is no longer valid"),
    "invalid_use": share("probes that used a value that is no longer valid", "lower"),
    "retained": share("probes where what was not to be remembered was stored or used", "lower"),
}
_NOTHING = "nothing that was asked for has become invalid"


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Pool the probes, so that cases with more of them weigh more."""
    right = records.scores.get("valid_use", ())
    invalid = records.scores.get("invalid_use", ())
    net = math.fsum(right) - math.fsum(invalid)
    score = measured(max(0.0, net) / len(right), len(right)) if right else unmeasured(_NOTHING)
    return {
        "forgetting_aware": score,
        "invalid_use": records.mean("invalid_use", _NOTHING),
        "retained": records.mean("retained", "nothing was to be left out of the memory"),
    }
