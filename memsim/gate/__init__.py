"""Judge a run's results: bounds, the comparison with a baseline, and one verdict.

Nothing here loads a model or a scenario: saved runs and baseline files are enough.
"""

from __future__ import annotations

from memsim.gate.verdict import Verdict, fails, judge, lacks, rule

__all__ = ["Verdict", "fails", "judge", "lacks", "rule"]
