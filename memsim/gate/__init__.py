"""What a run's results mean: bounds, the comparison with a baseline, and one verdict over both.

Nothing here loads a model or a scenario: saved runs and baseline files are enough.
"""

from __future__ import annotations

from memsim.gate.verdict import Verdict, fails, judge, lacks, rule

__all__ = ["Verdict", "fails", "judge", "lacks", "rule"]
