"""Statistics: intervals, paired tests, and corrections for many tests.

Pure functions of their arguments: chance is seeded, and drawn from the raw bits of a generator
whose stream is fixed for good, so that the same values give the same interval on every machine.
"""

from memsim.stats.bootstrap import DRAWS, differences, mean_interval
from memsim.stats.interval import (
    CONFIDENCE,
    Interval,
    clopper_pearson,
    normal_quantile,
    t_quantile,
    wilson,
)
from memsim.stats.paired_test import PairedChange, paired_change, visible_drop
from memsim.stats.significance import holm, permutation_p, sign_p

__all__ = [
    "CONFIDENCE",
    "DRAWS",
    "Interval",
    "PairedChange",
    "clopper_pearson",
    "differences",
    "holm",
    "mean_interval",
    "normal_quantile",
    "paired_change",
    "permutation_p",
    "sign_p",
    "t_quantile",
    "visible_drop",
    "wilson",
]
